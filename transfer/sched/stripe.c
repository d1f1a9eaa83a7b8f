/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * stripe: a large file that several connections carry.
 *
 * An idle connection helps with a large file of another one. It opens the file
 * as well (OP_HELPER_OPEN), and if that is the same file (OP_FSTAT_IDENTITY;
 * for a download also the same bytes at one place, OP_SAMPLE_OWNER and
 * OP_SAMPLE_HELPER), it transfers extents of it, but data of its own files
 * first. It helps until all of the file is assigned and acknowledged, and then
 * closes it (OP_HELPER_CLOSE). A connection helps with one file at a time; any
 * number of connections can help with one file.
 *
 * A connection on which the name refers to a different file is never asked for
 * this file again.
 */

#include <stddef.h>

#include "conn-count.h"
#include "minmax.h"
#include "sched-internal.h"
#include "tempfile.h"

/*
 * What is uploaded goes over more connections when its temporary file is ready
 * for them.
 */
static uint64_t
min_rest(const struct sched *s, const struct sched_entry *j)
{
	if (!s->conf.put)
		return s->env.stripe_min == 0 ? UINT64_MAX : s->env.stripe_min;
	return has_tempfile(j) && tempfile_info(j->temp->file).may_stripe ?
	    STRIPE_MIN_REST : UINT64_MAX;
}

/* Returns 1 if the connection would do well to carry this file. */
static int
may_help(const struct sched *s, const struct sched_entry *j, unsigned int conn)
{
	return j->kind == KIND_FILE && is_open(j) && !j->restart.exclusive &&
	    (s->env.max_writers == 0 || !s->conf.put || j->nhelpers + 1 <
	    s->env.max_writers) && j->owner != conn &&
	    (j->restart.exclude_conns >> conn & 1) ==
	    0 && unmoved_bytes(j) >= min_rest(s, j) && !data_is_over(s, j);
}

/*
 * Returns the file of which most is left, among the first of each connection.
 */
static struct sched_entry *
choose_file(const struct sched *s, unsigned int conn)
{
	struct sched_entry *j, *best = NULL;
	unsigned int i;

	for (i = 0; i < s->nconns; i++) {
		if (sched_link_is_empty(&s->conn[i].data))
			continue;
		j = entry_of_queue(s->conn[i].data.next);
		if (may_help(s, j, conn) &&
		    (best == NULL || unmoved_bytes(j) > unmoved_bytes(best)))
			best = j;
	}
	return best;
}

int
stripe_begin(struct sched *s, struct sched_action *a)
{
	struct sched_conn *l;
	unsigned int i;

	if (s->one_at_a_time || s->conf.cross)
		return 0;
	for (i = 0; i < s->nconns; i++) {
		l = &s->conn[i];
		if (((s->env.established & s->env.writable) >> i & 1) != 0 &&
		    l->helper.file == NULL && l->in_flight == 0 &&
		    sched_link_is_empty(&l->data) && (l->helper.file =
		    choose_file(s, i)) != NULL) {
			l->helper.handle = HANDLE_OPENING;
			l->helper.file->nhelpers++;
			sched_conn_count_buffered(s, l->helper.file);
			return sched_request_new(s, l->helper.file, i,
			    OP_HELPER_OPEN, 0, 0, a);
		}
	}
	return 0;
}

static void
set_helper_step(struct sched *s, struct sched_helper *h, enum sched_op op)
{
	s->helper_steps += (op != 0) - (h->step != 0);
	h->step = op;
}

int
stripe_step(struct sched *s, struct sched_action *a)
{
	struct sched_helper *h;
	unsigned int i;
	enum sched_op op;

	for (i = 0; s->helper_steps > 0 && i < s->nconns; i++) {
		h = &s->conn[i].helper;
		if ((op = h->step) == 0 ||
		    (op == OP_SAMPLE_OWNER && !is_open(h->file)))
			continue;
		set_helper_step(s, h, op == OP_SAMPLE_OWNER ? OP_SAMPLE_HELPER :
		    0);
		return sched_request_new(s, h->file, op ==
		    OP_SAMPLE_OWNER ? h->file->owner : i, op,
		    h->sample_off, 0, a);
	}
	return 0;
}

struct sched_entry *
stripe_helped_file(const struct sched *s, const struct sched_conn *l)
{
	struct sched_entry *j = l->helper.file;

	return l->helper.handle == HANDLE_OPEN && !j->source.eof &&
	    unmoved_bytes(j) > 0 && !data_is_over(s, j) ? j : NULL;
}

static void
close_helper(struct sched *s, struct sched_helper *h)
{
	h->handle = HANDLE_CLOSING;
	h->samples_due = 0;
	set_helper_step(s, h, OP_HELPER_CLOSE);
}

void
stripe_close(struct sched *s, struct sched_entry *j)
{
	struct sched_helper *h;
	unsigned int i;

	for (i = 0; j->nhelpers > 0 && i < s->nconns; i++) {
		h = &s->conn[i].helper;
		if (h->file == j && (h->handle == HANDLE_OPEN ||
		    (h->handle == HANDLE_OPENING && h->step != 0)))
			close_helper(s, h);
	}
}

void
stripe_forget(struct sched *s, unsigned int conn)
{
	struct sched_helper *h = &s->conn[conn].helper;
	struct sched_entry *j = h->file;

	if (j == NULL)
		return;
	set_helper_step(s, h, 0);
	h->file = NULL;
	h->handle = HANDLE_CLOSED;
	h->samples_due = 0;
	j->nhelpers--;
	sched_conn_count_buffered(s, j);
}

/*
 * A file that took the place of another one by its name may have its size and
 * time. So both are read at one place.
 */
static void
begin_sample(struct sched *s, struct sched_helper *h)
{
	uint64_t size = h->file->size;

	h->sample_off = sched_random(s, size - min_u64(size,
	    SCHED_SAMPLE_LEN));
	h->samples_due = 2;
	h->samples_differ = 0;
	set_helper_step(s, h, OP_SAMPLE_OWNER);
}

void
stripe_repeat_identity(struct sched *s, struct sched_entry *j)
{
	struct sched_helper *h;
	unsigned int i;

	for (i = 0; i < s->nconns; i++) {
		h = &s->conn[i].helper;
		if (h->file == j && h->samples_due > 0) {
			h->samples_due = 0;
			set_helper_step(s, h, OP_FSTAT_IDENTITY);
		}
	}
}

void
stripe_sampled(struct sched *s, struct sched_entry *j, uint64_t off,
    enum sched_result result)
{
	struct sched_helper *h;
	unsigned int i;

	for (i = 0; i < s->nconns; i++) {
		h = &s->conn[i].helper;
		if (h->file == j && h->samples_due > 0 && h->sample_off == off)
			break;
	}
	if (i == s->nconns)
		return;
	h->samples_differ |= result != RESULT_OK;
	if (--h->samples_due > 0)
		return;
	if (!h->samples_differ && !data_is_over(s, j)) {
		h->handle = HANDLE_OPEN;
		return;
	}
	j->restart.exclude_conns |= 1U << i;
	close_helper(s, h);
}

void
stripe_reply(struct sched *s, struct sched_entry *j, unsigned int conn,
    enum sched_op op, enum sched_result result)
{
	struct sched_helper *h = &s->conn[conn].helper;
	int is_same = op == OP_FSTAT_IDENTITY && result == RESULT_OK &&
	    !data_is_over(s, j);

	if (is_same && !s->conf.put)
		begin_sample(s, h);
	else if (is_same)
		h->handle = HANDLE_OPEN;
	else if (op == OP_HELPER_OPEN && result == RESULT_OK)
		set_helper_step(s, h, OP_FSTAT_IDENTITY);
	else {
		j->restart.exclude_conns |= 1U << conn;
		if (op == OP_FSTAT_IDENTITY)
			close_helper(s, h);
		else
			stripe_forget(s, conn);
	}
}
