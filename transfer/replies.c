/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See replies.h. */

#include <stdlib.h>

#include "ahead.h"
#include "apart.h"
#include "checks.h"
#include "job.h"
#include "jobs.h"
#include "landings.h"
#include "lanes.h"
#include "loss.h"
#include "minmax.h"
#include "pace.h"
#include "ranges.h"
#include "replies.h"
#include "steps.h"
#include "wide.h"

/* After so many replies of no data in a row a server is broken. */
#define EMPTY_MOST	2

/* The job has taken its last step. */
static void
end(struct plan *s, struct job *j)
{
	if (j->looks)
		s->looking--;
	else
		s->active--;
	lanes_leave(s, j);
	landings_drop(s, j);
	j->parts = 0;
	if (s->solo == j)
		s->solo = NULL;
	if (!j->failed && !j->looks)
		pace_ended_well(s, j);
	jobs_done(s, j);
}

/* Forgets what a job has done, so that it begins once more. */
static void
begin_again(struct plan *s, struct job *j)
{
	s->active--;
	lanes_leave(s, j);
	landings_drop(s, j);
	ranges_begin(&j->ranges, 0);
	j->begin = 0;
	j->check = CHECK_NOT;
	j->is_back = j->is_unseen = j->is_checked = j->is_ask_lost = 0;
	j->eof = j->past = j->empty = j->again = j->skipped = j->emptied = 0;
	j->clear = j->unclear = j->cut = j->has_reply = j->look = 0;
	j->knows_old = j->keeps = 0;
	j->is_open = j->is_drained = j->is_settled = 0;
	j->is_looked_at = j->is_looked_back = j->differs = j->is_complete = 0;
	j->is_undressed = j->over = j->has_tried_new = j->is_looking = 0;
	j->parts = 0;
	j->loss = HAS_HANDLE;
	if (s->interrupted) {
		j->failed = 1;
		jobs_done(s, j);
	} else
		jobs_ready(s, j, 1);
}

void
replies_worked(struct plan *s)
{
	struct job *j = s->last.job;
	enum plan_op op = s->last.op;

	s->last.op = 0;
	if (op == PLAN_BEGIN) {
		step(s, j, j->failed ? PLAN_END : steps_first(s, j));
	} else if (op == PLAN_SETTLE) {
		j->is_settled = 1;
		if (j->landing != NULL)
			steps_closed(s, j);
		else
			step(s, j, steps_after_settle(s, j, op));
	} else if (op == PLAN_CHECK)
		checks_worked(s, j);
	else if (op == PLAN_AGAIN)
		begin_again(s, j);
	else if (op == PLAN_END)
		end(s, j);
	else if (op == PLAN_PRINT) {
		link_remove(&j->walk);
		link_remove(&j->queue);
		free(j);
		s->jobs--;
	}
}

/* The files that wait for PLAN_CLEAR begin once more. */
static void
clear_no_more(struct plan *s)
{
	struct node *data, *l, *next;
	size_t i;

	s->clears = CLEARS_NOT;
	for (i = 0; i < PLAN_LANES; i++) {
		data = &s->lane[i].data;
		for (l = data->next; l != data; l = next) {
			next = l->next;
			if (of_queue(l)->clear)
				steps_go_on(s, of_queue(l));
		}
	}
}

static int
reply_data(struct plan *s, struct plan_req **place, enum plan_result result,
    uint32_t len)
{
	struct plan_req *r = *place;
	struct job *j = r->job;
	int is_known = 0;

	if (result == PLAN_OK) {
		if (len > r->len || (len == 0 && ++j->empty == EMPTY_MOST))
			return -1;
		steps_count_data(j, r, len);
	} else {
		if (r->range != NULL)
			ranges_miss(&j->ranges, r->range);
		else
			ranges_end(&j->ranges, r->off);
		if (result == PLAN_EOF)
			j->eof = 1;
		else if ((is_known = landings_lost(j, r->off)) == 0)
			pace_failed(s, j);
	}
	lanes_count_kept(s, j);
	lanes_aged(s, r, len);
	lanes_retire(s, place);
	steps_go_on(s, j);
	return j->again || is_known;
}

/*
 * Names have come: their files may begin, while the rest is read. A server that
 * tells no limit may have no handle for them beside that of the directory.
 */
static void
reply_readdir(struct plan *s, struct job *j, enum plan_result result)
{
	if (result == PLAN_OK && s->told && !has_all(s, j))
		jobs_want_children(s, j->leave);
	if (result != PLAN_OK)
		j->eof = 1;
	if (result == PLAN_FAILED) {
		j->failed = 1;
		link_remove(&j->leave->queue);
	}
	j->readdirs = (uint32_t)min_u64(2 * j->readdirs, READDIRS_MOST);
	if (!has_all(s, j))
		step(s, j, PLAN_READDIR);
	else if (j->under_way == 0)
		step(s, j, PLAN_CLOSE);
	else
		link_remove(&j->queue);
}

/* The first look at a file over a lane to another host */
static void
reply_look(struct plan *s, struct job *j, enum plan_result result)
{
	j->is_looked_at = 0;
	j->is_open = 1;
	j->loss = HAS_HANDLE;
	if (result != PLAN_OK)
		apart_go_home(s, j);
	j->is_unseen = j->check != CHECK_NOT && !s->conf.put;
	steps_go_on(s, j);
}

/* It is there. */
static void
reply_not_new(struct plan *s, struct job *j)
{
	step(s, j, s->interrupted ? PLAN_END : PLAN_STAT);
	j->failed |= s->interrupted;
}

/* A file that is put was looked at: is it there? */
static void
reply_stat_file(struct plan *s, struct job *j, enum plan_result result)
{
	int is_new = j->over && result != PLAN_OK && !j->has_tried_new;

	j->has_tried_new |= is_new;
	step(s, j, j->again ? PLAN_AGAIN :
	    is_new ? PLAN_OPEN_NEW : PLAN_OPEN);
}

/* The reply to OPEN or OPENDIR, of the source or the target */
static int
reply_open(struct plan *s, struct job *j, enum plan_op op,
    enum plan_result result)
{
	if (op == PLAN_OPEN_NEW && j->landing != NULL &&
	    landings_open(s, j, result == PLAN_OK))
		return 1;
	if (op == PLAN_OPEN_NEW && result != PLAN_OK) {
		reply_not_new(s, j);
		return 1;
	}
	j->is_ours |= op == PLAN_OPEN_NEW;
	if (result != PLAN_OK) {
		if (apart_is(s, j))
			apart_go_home(s, j);
		else if (result == PLAN_EOF && !s->interrupted)
			j->again = 1;		/* What was kept is gone. */
		else
			pace_failed(s, j);
		if (op == PLAN_OPEN_TO)
			step(s, j, PLAN_CLOSE);
		else
			step(s, j, j->again ? PLAN_AGAIN : PLAN_END);
		return j->again;
	}
	j->is_open = op == PLAN_OPEN || op == PLAN_OPEN_NEW;
	if (j->failed || j->again)
		step(s, j, PLAN_CLOSE);
	else if (op == PLAN_OPENDIR)
		step(s, j, PLAN_READDIR);
	else if (op == PLAN_OPEN && s->conf.cross)
		step(s, j, PLAN_OPEN_TO);
	else if (s->conf.put ? j->begin > 0 : apart_is(s, j)) {
		j->is_looked_at = 1;
		j->is_open = 0;
		j->loss = REOPENING;
		step(s, j, PLAN_SAME);
	} else {
		j->is_unseen = j->check != CHECK_NOT && !s->conf.put;
		steps_go_on(s, j);
	}
	return 0;
}

/*
 * What follows the reply to one of the last requests of a handle: the one that
 * has not been sent yet, or after the last reply the end.
 */
static void
reply_last(struct plan *s, struct job *j, enum plan_op op)
{
	if (j->step == op && op != PLAN_CLOSE)
		step(s, j, steps_after_settle(s, j, op));
	else if (link_is_empty(&j->queue))
		steps_closed(s, j);
}

/* The reply to a request of a further lane */
static void
reply_guest(struct plan *s, struct job *j, unsigned int lane, enum plan_op op,
    enum plan_result result)
{
	wide_reply(s, j, lane, op, result);
	if (op == PLAN_PART && result != PLAN_OK && s->conf.put)
		j->failed = j->refused = 1;
	if (!j->is_drained)
		steps_go_on(s, j);
	else if (link_is_empty(&j->queue) && j->landing == NULL)
		steps_closed(s, j);
}

/* The file was read at one place, on one of the two lanes. */
static int
reply_probe(struct plan *s, struct plan_req **place, enum plan_result result)
{
	struct job *j = (*place)->job;
	uint64_t off = (*place)->off;

	lanes_retire(s, place);
	wide_probed(s, j, off, result);
	if (!j->is_drained)
		steps_go_on(s, j);
	return 0;
}

/* If it failed, PLAN_TRUNCATE comes. */
static void
reply_cut(struct plan *s, struct job *j, enum plan_result result)
{
	j->cut = result == PLAN_OK;
	steps_go_on(s, j);
}

/*
 * If WRITEs were answered before, they may have been done before as well, and
 * are lost.
 */
static int
reply_clear(struct plan *s, struct job *j, enum plan_result result)
{
	if (result != PLAN_OK)
		j->unclear = 1;
	else if (j->has_reply) {
		j->again |= !j->failed;
		clear_no_more(s);
	} else if (s->clears == CLEARS_ASKED)
		s->clears = CLEARS;
	steps_go_on(s, j);
	return j->again;
}

/* A file that is not regular has no old bytes, and shows nothing of others. */
static int
reply_fstat(struct plan *s, struct job *j, enum plan_result result)
{
	j->unclear = 0;
	if (result != PLAN_OK) {
		j->again |= !j->failed;
		clear_no_more(s);
	} else if (s->clears == CLEARS_ASKED)
		s->clears = CLEARS_UNKNOWN;
	steps_go_on(s, j);
	return j->again;
}

/* PLAN_TRUNCATE failed. If the next step was taken, no other look helps. */
static int
reply_uncut(struct plan *s, struct job *j)
{
	if (j->step == PLAN_TRUNCATE)
		step(s, j, PLAN_SIZE);
	else {
		j->again = j->not_cut = s->cuts_not = 1;
		reply_last(s, j, PLAN_TRUNCATE);
	}
	return 1;
}

/*
 * A file that was not cut has its size, or begins once more. Then the first
 * lane empties it when it is opened.
 */
static int
reply_size(struct plan *s, struct job *j, enum plan_result result)
{
	if (result != PLAN_OK) {
		j->failed |= j->not_cut;
		j->again = !j->failed;
		j->not_cut = s->cuts_not = 1;
	}
	step(s, j, j->again ? PLAN_CLOSE :
	    steps_after_settle(s, j, PLAN_TRUNCATE));
	return j->again;
}

/* A link has become something else. */
static void
looked_up(struct plan *s, struct job *j)
{
	if (!j->looks)
		step(s, j, PLAN_BEGIN);
	else if (!ahead_looked(s, j))
		step(s, j, PLAN_END);
}

/* What follows the reply to a request that changes something, or looks */
static void
reply_status(struct plan *s, struct job *j, enum plan_op op,
    enum plan_result result)
{
	if (op == PLAN_MKDIR && result != PLAN_OK) {
		if (j->leave != NULL)
			j->leave->found = 1;
		step(s, j, s->conf.cross ? PLAN_STAT_TO : PLAN_STAT);
	} else if (op == PLAN_EMPTY)
		step(s, j, result == PLAN_OK ? PLAN_CLOSE_TO : PLAN_CLOSE);
	else if (op == PLAN_STAT_TO && j->kind == PLAN_FILE)
		step(s, j, j->failed ? PLAN_END : PLAN_OPEN);
	else if (s->conf.cross && result == PLAN_OK &&
	    (op == PLAN_MKDIR || op == PLAN_STAT_TO))
		step(s, j, steps_after_made(j));
	else if (op == PLAN_STAT && s->conf.put && j->kind == PLAN_FILE)
		reply_stat_file(s, j, result);
	else if (op == PLAN_RENEW) {
		j->renews = 0;
		step(s, j, steps_first(s, j));
	} else if (op == PLAN_STAT && result == PLAN_OK &&
	    j->kind != PLAN_NOTE && !s->conf.put)
		looked_up(s, j);
	else if (op == PLAN_TRUNCATE || op == PLAN_ATTRS || op == PLAN_CLOSE ||
	    op == PLAN_CLOSE_TO || op == PLAN_SYNC || op == PLAN_PROVE)
		reply_last(s, j, op);
	else {
		j->failed |= (op == PLAN_STAT || op == PLAN_STAT_TO) &&
		    result != PLAN_OK;
		step(s, j, PLAN_END);
	}
}

/* The reply to a request of the job on its own lane, but of data */
static int
reply_own(struct plan *s, struct job *j, enum plan_op op,
    enum plan_result result)
{
	if (op == PLAN_OPEN || op == PLAN_OPEN_NEW || op == PLAN_OPENDIR ||
	    op == PLAN_OPEN_TO)
		return reply_open(s, j, op, result);
	if (op == PLAN_SEEN) {
		apart_reply(s, j, result);
		return j->again;
	}
	if (op == PLAN_CLEAR)
		return reply_clear(s, j, result);
	if (op == PLAN_TRUNCATE && result != PLAN_OK && is_whole(j))
		return reply_uncut(s, j);
	if (op == PLAN_FSTAT)
		return reply_fstat(s, j, result);
	if (op == PLAN_SIZE)
		return reply_size(s, j, result);
	if (op == PLAN_CUT)
		reply_cut(s, j, result);
	else
		reply_status(s, j, op, result);
	return 0;
}

int
replies_take(struct plan *s, uint32_t id, enum plan_result result,
    uint32_t len)
{
	struct plan_req **place = lanes_place(s, id);
	struct job *j;
	enum plan_op op;
	unsigned int lane;
	struct landing_ask ask;

	if (*place == NULL)
		return -1;
	j = (*place)->job;
	op = (*place)->op;
	if (op == PLAN_READ || op == PLAN_WRITE)
		return reply_data(s, place, result,
		    op == PLAN_WRITE ? (*place)->len : len);
	if (plan_is_ask(op))
		return checks_reply(s, place, result, len);
	lane = (*place)->lane;
	ask = (*place)->ask;
	if (op == PLAN_REFER || op == PLAN_PROBE)
		return reply_probe(s, place, result);
	lanes_retire(s, place);
	if (op == PLAN_SAME && lane == j->lane && j->is_looked_at) {
		reply_look(s, j, result);
		return j->again;
	}
	if (op == PLAN_REOPEN || op == PLAN_RECALL ||
	    (lane == j->lane && (op == PLAN_JOIN || op == PLAN_SAME)))
		return loss_reply(s, j, op, result);
	else if (op == PLAN_JOIN || op == PLAN_SAME || op == PLAN_PART)
		reply_guest(s, j, lane, op, result);
	else if (op == PLAN_READDIR)
		reply_readdir(s, j, result);
	else if (op == PLAN_LANDING)
		return landings_reply(s, j, &ask, result == PLAN_OK);
	else
		return reply_own(s, j, op, result);
	return 0;
}
