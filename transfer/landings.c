/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See landings.h. */

#include <stddef.h>

#include "job.h"
#include "landing.h"
#include "landings.h"
#include "lanes.h"
#include "ranges.h"
#include "steps.h"

int
landings_add(struct plan *s, struct job *j, const struct landing_conf *conf)
{
	if ((j->landing = landing_new(conf)) == NULL)
		return -1;
	link_before(&j->lands, &s->landings);
	s->nlandings++;
	lanes_move(s, j, 0);
	return 0;
}

int
landings_sweep(struct plan *s, struct job *j)
{
	static const struct landing_conf conf = { .only_sweeps = 1 };

	if ((j->sweeper = landing_new(&conf)) == NULL)
		return -1;
	link_before(&j->lands, &s->landings);
	return 0;
}

void
landings_drop(struct plan *s, struct job *j)
{
	s->nlandings -= j->landing != NULL;
	s->nsweeping -= j->is_sweeping;
	j->is_sweeping = 0;
	landing_free(j->landing);
	landing_free(j->sweeper);
	j->landing = j->sweeper = NULL;
	link_remove(&j->lands);
}

struct landing *
landings_asker(const struct job *j)
{
	return j->landing != NULL ? j->landing : j->sweeper;
}

/* Returns 1 if a lane that is up has nothing to do, and would help. */
static int
may_widen(const struct plan *s, const struct job *j)
{
	unsigned int i;

	if (s->widen == 0 || rest_of(j) < s->widen)
		return 0;
	for (i = 1; i < s->lanes; i++) {
		if (((s->up & ~j->barred) >> i & 1) != 0 &&
		    s->lane[i].guest == NULL &&
		    link_is_empty(&s->lane[i].data))
			return 1;
	}
	return 0;
}

static struct landing_now
now_of(const struct plan *s, const struct job *j)
{
	return (struct landing_now){ .us = s->now_us,
	    .frontier = ranges_frontier(&j->ranges),
	    .cursor = j->ranges.cursor, .sent = j->highest,
	    .controls = j->controls, .is_over = has_all(s, j),
	    .stopped = s->interrupted || (j->failed && !j->refused),
	    .failed = j->refused, .again = j->again, .told = s->has,
	    .is_wanted = s->wants, .may_widen = may_widen(s, j) };
}

static int
ask(struct plan *s, struct job *j, const struct landing_ask *ask,
    struct plan_action *a)
{
	if (lanes_request(s, j, 0, PLAN_LANDING, ask->off, 0, a) != 1)
		return -1;
	(*lanes_place(s, a->id))->ask = a->ask = *ask;
	j->controls++;
	return 1;
}

/* The file goes on as it began. */
static void
revert(struct plan *s, struct job *j, uint64_t kept)
{
	ranges_clear(&j->ranges);
	ranges_begin(&j->ranges, kept);
	j->eof = j->is_drained = 0;
	lanes_set_ahead(s, j, rest_of(j));
	steps_go_on(s, j);
}

/* Returns 1 and the request that comes next at the end of the file. */
static int
next_of_end(struct plan *s, struct job *j, struct landing_ask *l)
{
	struct landing_now now = now_of(s, j);
	uint64_t kept = landing_kept(j->landing, now.frontier);

	if (landing_end(j->landing, &now, l) == 1)
		return 1;
	if (landing_reverts(j->landing, &now))
		revert(s, j, kept);
	else if (landing_has_ended(j->landing)) {
		j->failed |= landing_has_failed(j->landing);
		j->again |= landing_goes_again(j->landing) && !j->failed;
		/* What has the name is not ours. */
		j->renews &= !landing_is_unshown(j->landing);
		j->is_open = 0;
		step(s, j, PLAN_SETTLE);
	}
	return 0;
}

/* Returns 1 if it may have to remove something before the file's end. */
static int
sweep_precedes(struct plan *s, struct job *j)
{
	if (j->sweeper == NULL || landing_has_ended(j->sweeper))
		return 0;
	j->is_sweeping = 1;
	s->nsweeping++;
	return 1;
}

int
landings_precede(struct plan *s, struct job *j)
{
	unsigned int number;

	if (j->step == PLAN_END)
		return sweep_precedes(s, j);
	if (j->landing == NULL || j->step != PLAN_OPEN_NEW ||
	    landing_way(j->landing, &number) != LANDING_WAITS)
		return 0;
	j->is_looking = 1;
	return 1;
}

/* Before it is open. When all is answered its next step is made. */
static int
next_of_begin(struct plan *s, struct job *j, struct landing_ask *l)
{
	struct landing_now now = now_of(s, j);
	enum landing_way way;

	if (landing_begin(j->landing, &now, l) == 1)
		return 1;
	if ((way = landing_opens(j->landing, &now)) == LANDING_WAITS)
		return 0;
	j->is_looking = 0;
	j->failed |= s->interrupted;
	step(s, j, j->failed ? PLAN_END : way == LANDING_IS_OLD ? PLAN_OPEN :
	    PLAN_OPEN_NEW);
	return 0;
}

int
landings_open(struct plan *s, struct job *j, int ok)
{
	unsigned int number;

	if (landing_open(j->landing, ok) == 0)
		return 0;
	j->failed |= s->interrupted;
	step(s, j, j->failed ? PLAN_END : landing_way(j->landing,
	    &number) == LANDING_IS_OLD ? PLAN_OPEN : PLAN_OPEN_NEW);
	return 1;
}

/* Beside a file that has no landing, or when it is closed */
static int
next_of_sweep(struct plan *s, struct job *j, struct landing_ask *l)
{
	struct landing_now now = now_of(s, j);

	if (!j->is_sweeping)
		return j->is_open && !j->is_drained && j->lane == 0 &&
		    landing_move(j->sweeper, &now, l);
	if (landing_end(j->sweeper, &now, l) == 1)
		return 1;
	if (landing_has_ended(j->sweeper)) {
		j->is_sweeping = 0;
		s->nsweeping--;
		step(s, j, PLAN_END);
	}
	return 0;
}

static int
next_of(struct plan *s, struct job *j, struct landing_ask *l)
{
	struct landing_now now;

	if (j->landing == NULL)
		return next_of_sweep(s, j, l);
	if (j->is_looking)
		return next_of_begin(s, j, l);
	if (!j->is_open)
		return 0;
	if (j->is_drained)
		return j->guests > 0 ? 0 : next_of_end(s, j, l);
	now = now_of(s, j);
	return landing_move(j->landing, &now, l);
}

int
landings_next(struct plan *s, struct plan_action *a)
{
	struct landing_ask l;
	struct node *n;
	struct job *j;

	for (n = s->landings.next; n != &s->landings; n = n->next) {
		j = of_lands(n);
		if (next_of(s, j, &l) == 1)
			return ask(s, j, &l, a);
	}
	return 0;
}

int
landings_lost(struct job *j, uint64_t off)
{
	uint64_t at;

	if (j->landing != NULL && landing_place(j->landing, off, &at)) {
		landing_lost_second(j->landing);
		return 1;
	}
	j->refused = 1;
	return 0;
}

void
landings_place(const struct job *j, struct plan_action *a)
{
	a->at = a->off;
	if (j->landing != NULL)
		a->second = landing_place(j->landing, a->off, &a->at);
}

int
landings_reply(struct plan *s, struct job *j, const struct landing_ask *l,
    int ok)
{
	struct landing *landing = landings_asker(j);
	struct landing_now now;
	int told;

	j->controls--;
	now = now_of(s, j);
	told = landing_reply(landing, l, ok, &now);
	if (landing_is_uncut(landing) && !j->not_cut) {
		j->again |= !s->interrupted && !j->failed;
		j->failed |= !j->again;
		j->not_cut = s->cuts_not = 1;
	}
	if (j->is_open && !j->is_drained)
		steps_go_on(s, j);
	return !ok && !told;
}
