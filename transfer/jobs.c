/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See jobs.h. */

#include <stdlib.h>

#include "job.h"
#include "jobs.h"
#include "ranges.h"

void
jobs_ready(struct plan *s, struct job *j, int first)
{
	s->nready++;
	enqueue(first ? s->ready.next : &s->ready, j);
}

/* A child is done, or the listing of the directory. */
static void
may_leave(struct plan *s, struct job *leave)
{
	if (leave->listed && leave->pending == 0 && !leave->done)
		jobs_ready(s, leave, 1);
}

static void
child_done(struct plan *s, struct job *leave)
{
	leave->pending--;
	may_leave(s, leave);
}

void
jobs_listed(struct plan *s, struct job *leave)
{
	link_remove(&leave->queue);
	if (leave->reading)
		return;
	link_remove(&leave->unlisted);
	leave->listed = 1;
	may_leave(s, leave);
}

/* The caller can add children, once more if it has stopped. */
void
jobs_want_children(struct plan *s, struct job *leave)
{
	struct node *place = &s->more, *l = leave->unlisted.next;

	if (!link_is_empty(&leave->queue))
		return;
	for (; l != &s->unlisted && place == &s->more; l = l->next) {
		if (!link_is_empty(&of_unlisted(l)->queue))
			place = &of_unlisted(l)->queue;
	}
	enqueue(place, leave);
}

/*
 * The first half of a directory is done. After a failure no child is added, and
 * without any there is nothing to leave.
 */
static void
dir_done(struct plan *s, struct job *j)
{
	struct job *leave = j->leave;

	leave->reading = 0;
	if (!j->failed && !s->interrupted)
		jobs_want_children(s, leave);
	else if (!j->failed || leave->pending > 0)
		jobs_listed(s, leave);
	else {
		link_remove(&leave->queue);
		link_remove(&leave->unlisted);
		jobs_done(s, leave);
	}
}

void
jobs_done(struct plan *s, struct job *j)
{
	j->done = 1;
	if (j->kind == PLAN_DIR)
		dir_done(s, j);
	else if (j->dir != NULL)
		child_done(s, j->dir);
}

struct job *
jobs_new(struct plan *s, enum plan_kind kind, void *own, struct node *place)
{
	struct job *j = calloc(1, sizeof(*j));

	if (j == NULL)
		return NULL;
	j->kind = kind;
	j->own = own;
	j->unit = s->conf.unit;
	ranges_begin(&j->ranges, 0);
	j->readdirs = READDIRS_FIRST;
	link_init(&j->queue);
	link_init(&j->unlisted);
	link_init(&j->loose);
	link_init(&j->lands);
	link_before(&j->walk, place);
	s->jobs++;
	return j;
}

/* Returns the next directory in walk order that is not listed, or the end. */
static struct node *
next_unlisted(struct plan *s, const struct job *j)
{
	const struct node *l;

	for (l = j->walk.next; l != &s->walk; l = l->next) {
		if (!link_is_empty(&of_walk(l)->unlisted))
			return &of_walk(l)->unlisted;
	}
	return &s->unlisted;
}

/* Sets what a new job, or a link that was followed, is. Returns 0 or -1. */
int
jobs_set_kind(struct plan *s, struct job *j, enum plan_kind kind, uint64_t size)
{
	j->kind = kind;
	j->size = size;
	if (kind == PLAN_DIR) {
		j->leave = jobs_new(s, PLAN_LEAVE, j->own, j->walk.next);
		if (j->leave == NULL)
			return -1;
		link_before(&j->leave->unlisted, next_unlisted(s, j->leave));
		j->leave->dir = j->dir;
		j->leave->reading = !s->conf.put;
	}
	return 0;
}
