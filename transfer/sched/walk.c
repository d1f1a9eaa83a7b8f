/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * walk: the entries of a scheduler in walk order, and the directories between
 * them.
 *
 * A directory is two entries, before and after all that is below it. An entry
 * belongs to the second half of its directory, which counts the entries that
 * are not done, and becomes ready when all are done and no more will be added.
 */

#include <assert.h>
#include <stdlib.h>

#include "extents.h"
#include "sched-internal.h"

/* Where an entry may go from a state: a bit for each */
#define TO(state)	(1U << STATE_ ## state)
static const unsigned int may_follow[] = {
	[STATE_QUEUED] = TO(TO_LOOK_UP) | TO(HELD) | TO(OPENING) | TO(DONE),
	[STATE_TO_LOOK_UP] = TO(LOOKUP) | TO(DONE),
	[STATE_LOOKUP] = TO(HELD) | TO(LOOKED_UP) | TO(DONE),
	[STATE_HELD] = TO(LOOKED_UP) | TO(DONE),
	[STATE_LOOKED_UP] = TO(OPENING) | TO(DONE),
	[STATE_OPENING] = TO(VERIFY_BEFORE) | TO(DATA) | TO(CONFIRMING) |
	    TO(QUEUED) | TO(DONE),
	[STATE_VERIFY_BEFORE] = TO(VERIFIED) | TO(QUEUED),
	[STATE_VERIFIED] = TO(OPENING) | TO(CONFIRMING) | TO(QUEUED) |
	    TO(DONE),
	[STATE_DATA] = TO(DATA) | TO(FINISHING) | TO(QUEUED),
	[STATE_FINISHING] = TO(FINISHING) | TO(DATA) | TO(CLOSING) |
	    TO(QUEUED) | TO(DONE),
	[STATE_CLOSING] = TO(VERIFY_AFTER) | TO(CONFIRMING) | TO(QUEUED) |
	    TO(DONE),
	[STATE_VERIFY_AFTER] = TO(CLOSING) | TO(QUEUED),
	[STATE_CONFIRMING] = TO(CLOSING) | TO(QUEUED),
};

void
walk_set_state(struct sched_entry *j, enum entry_state state)
{
	assert((may_follow[j->state] >> state & 1) != 0);
	j->state = state;
}

void
walk_ready(struct sched *s, struct sched_entry *j, int first)
{
	s->nready++;
	enqueue(first ? s->ready.next : &s->ready, j);
}

/* A child is done, or the listing of the directory. */
static void
end_dir_if_complete(struct sched *s, struct sched_entry *leave)
{
	if (leave->dir.children_complete && leave->dir.pending_children == 0 &&
	    leave->state != STATE_DONE)
		walk_ready(s, leave, 1);
}

static void
count_child_done(struct sched *s, struct sched_entry *leave)
{
	leave->dir.pending_children--;
	end_dir_if_complete(s, leave);
}

void
walk_children_complete(struct sched *s, struct sched_entry *leave)
{
	sched_link_remove(&leave->queue);
	if (leave->dir.is_listing)
		return;
	sched_link_remove(&leave->dir.unlisted);
	leave->dir.children_complete = 1;
	end_dir_if_complete(s, leave);
}

/* The caller can add children, again if it has stopped. */
void
walk_want_children(struct sched *s, struct sched_entry *leave)
{
	struct sched_link *place = &s->want_children, *l =
	    leave->dir.unlisted.next;

	if (!sched_link_is_empty(&leave->queue))
		return;
	for (; l != &s->unlisted && place == &s->want_children; l = l->next) {
		if (!sched_link_is_empty(&entry_of_unlisted(l)->queue))
			place = &entry_of_unlisted(l)->queue;
	}
	enqueue(place, leave);
}

/*
 * The first half of a directory is done. After a failure no child is added, and
 * without any there is nothing to leave.
 */
static void
listing_done(struct sched *s, struct sched_entry *j)
{
	struct sched_entry *leave = j->dir_end;

	leave->dir.is_listing = 0;
	if (j->outcome != OUTCOME_FAILED && !s->interrupted)
		walk_want_children(s, leave);
	else if (j->outcome != OUTCOME_FAILED ||
	    leave->dir.pending_children > 0)
		walk_children_complete(s, leave);
	else {
		sched_link_remove(&leave->queue);
		sched_link_remove(&leave->dir.unlisted);
		walk_entry_done(s, leave);
	}
}

void
walk_entry_done(struct sched *s, struct sched_entry *j)
{
	walk_set_state(j, STATE_DONE);
	if (j->kind == KIND_DIR)
		listing_done(s, j);
	else if (j->parent != NULL)
		count_child_done(s, j->parent);
}

struct sched_entry *
walk_new_entry(struct sched *s, enum sched_kind kind, void *own,
    struct sched_link *place)
{
	struct sched_entry *j = calloc(1, sizeof(*j));

	if (j == NULL)
		return NULL;
	j->kind = kind;
	j->user = own;
	j->unit = s->conf.unit;
	j->target.old_size = UINT64_MAX;
	extents_begin(&j->extents, 0);
	j->dir.max_readdirs = READDIRS_FIRST;
	sched_link_init(&j->queue);
	sched_link_init(&j->dir.unlisted);
	sched_link_init(&j->pending_link);
	sched_link_before(&j->walk, place);
	s->nentries++;
	return j;
}

/* Returns the next directory in walk order that is not listed, or the end. */
static struct sched_link *
next_unlisted_dir(struct sched *s, const struct sched_entry *j)
{
	const struct sched_link *l;

	for (l = j->walk.next; l != &s->walk; l = l->next) {
		if (!sched_link_is_empty(&entry_of_walk(l)->dir.unlisted))
			return &entry_of_walk(l)->dir.unlisted;
	}
	return &s->unlisted;
}

/* Sets what a new entry, or a link that was followed, is. Returns 0 or -1. */
int
walk_set_kind(struct sched *s, struct sched_entry *j, enum sched_kind kind,
    uint64_t size)
{
	j->kind = kind;
	j->size = size;
	if (kind == KIND_DIR) {
		j->dir_end = walk_new_entry(s, KIND_DIR_END, j->user,
		    j->walk.next);
		if (j->dir_end == NULL)
			return -1;
		sched_link_before(&j->dir_end->dir.unlisted,
		    next_unlisted_dir(s, j->dir_end));
		j->dir_end->parent = j->parent;
		j->dir_end->dir.is_listing = !s->conf.put;
	}
	return 0;
}
