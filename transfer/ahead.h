/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * ahead: jobs of a plan that a list has named, until they may copy.
 *
 * Nobody has listed the directory of such a job. If the server has it, it has
 * to be looked up, which takes a round trip but no handle; so many are looked
 * up ahead of those that copy, in numbers of their own. And its directory has
 * to be made first, by a job that was added before it; until then it is parked.
 * When both is done it is known, and goes before all that are only ready.
 *
 * No I/O, no clock, no upstream header.
 */

#ifndef HAYATE_AHEAD_H
#define HAYATE_AHEAD_H

#include <stdint.h>

#include "action.h"

struct node;

void	ahead_begin(struct plan *);

/* As plan_wait() and plan_go() */
void	ahead_wait(struct plan *, struct job *);
void	ahead_go(struct plan *, struct job *);

/* Returns 1 if one more job may be looked up. */
int	ahead_may_look(const struct plan *);

/* So many jobs are under way, as far as they count in the limit of the plan. */
uint32_t ahead_places(const struct plan *);

/* The job that is known and comes next, or NULL; it begins. */
struct job *ahead_next(const struct plan *);
void	ahead_leaves(struct plan *, struct job *);

/* A job was looked up. Returns 0 if it ends. */
int	ahead_looked(struct plan *, struct job *);

/* What waits in "queue" fails, but for the ends of directories. */
void	ahead_fail(struct plan *, struct node *queue);

#endif /* HAYATE_AHEAD_H */
