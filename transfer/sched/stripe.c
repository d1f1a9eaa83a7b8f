/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See stripe.h. */

#include <stddef.h>

#include "conn-count.h"
#include "conn-sched.h"
#include "extents.h"
#include "minmax.h"
#include "sched-internal.h"
#include "stripe.h"
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
	return has_tempfile(j) && tempfile_may_stripe(j->temp->file) ?
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
		    l->helped_file == NULL && l->in_flight == 0 &&
		    sched_link_is_empty(&l->data) && (l->helped_file =
		    choose_file(s, i)) != NULL) {
			l->helper_state = HELPER_OPENING;
			l->helped_file->nhelpers++;
			sched_conn_count_buffered(s, l->helped_file);
			return sched_request_new(s, l->helped_file, i,
			    OP_HELPER_OPEN, 0, 0, a);
		}
	}
	return 0;
}

static void
set_helper_step(struct sched *s, struct sched_conn *l, enum sched_op op)
{
	s->helper_steps += (op != 0) - (l->helper_step != 0);
	l->helper_step = op;
}

int
stripe_step(struct sched *s, struct sched_action *a)
{
	struct sched_conn *l;
	unsigned int i;
	enum sched_op op;

	for (i = 0; s->helper_steps > 0 && i < s->nconns; i++) {
		l = &s->conn[i];
		if ((op = l->helper_step) == 0 ||
		    (op == OP_SAMPLE_OWNER && !is_open(l->helped_file)))
			continue;
		set_helper_step(s, l, op == OP_SAMPLE_OWNER ? OP_SAMPLE_HELPER :
		    0);
		return sched_request_new(s, l->helped_file, op ==
		    OP_SAMPLE_OWNER ? l->helped_file->owner : i, op,
		    l->sample_off, 0, a);
	}
	return 0;
}

struct sched_entry *
stripe_helped_file(const struct sched *s, const struct sched_conn *l)
{
	struct sched_entry *j = l->helped_file;

	return j != NULL && l->helper_state == HELPER_READY && !j->source.eof &&
	    unmoved_bytes(j) > 0 && !data_is_over(s, j) ? j : NULL;
}

static void
close_helper(struct sched *s, struct sched_conn *l)
{
	l->helper_state = HELPER_CLOSING;
	l->samples_due = 0;
	set_helper_step(s, l, OP_HELPER_CLOSE);
}

void
stripe_close(struct sched *s, struct sched_entry *j)
{
	struct sched_conn *l;
	unsigned int i;

	for (i = 0; j->nhelpers > 0 && i < s->nconns; i++) {
		l = &s->conn[i];
		if (l->helped_file == j && (l->helper_state == HELPER_READY ||
		    (l->helper_state == HELPER_OPENING && l->helper_step != 0)))
			close_helper(s, l);
	}
}

void
stripe_forget(struct sched *s, unsigned int conn)
{
	struct sched_conn *l = &s->conn[conn];

	if (l->helped_file == NULL)
		return;
	set_helper_step(s, l, 0);
	l->samples_due = 0;
	l->helped_file->nhelpers--;
	sched_conn_count_buffered(s, l->helped_file);
	l->helped_file = NULL;
}

/*
 * A file that took the place of another one by its name may have its size and
 * time. So both are read at one place.
 */
static void
begin_sample(struct sched *s, struct sched_conn *l)
{
	uint64_t size = l->helped_file->size;

	l->sample_off = sched_random(s, size - min_u64(size, SCHED_SAMPLE_LEN));
	l->samples_due = 2;
	l->samples_differ = 0;
	set_helper_step(s, l, OP_SAMPLE_OWNER);
}

void
stripe_repeat_identity(struct sched *s, struct sched_entry *j)
{
	struct sched_conn *l;

	for (l = s->conn; l < s->conn + s->nconns; l++) {
		if (l->helped_file == j && l->samples_due > 0) {
			l->samples_due = 0;
			set_helper_step(s, l, OP_FSTAT_IDENTITY);
		}
	}
}

void
stripe_sampled(struct sched *s, struct sched_entry *j, uint64_t off,
    enum sched_result result)
{
	struct sched_conn *l = s->conn;

	while (l < s->conn + s->nconns && (l->helped_file != j ||
	    l->samples_due == 0 || l->sample_off != off))
		l++;
	if (l == s->conn + s->nconns)
		return;
	l->samples_differ |= result != RESULT_OK;
	if (--l->samples_due > 0)
		return;
	if (!l->samples_differ && !data_is_over(s, j)) {
		l->helper_state = HELPER_READY;
		return;
	}
	j->restart.exclude_conns |= 1U << (l - s->conn);
	close_helper(s, l);
}

void
stripe_reply(struct sched *s, struct sched_entry *j, unsigned int conn,
    enum sched_op op, enum sched_result result)
{
	struct sched_conn *l = &s->conn[conn];
	int is_same = op == OP_FSTAT_IDENTITY && result == RESULT_OK &&
	    !data_is_over(s, j);

	if (is_same && !s->conf.put)
		begin_sample(s, l);
	else if (is_same)
		l->helper_state = HELPER_READY;
	else if (op == OP_HELPER_OPEN && result == RESULT_OK)
		set_helper_step(s, l, OP_FSTAT_IDENTITY);
	else {
		j->restart.exclude_conns |= 1U << conn;
		if (op == OP_FSTAT_IDENTITY)
			close_helper(s, l);
		else
			stripe_forget(s, conn);
	}
}
