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
 *
 * No I/O, no clock, no upstream header.
 */

#ifndef HAYATE_LOOKUP_QUEUE_H
#define HAYATE_LOOKUP_QUEUE_H

#include <stdint.h>

#include "sched-action.h"

struct sched_link;

void	lookup_queue_init(struct sched *);

/* See sched_hold(). */
void	lookup_queue_hold(struct sched *, struct sched_entry *);
void	lookup_queue_release(struct sched *, struct sched_entry *);

/* Returns 1 if one more lookup may be sent. */
int	lookup_queue_may_ask(const struct sched *);

/*
 * Returns how many of the entries that the scheduler may have in flight are in
 * use. Lookups count if the server has announced no limit of handles.
 */
uint32_t lookup_queue_slots_used(const struct sched *);

/*
 * lookup_queue_next() returns the next entry in "looked_up", which stays there,
 * or NULL. Call lookup_queue_remove() when any entry starts.
 */
struct sched_entry *lookup_queue_next(const struct sched *);
void	lookup_queue_remove(struct sched *, struct sched_entry *);

/*
 * Handles the reply to a lookup. Returns 1, or 0 if the entry ends because the
 * user has interrupted.
 */
int	lookup_queue_answered(struct sched *, struct sched_entry *);

/* Fails all entries in "queue", except ends of directories. */
void	lookup_queue_fail(struct sched *, struct sched_link *queue);

#endif /* HAYATE_LOOKUP_QUEUE_H */
