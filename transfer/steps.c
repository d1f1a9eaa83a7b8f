/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See steps.h. */

#include "job.h"
#include "minmax.h"
#include "ranges.h"
#include "steps.h"
#include "wide.h"

/* A server that returns less than asked is asked for less, but not for this. */
#define UNIT_LEAST	512

/* Nothing was asked for or sent, so there is nothing to cut off. */
static int
is_untouched(const struct job *j)
{
	return j->ranges.cursor == j->begin && !j->eof;
}

/* All data requests of a file are answered, and there will be no more. */
static void
drained(struct plan *s, struct job *j)
{
	j->is_drained = 1;
	j->is_whole = j->ranges.first == NULL &&
	    ranges_frontier(&j->ranges) >= j->ranges.high;
	wide_part(s, j);
	if (j->landing != NULL)
		return;			/* landings_next() */
	if (j->unclear)
		step(s, j, PLAN_FSTAT);
	else if (is_untouched(j)) {
		j->failed |= !j->again;
		step(s, j, s->conf.cross ? PLAN_CLOSE_TO : PLAN_CLOSE);
	} else if (s->conf.cross && j->clear && is_whole(j)) {
		j->clear = 0;			/* The source has no bytes. */
		step(s, j, PLAN_CLEAR);
	} else
		step(s, j, PLAN_SETTLE);
}

/* Returns 1 if data has to wait until the file is opened once more. */
static int
must_reopen(struct plan *s, struct job *j)
{
	if (j->loss == LOST_HANDLE) {
		j->loss = REOPENING;
		step(s, j, PLAN_REOPEN);
	}
	return j->loss == REOPENING || j->loss == IS_UNSURE;
}

/* The last reply to what was read back has come. */
static void
came_back(struct plan *s, struct job *j)
{
	link_remove(&j->queue);
	j->is_back = 0;
	step(s, j, PLAN_CLOSE_BACK);
}

void
steps_go_on(struct plan *s, struct job *j)
{
	j->again |= j->clear && s->clears == CLEARS_NOT && !j->failed;
	link_remove(&j->loose);
	if (!has_all(s, j)) {
		if (must_reopen(s, j))
			return;
		if (j->ranges.nloose > 0)
			link_before(&j->loose, &s->loose);
		if (link_is_empty(&j->queue) && has_more(j))
			enqueue(&s->lane[j->lane].data, j);
	} else if (j->under_way == 0 && j->is_back)
		came_back(s, j);
	else if (j->under_way == 0)
		drained(s, j);
	else
		link_remove(&j->queue);
}

/* Returns 1 if what is copied to is a server. */
static int
has_target(const struct plan *s)
{
	return s->conf.put || s->conf.cross;
}

enum plan_op
steps_after_made(const struct job *j)
{
	return j->kind == PLAN_MADE || j->is_given ? PLAN_END : PLAN_OPENDIR;
}

enum plan_op
steps_first(const struct plan *s, const struct job *j)
{
	switch (j->kind) {
	case PLAN_DIR:
	case PLAN_MADE:
		return has_target(s) ? PLAN_MKDIR : steps_after_made(j);
	case PLAN_LINK:
		return PLAN_STAT;
	case PLAN_LEAVE:
		return has_target(s) && !(j->found && s->conf.keep_found) ?
		    PLAN_SETSTAT : PLAN_END;
	default:
		if (j->renews)
			return PLAN_RENEW;
		if (j->check == CHECK_FIRST)
			return PLAN_CHECK;
		if (j->look)
			return s->conf.cross ? PLAN_STAT_TO : PLAN_STAT;
		return j->landing != NULL ? PLAN_OPEN_NEW : PLAN_OPEN;
	}
}

/* Returns 1 if a file of the target has to be emptied. */
static int
must_empty(const struct job *j)
{
	return !is_whole(j) && !j->emptied && !j->clear && !j->keeps &&
	    !is_untouched(j);
}

/* What follows "op" when a file has all its data, between two servers */
static enum plan_op
after_settle_cross(const struct plan *s, const struct job *j, enum plan_op op)
{
	if ((op == PLAN_SETTLE || op == PLAN_PROVE) && s->conf.preserve &&
	    is_whole(j))
		return PLAN_ATTRS;
	if (op != PLAN_CLOSE_TO)
		return PLAN_CLOSE_TO;
	return must_empty(j) ? PLAN_EMPTY : PLAN_CLOSE;
}

/*
 * Returns 1 if a file that is put has to be cut. What is tried again may be its
 * own source, or be written by another lane before a late cut is done. Nothing
 * is cut without need: some servers empty a file before they set its size.
 */
static int
must_cut(const struct plan *s, const struct job *j)
{
	int is_old = j->over || (s->conf.in_place && !j->not_cut);

	if ((j->again && !s->interrupted && (j->over || s->conf.in_place)) ||
	    fits(j, ranges_frontier(&j->ranges)) || j->keeps)
		return 0;
	return !(j->cut && is_whole(j)) &&
	    (is_old || j->failed || j->again || j->skipped);
}

enum plan_op
steps_after_settle(const struct plan *s, const struct job *j, enum plan_op op)
{
	if (!s->conf.put && op == PLAN_SETTLE && j->keeps && is_whole(j))
		return PLAN_PROVE;
	if (s->conf.cross)
		return after_settle_cross(s, j, op);
	if (s->conf.put && op == PLAN_SETTLE && must_cut(s, j))
		return PLAN_TRUNCATE;
	if (j->again)
		return PLAN_CLOSE;
	if (s->conf.put && op != PLAN_ATTRS && op != PLAN_SYNC &&
	    s->conf.preserve)
		return PLAN_ATTRS;
	if (s->conf.put && op != PLAN_SYNC && s->conf.sync)
		return PLAN_SYNC;
	return PLAN_CLOSE;
}

/* All is copied and closed: the check after that begins. */
static void
check_last(struct plan *s, struct job *j)
{
	j->is_checked = 1;
	j->is_open = 0;
	j->loss = HAS_HANDLE;
	step(s, j, PLAN_CHECK);
}

/* After the last reply, also of other lanes, follows the end, or a check. */
void
steps_closed(struct plan *s, struct job *j)
{
	if (j->under_way > 0 || j->guests > 0)
		return;
	if (j->check == CHECK_LAST && is_whole(j))
		check_last(s, j);
	else
		step(s, j, j->again && !j->failed ? PLAN_AGAIN : PLAN_END);
}

/*
 * PLAN_SIZE follows if PLAN_TRUNCATE fails. A file of which nothing was sent,
 * or not all, rather begins once more: it has no PLAN_CUT, and would always
 * wait.
 */
static int
asks_size(const struct job *j)
{
	return is_whole(j) &&
	    (j->not_cut || (!j->skipped && j->ranges.cursor > 0));
}

int
steps_need_not_wait(const struct plan *s, const struct job *j)
{
	if (j->step == PLAN_CLOSE_TO)
		return !must_empty(j);		/* the other server is next */
	return s->told && (j->step == PLAN_ATTRS || j->step == PLAN_SYNC ||
	    (j->step == PLAN_TRUNCATE && !asks_size(j)));
}

unsigned int
steps_lane(const struct job *j)
{
	return (j->step >= PLAN_SHORTEN && j->step <= PLAN_LET_GO) ||
	    j->step == PLAN_TAKE || j->step == PLAN_SWEEP ||
	    j->step == PLAN_SETSTAT || j->step == PLAN_RENEW ? 0 : j->lane;
}

void
steps_set_old(struct job *j, uint64_t size)
{
	j->knows_old = 1;
	j->old = size;
}

void
steps_go_home(struct job *j)
{
	j->barred = ~1U;
	j->again = 1;
}

void
steps_keep(struct job *j)
{
	j->keeps = 1;
	j->clear = 0;
}

void
steps_go_alone(struct job *j)
{
	j->alone = 1;
}

uint64_t
steps_size(const struct job *j)
{
	if (plan_is_ask(j->step))
		return j->ask_off;
	if (j->step == PLAN_CUT)
		return j->ranges.cursor;
	if (j->step == PLAN_RECALL)
		return j->recall_off;
	return j->step == PLAN_TRUNCATE || j->step == PLAN_SIZE ||
	    j->step == PLAN_SAME ?
	    ranges_frontier(&j->ranges) : 0;
}

/* The rest is asked for again. */
void
steps_count_data(struct job *j, const struct plan_req *r, uint32_t len)
{
	j->has_reply |= r->op == PLAN_WRITE;
	if (len < r->len)
		j->unit = (uint32_t)max_u64(UNIT_LEAST,
		    min_u64(j->unit, len));
	if (r->range != NULL)
		ranges_done(&j->ranges, r->range, len);
}
