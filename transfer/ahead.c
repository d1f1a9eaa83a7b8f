/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See ahead.h. */

#include <stddef.h>

#include "ahead.h"
#include "job.h"
#include "jobs.h"
#include "lanes.h"
#include "ranges.h"

/*
 * Jobs are looked up until so many times the limit wait to be copied: enough
 * for further connections to be worth it.
 */
#define KNOWN_MOST	4

void
ahead_begin(struct plan *s)
{
	link_init(&s->known);
	link_init(&s->parked);
}

/* It waits for its directory, or for its turn. */
static void
park(struct plan *s, struct job *j)
{
	s->nknown++;
	j->is_known = 1;
	j->is_parked = j->waits;
	enqueue(j->waits ? &s->parked : &s->known, j);
}

void
ahead_wait(struct plan *s, struct job *j)
{
	j->waits = 1;
	if (j->looks)
		return;
	s->nready--;
	park(s, j);
}

void
ahead_go(struct plan *s, struct job *j)
{
	j->waits = 0;
	if (j->is_parked)
		enqueue(&s->known, j);
	j->is_parked = 0;
}

/* Without a limit that was told, what looks takes the place of what copies. */
uint32_t
ahead_places(const struct plan *s)
{
	return s->active + (s->told ? 0 : s->looking);
}

int
ahead_may_look(const struct plan *s)
{
	return (s->told ? s->looking : ahead_places(s)) < s->limit &&
	    s->nknown + s->looking < KNOWN_MOST * s->limit;
}

struct job *
ahead_next(const struct plan *s)
{
	return link_is_empty(&s->known) ? NULL : of_queue(s->known.next);
}

void
ahead_leaves(struct plan *s, struct job *j)
{
	s->nknown -= j->is_known;
	j->is_known = j->is_parked = 0;
}

int
ahead_looked(struct plan *s, struct job *j)
{
	if (s->interrupted) {
		j->failed = 1;
		return 0;
	}
	s->looking--;
	j->looks = 0;
	lanes_leave(s, j);
	ranges_begin(&j->ranges, 0);
	park(s, j);
	return 1;
}

void
ahead_fail(struct plan *s, struct node *queue)
{
	struct node *l, *next;
	struct job *j;

	for (l = queue->next; l != queue; l = next) {
		next = l->next;
		j = of_queue(l);
		if (j->kind == PLAN_LEAVE)
			continue;
		link_remove(l);
		s->nready -= !j->is_known;
		ahead_leaves(s, j);
		j->failed = 1;
		jobs_done(s, j);
	}
}
