/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See verify-sched.h. */

#include <stdlib.h>

#include "extents.h"
#include "op-table.h"
#include "sched-internal.h"
#include "verify-sched.h"

/*
 * Bytes that a server has to read for one connection at a time, at most: 0.15 s
 * of its time if it hashes them. One request always may be in flight.
 */
#define WORK_MAX	(64 * 1024 * 1024)

int
verify_sched_begin(struct sched *s, struct sched_entry *j)
{
	if ((j->verify = calloc(1, sizeof(*j->verify))) == NULL)
		return -1;
	walk_set_state(j, STATE_VERIFY_BEFORE);
	sched_conn_set_unsent(s, j, 0);
	return 0;
}

void
verify_sched_drop(struct sched_entry *j)
{
	free(j->verify);
	j->verify = NULL;
}

static void
set_request(struct sched_verify *v, const struct verify_step *step)
{
	v->request = step->request;
	if (step->request != NULL)
		v->last = step->request;
	v->off = step->off;
	v->len = (uint32_t)step->len;
}

/* "step" has what is sent after the range; it needs no offset. */
static void
begin_range(struct sched_entry *j, const struct verify_step *step)
{
	struct sched_verify *v = j->verify;

	extents_clear(&j->extents);
	extents_begin(&j->extents, step->off);
	v->read = step->read;
	v->read_start = step->off;
	v->read_end = step->off + step->len;
	v->stops_reading = 0;
	set_request(v, &(struct verify_step){ .request = step->request });
}

void
verify_sched_next(struct sched *s, struct sched_entry *j,
    const struct verify_step *step)
{
	switch (step->next) {
	case VERIFY_NEXT_REQUEST:
		set_request(j->verify, step);
		j->verify->read_len = 0;
		schedule_step(s, j, OP_VERIFY_REQUEST);
		if (step->request->works)
			enqueue(&s->conn[j->owner].works, j);
		break;
	case VERIFY_NEXT_READ:
		begin_range(j, step);
		break;
	case VERIFY_NEXT_LATER:
		enqueue(&s->deferred, j);
		break;
	case VERIFY_NEXT_COPY_FROM:
		j->start = step->off;
		set_request(j->verify, &(struct verify_step){ .request =
		    step->request });
		break;
	case VERIFY_NEXT_COMPLETE:
		j->verify->nothing_to_copy = j->source.eof =
		    j->source.is_whole = 1;
		break;
	}
}

int
verify_sched_send(struct sched *s, struct sched_entry *j,
    struct sched_action *a)
{
	struct sched_verify *v = j->verify;
	unsigned int conn = v->request->on_main ? s->main : j->owner;
	struct sched_request *r;

	if (sched_request_new(s, j, conn, OP_VERIFY_REQUEST, v->off, 0, a) != 1)
		return -1;
	r = *sched_request_slot(s, a->id);
	r->verify = a->verify = v->request;
	r->len = a->len = v->len;
	if (v->request->works)
		s->conn[conn].work_bytes += v->len;
	v->request = NULL;
	return 1;
}

int
verify_sched_next_work(struct sched *s, struct sched_action *a)
{
	struct sched_conn *l;
	struct sched_entry *j;

	for (l = s->conn; l < s->conn + s->nconns; l++) {
		j = entry_of_queue(l->works.next);
		if (sched_link_is_empty(&l->works) || (l->work_bytes > 0 &&
		    l->work_bytes + j->verify->len > WORK_MAX))
			continue;
		sched_link_remove(&j->queue);
		return verify_sched_send(s, j, a);
	}
	return 0;
}

struct sched_entry *
verify_sched_next_copy(struct sched *s)
{
	struct sched_entry *j;

	if (sched_link_is_empty(&s->verified))
		return NULL;
	j = dequeue(&s->verified);
	sched_set_size(s, j, j->size);
	return j;
}

int
verify_sched_next_deferred(struct sched *s, struct sched_action *a)
{
	if (sched_link_is_empty(&s->deferred))
		return 0;
	*a = (struct sched_action){ .op = OP_VERIFY,
	    .entry = dequeue(&s->deferred) };
	s->last_local = *a;
	return 1;
}

/* Unless something was asked, the copy is next, or the end. */
void
verify_sched_local_done(struct sched *s, struct sched_entry *j)
{
	j->verify->request_lost = 0;
	if (!sched_link_is_empty(&j->queue) || j->in_flight > 0)
		return;
	if (must_verify_before(j) && s->interrupted &&
	    !j->verify->nothing_to_copy)
		raise_outcome(j, OUTCOME_FAILED);
	if (must_verify_before(j) && !j->verify->nothing_to_copy &&
	    j->outcome != OUTCOME_FAILED) {
		extents_clear(&j->extents);
		extents_begin(&j->extents, j->start);
		enqueue(&s->verified, j);
	} else
		schedule_step(s, j, OP_END);
	walk_set_state(j, j->state == STATE_VERIFY_BEFORE ? STATE_VERIFIED :
	    STATE_CLOSING);
	j->verify->is_before_done = 1;
}

int
verify_sched_conn_lost(struct sched *s, struct sched_entry *j)
{
	if (!is_verifying(j))
		return 0;
	sched_conn_move(s, j, sched_conn_least_busy(s));
	if (j->in_flight > 0)
		return 1;		/* over the main one */
	sched_link_remove(&j->pending_link);
	extents_clear(&j->extents);
	j->verify->read = j->verify->request = NULL;
	j->verify->request_lost = 1;
	schedule_step(s, j, OP_VERIFY);
	return 1;
}

static int
take_range(struct sched *s, struct sched_request **place,
    enum sched_result result, uint32_t len)
{
	struct sched_request *r = *place;
	struct sched_entry *j = r->entry;

	if (result == RESULT_OK && len > r->len)
		return -1;
	if (result == RESULT_OK && len > 0)
		seq_count_data(j, r, len);
	else {
		extents_fail(&j->extents, r->extent);
		j->verify->stops_reading = 1;
	}
	sched_request_retire(s, place);
	seq_continue(s, j);
	return 0;
}

/*
 * A failed OPEN is final, unless the server may have run out of handles: then
 * the file is restarted.
 */
int
verify_sched_reply(struct sched *s, struct sched_request **place,
    enum sched_result result, uint32_t len)
{
	struct sched_entry *j = (*place)->entry;
	int failed_open = result != RESULT_OK && (*place)->verify->reply ==
	    SFTP_HANDLE;

	if ((*place)->extent != NULL)
		return take_range(s, place, result, len);
	sched_request_retire(s, place);
	if (failed_open && concurrency_restarts(s, j)) {
		schedule_step(s, j, OP_RESTART);
		return 1;
	}
	if (!is_verifying(j) || is_reading_range(j))
		seq_continue(s, j);
	else if (sched_link_is_empty(&j->queue) && j->in_flight == 0)
		schedule_step(s, j, OP_VERIFY);
	return 0;
}

void
verify_sched_interrupt(struct sched *s)
{
	unsigned int i;

	for (i = 0; i < SCHED_CONNS_MAX; i++)
		while (!sched_link_is_empty(&s->conn[i].works))
			schedule_step(s, entry_of_queue(s->conn[i].works.next),
			    OP_VERIFY);
	while (!sched_link_is_empty(&s->deferred))
		schedule_step(s, entry_of_queue(s->deferred.next), OP_VERIFY);
	while (!sched_link_is_empty(&s->verified)) {
		raise_outcome(entry_of_queue(s->verified.next), OUTCOME_FAILED);
		schedule_step(s, entry_of_queue(s->verified.next), OP_END);
	}
}
