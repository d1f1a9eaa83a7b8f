/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See verify-sched.h. */

#include <stdlib.h>

#include "concurrency.h"
#include "conn-sched.h"
#include "extents.h"
#include "op-table.h"
#include "sched-internal.h"
#include "sequence.h"
#include "verify-sched.h"

/*
 * Bytes that a server has to hash for one connection at a time, at most: 0.15 s
 * of its time. One request always may be in flight.
 */
#define HASHES_MAX	(64 * 1024 * 1024)

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
request_next(struct sched *s, struct sched_entry *j,
    const struct verify_step *step)
{
	j->verify->off = step->off;
	j->verify->len = (uint32_t)step->len;
	schedule_step(s, j, step->op);
	if (step->op == OP_VERIFY_HASH)
		enqueue(&s->conn[j->owner].hashes, j);
}

static void
begin_readback(struct sched *s, struct sched_entry *j, uint64_t off,
    uint64_t len)
{
	extents_clear(&j->extents);
	extents_begin(&j->extents, off);
	j->verify->readback_start = off;
	j->verify->readback_end = off + len;
	j->verify->readback_stop = 0;
	schedule_step(s, j, OP_READBACK_OPEN);
}

void
verify_sched_next(struct sched *s, struct sched_entry *j,
    const struct verify_step *step)
{
	switch (step->next) {
	case VERIFY_NEXT_REQUEST:
		request_next(s, j, step);
		break;
	case VERIFY_NEXT_READBACK:
		begin_readback(s, j, step->off, step->len);
		break;
	case VERIFY_NEXT_LATER:
		enqueue(&s->deferred, j);
		break;
	case VERIFY_NEXT_COPY_FROM:
		j->start = step->off;
		break;
	case VERIFY_NEXT_COMPLETE:
		j->verify->nothing_to_copy = j->source.eof =
		    j->source.is_whole = 1;
		break;
	}
}

int
verify_sched_next_hash(struct sched *s, struct sched_action *a)
{
	struct sched_conn *l;
	struct sched_entry *j;

	for (l = s->conn; l < s->conn + s->nconns; l++) {
		j = entry_of_queue(l->hashes.next);
		if (sched_link_is_empty(&l->hashes) || (l->hash_bytes > 0 &&
		    l->hash_bytes + j->verify->len > HASHES_MAX))
			continue;
		sched_link_remove(&j->queue);
		return sched_request_new(s, j, j->owner, OP_VERIFY_HASH,
		    j->verify->off, j->verify->len, a);
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
	sched_conn_set_size(s, j, j->size);
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

int
verify_sched_fstat_source(struct sched *s, struct sched_entry *j,
    struct sched_action *a)
{
	j->verify->fstat_with_first_read = 0;
	return sched_request_new(s, j, j->owner, OP_VERIFY_FSTAT, 0, 0, a);
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
	j->verify->is_reading_back = 0;
	j->verify->request_lost = 1;
	schedule_step(s, j, OP_VERIFY);
	return 1;
}

static int
take_readback_data(struct sched *s, struct sched_request **place,
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
		j->verify->readback_stop = 1;
	}
	sched_request_retire(s, place);
	seq_continue(s, j);
	return 0;
}

/*
 * A failed OPEN is final, unless the server may have run out of handles: then
 * the file is restarted.
 */
static int
reply_open(struct sched *s, struct sched_entry *j, enum sched_op op,
    enum sched_result result)
{
	int restarts;

	if (result == RESULT_OK && op == OP_READBACK_OPEN) {
		j->verify->is_reading_back = 1;
		seq_continue(s, j);
		return 0;
	}
	restarts = result != RESULT_OK && concurrency_restarts(s, j);
	schedule_step(s, j, restarts ? OP_RESTART : OP_VERIFY);
	return restarts;
}

int
verify_sched_reply(struct sched *s, struct sched_request **place,
    enum sched_result result, uint32_t len)
{
	struct sched_entry *j = (*place)->entry;
	enum sched_op op = (*place)->op;

	if (op == OP_READBACK_READ)
		return take_readback_data(s, place, result, len);
	sched_request_retire(s, place);
	if (op_info(op)->reply == SFTP_HANDLE)
		return reply_open(s, j, op, result);
	if (op == OP_VERIFY_FSTAT) {
		seq_continue(s, j);
		return 0;
	}
	if (sched_link_is_empty(&j->queue) && j->in_flight == 0)
		schedule_step(s, j, OP_VERIFY);
	return 0;
}

void
verify_sched_interrupt(struct sched *s)
{
	unsigned int i;

	for (i = 0; i < SCHED_CONNS_MAX; i++)
		while (!sched_link_is_empty(&s->conn[i].hashes))
			schedule_step(s, entry_of_queue(s->conn[i].hashes.next),
			    OP_VERIFY);
	while (!sched_link_is_empty(&s->deferred))
		schedule_step(s, entry_of_queue(s->deferred.next), OP_VERIFY);
	while (!sched_link_is_empty(&s->verified)) {
		raise_outcome(entry_of_queue(s->verified.next), OUTCOME_FAILED);
		schedule_step(s, entry_of_queue(s->verified.next), OP_END);
	}
}
