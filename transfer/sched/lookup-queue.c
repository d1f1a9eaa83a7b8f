/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * lookup-queue: entries that a list has named, until they can be copied.
 *
 * No directory listing describes such an entry. If it is at a server, a STAT
 * looks it up, which takes a round trip but no handle, so many lookups are sent
 * ahead of the entries that copy, with a limit of their own. The directory of
 * the entry has to be made first, by an entry that was added before it; until
 * then the entry is held in "waiting_for_dir". When both are done it moves to
 * "looked_up", and starts before entries that were not looked up.
 */

#include <stddef.h>

#include "extents.h"
#include "sched-internal.h"

/*
 * Entries are looked up until so many times the limit wait to be copied: enough
 * for further connections to be worth it.
 */
#define LOOKED_UP_MAX	4

/* It waits for its directory, or for its turn. */
static void
enqueue_looked_up(struct sched *s, struct sched_entry *j)
{
	s->nlooked_up++;
	walk_set_state(j, j->is_held ? STATE_HELD : STATE_LOOKED_UP);
	enqueue(j->is_held ? &s->waiting_for_dir : &s->looked_up, j);
}

void
sched_hold(struct sched *s, struct sched_entry *j, int on)
{
	j->is_held = on;
	if (on && !is_lookup(j)) {
		s->nready--;
		enqueue_looked_up(s, j);
	} else if (!on && j->state == STATE_HELD) {
		walk_set_state(j, STATE_LOOKED_UP);
		enqueue(&s->looked_up, j);
	}
}

/*
 * If the server announced no handle limit, lookups count against the same limit
 * as transfers.
 */
uint32_t
lookup_queue_slots_used(const struct sched *s)
{
	return s->active + (s->has_handle_limit ? 0 : s->nlookups);
}

int
lookup_queue_may_ask(const struct sched *s)
{
	return (s->has_handle_limit ? s->nlookups :
	    lookup_queue_slots_used(s)) < s->limit && s->nlooked_up +
	    s->nlookups < LOOKED_UP_MAX * s->limit;
}

int
lookup_queue_answered(struct sched *s, struct sched_entry *j)
{
	if (s->interrupted) {
		raise_outcome(j, OUTCOME_FAILED);
		return 0;
	}
	s->nlookups--;
	sched_conn_leave(s, j);
	extents_begin(&j->extents, 0);
	enqueue_looked_up(s, j);
	return 1;
}

void
lookup_queue_fail(struct sched *s, struct sched_link *queue)
{
	struct sched_link *l, *next;
	struct sched_entry *j;

	for (l = queue->next; l != queue; l = next) {
		next = l->next;
		j = entry_of_queue(l);
		if (j->kind == KIND_DIR_END)
			continue;
		sched_link_remove(l);
		s->nready -= !is_looked_up(j);
		s->nlooked_up -= is_looked_up(j);
		raise_outcome(j, OUTCOME_FAILED);
		walk_entry_done(s, j);
	}
}
