/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * lookup-queue: jobs of a plan that a list has named, until they may copy.
 *
 * Nobody has listed the directory of such a job. If the server has it, it has
 * to be looked up, which takes a round trip but no handle; so many are looked
 * up ahead of those that copy, in numbers of their own. And its directory has
 * to be made first, by a job that was added before it; until then it is parked.
 * When both is done it is known, and goes before all that are only ready.
 *
 * No I/O, no clock, no upstream header.
 */

#ifndef HAYATE_LOOKUP_QUEUE_H
#define HAYATE_LOOKUP_QUEUE_H

#include <stdint.h>

#include "sched-action.h"

struct sched_link;

void	lookup_queue_init(struct sched *);

/* As sched_hold() and sched_release() */
void	lookup_queue_hold(struct sched *, struct sched_entry *);
void	lookup_queue_release(struct sched *, struct sched_entry *);

/* Returns 1 if one more job may be looked up. */
int	lookup_queue_may_ask(const struct sched *);

/* So many jobs are under way, as far as they count in the limit of the plan. */
uint32_t lookup_queue_slots_used(const struct sched *);

/* The job that is known and comes next, or NULL; it begins. */
struct sched_entry *lookup_queue_next(const struct sched *);
void	lookup_queue_remove(struct sched *, struct sched_entry *);

/* A job was looked up. Returns 0 if it ends. */
int	lookup_queue_answered(struct sched *, struct sched_entry *);

/* What waits in "queue" fails, but for the ends of directories. */
void	lookup_queue_fail(struct sched *, struct sched_link *queue);

#endif /* HAYATE_LOOKUP_QUEUE_H */
