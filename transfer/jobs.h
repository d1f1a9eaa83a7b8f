/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * jobs: the jobs of a plan in walk order, and the directories between them.
 *
 * A directory is two jobs, before and after what is below it. A job belongs to
 * the second half of its directory, which counts those that are not done, and
 * becomes ready when all are and no more will come.
 *
 * No I/O, no clock, no upstream header.
 */

#ifndef HAYATE_JOBS_H
#define HAYATE_JOBS_H

#include <stdint.h>

#include "action.h"

struct node;

/*
 * A new job, before "place" in walk order. jobs_set_kind() sets what it is, or
 * what a link turned out to be. Return NULL, or -1, if out of memory.
 */
struct job *jobs_new(struct plan *, enum plan_kind, void *own,
    struct node *place);
int	jobs_set_kind(struct plan *, struct job *, enum plan_kind,
    uint64_t size);

/* It may begin: before all others that may, if "first". */
void	jobs_ready(struct plan *, struct job *, int first);

/* It has taken its last step, or never will take one. */
void	jobs_done(struct plan *, struct job *);

/*
 * Of the second half of a directory: names are known, so children can be added;
 * there are no more, as far as it is read.
 */
void	jobs_want_children(struct plan *, struct job *leave);
void	jobs_listed(struct plan *, struct job *leave);

#endif /* HAYATE_JOBS_H */
