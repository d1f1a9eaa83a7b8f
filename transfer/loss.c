/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See loss.h. */

#include <stddef.h>

#include "apart.h"
#include "checks.h"
#include "job.h"
#include "lanes.h"
#include "loss.h"
#include "minmax.h"
#include "ranges.h"
#include "steps.h"
#include "wide.h"

/* Returns 1 if the request, of a file that is put, may still change it. */
static int
is_late(const struct plan *s, const struct plan_req *r)
{
	uint64_t at;

	if (!s->conf.put || r->job->kind != PLAN_FILE)
		return 0;
	if (r->op == PLAN_WRITE)
		return r->job->landing == NULL ||
		    !landing_place(r->job->landing, r->off, &at);
	return r->op == PLAN_CUT || r->op == PLAN_TRUNCATE ||
	    r->op == PLAN_ATTRS;
}

static void
forget_requests(struct plan *s, unsigned int lane)
{
	struct plan_req **place, *r;
	size_t i;

	for (i = 0; i < BUCKETS; i++) {
		place = &s->bucket[i];
		while ((r = *place) != NULL) {
			if (r->lane != lane) {
				place = &r->next;
				continue;
			}
			r->job->is_late |= is_late(s, r);
			lanes_retire(s, place);
		}
	}
}

/*
 * Returns the lane that an open file moves to: one that has it as guest, or the
 * one with least to do; PLAN_LANES: it can be opened on none.
 */
static unsigned int
new_home(const struct plan *s, const struct job *j)
{
	unsigned int i, best = PLAN_LANES;

	for (i = 0; i < s->lanes; i++) {
		const struct lane *l = &s->lane[i];

		if ((s->up >> i & 1) == 0)
			continue;
		if (l->guest == j && l->guest_is != GUEST_PARTS)
			return i;
		if (l->guest == j || (j->barred >> i & 1) != 0)
			continue;
		if (best == PLAN_LANES ||
		    lanes_work(l) < lanes_work(&s->lane[best]))
			best = i;
	}
	return best;
}

/* The lane has the file as guest, or soon has, and becomes its home. */
static void
promote(struct plan *s, struct job *j, unsigned int lane)
{
	struct lane *l = &s->lane[lane];
	int is_ready = l->guest_is == GUEST_IS_READY;
	enum plan_op op = l->guest_step;

	wide_forget(s, lane);
	j->is_open = is_ready;
	j->loss = is_ready ? HAS_HANDLE : op == PLAN_SAME ? IS_UNSURE :
	    REOPENING;
	if (op != 0)
		step(s, j, op);
}

static void
find_home(struct plan *s, struct job *j)
{
	unsigned int lane = new_home(s, j);

	wide_look_again(s, j);
	j->is_open = 0;
	j->then = 0;
	j->loss = lane == PLAN_LANES ? NO_HANDLE : LOST_HANDLE;
	j->failed |= lane == PLAN_LANES && !j->is_settled;
	lanes_move(s, j, lane == PLAN_LANES ? 0 : lane);
	if (s->lane[j->lane].guest == j && lane != PLAN_LANES)
		promote(s, j, lane);
}

/* Returns 1 if the next step needs no connection. */
static int
is_at_home(const struct job *j)
{
	return !link_is_empty(&j->queue) && j->step >= PLAN_BEGIN;
}

static void
rehome(struct plan *s, struct job *j)
{
	int was_open = j->is_open || j->loss != HAS_HANDLE;

	if (checks_lost(s, j))
		return;
	if (is_at_home(j)) {
		if (was_open)
			find_home(s, j);
		else
			lanes_move(s, j, lanes_idlest(s));
		return;
	}
	/* The answer to what is under way over the first lane says more. */
	if (!was_open && (j->is_looked_back || j->under_way > 0)) {
		lanes_move(s, j, lanes_idlest(s));
		return;
	}
	link_remove(&j->queue);
	link_remove(&j->loose);
	if (!was_open) {
		lanes_move(s, j, lanes_idlest(s));
		step(s, j, steps_first(s, j));
		return;
	}
	find_home(s, j);
	if (j->is_settled)
		step(s, j, steps_after_settle(s, j, PLAN_SETTLE));
	else {
		j->is_drained = 0;
		steps_go_on(s, j);
	}
}

void
loss_of(struct plan *s, unsigned int lane)
{
	struct job *guest = s->lane[lane].guest, *j;
	struct node *l;

	s->up &= ~(1U << lane);
	s->takes &= ~(1U << lane);
	forget_requests(s, lane);
	wide_forget(s, lane);
	for (l = s->walk.next; l != &s->walk; l = l->next) {
		j = of_walk(l);
		if (j->ranges.naway > 0)
			ranges_loosen(&j->ranges, lane);
		if (!apart_lost(s, j, lane) && j->is_in_lane &&
		    j->lane == lane)
			rehome(s, j);
	}
	if (guest != NULL && !guest->is_drained)
		steps_go_on(s, guest);
	else if (guest != NULL && link_is_empty(&guest->queue) &&
	    guest->landing == NULL)
		steps_closed(s, guest);
}

int
loss_precedes(struct plan *s, struct job *j)
{
	if (j->loss == HAS_HANDLE || j->step == PLAN_REOPEN ||
	    j->step == PLAN_SAME || j->step == PLAN_RECALL || !j->is_drained)
		return 0;
	if (j->loss == IS_UNSURE && j->step == PLAN_CLOSE)
		return 0;
	if (j->loss == NO_HANDLE || j->step == PLAN_CLOSE) {
		steps_closed(s, j);
		return 1;
	}
	j->then = j->step;
	j->step = PLAN_REOPEN;
	j->loss = REOPENING;
	return 0;
}

/* It is open on its lane. */
static void
opened(struct plan *s, struct job *j)
{
	enum plan_op then = j->then;

	j->is_open = 1;
	j->loss = HAS_HANDLE;
	j->then = 0;
	if (then != 0)
		step(s, j, then);
	else
		steps_go_on(s, j);
}

/* A put has opened another file, which is left as it is. */
static void
part(struct plan *s, struct job *j)
{
	j->is_open = 1;
	j->loss = HAS_HANDLE;
	j->then = 0;
	j->failed |= s->interrupted;
	j->again |= !j->failed;
	link_remove(&j->loose);
	step(s, j, PLAN_CLOSE);
}

int
loss_reply(struct plan *s, struct job *j, enum plan_op op,
    enum plan_result result)
{
	uint64_t come = s->conf.put ? 0 : ranges_frontier(&j->ranges);

	if (op != PLAN_SAME && op != PLAN_RECALL && result == PLAN_OK)
		step(s, j, PLAN_SAME);
	else if (op == PLAN_SAME && result == PLAN_OK && come > 0) {
		j->recall_off = lanes_random(s,
		    come - min_u64(come, PLAN_PROBE_LEN));
		step(s, j, PLAN_RECALL);
	} else if (op == PLAN_SAME || op == PLAN_RECALL) {
		j->failed |= result != PLAN_OK && !s->conf.put;
		if (result == PLAN_OK || !s->conf.put)
			opened(s, j);
		else
			part(s, j);
	} else {
		/* A file with a mode of 0444 is written by its first handle. */
		if (s->conf.put && j->is_ours && result == PLAN_FAILED &&
		    !j->failed && !s->interrupted)
			j->again = j->renews = 1;
		/* What is sent anew was not lost here. */
		j->loss = NO_HANDLE;
		j->failed |= !j->again;
		if (j->then != 0)
			step(s, j, j->then);
		else
			steps_go_on(s, j);
	}
	return j->again;
}
