/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * walk: the entries of a scheduler in walk order, and the directories between
 * them.
 *
 * A directory is two entries, before and after what is below it. An entry
 * belongs to the second half of its directory, which counts those that are not
 * done, and becomes ready when all are and no more will come.
 *
 * No I/O, no clock, no upstream header.
 */

#ifndef HAYATE_WALK_H
#define HAYATE_WALK_H

#include <stdint.h>

#include "sched-action.h"

struct sched_link;

/*
 * A new entry, before "place" in walk order. walk_set_kind() sets what it is,
 * or what a link turned out to be. Return NULL, or -1, if out of memory.
 */
struct sched_entry *walk_new_entry(struct sched *, enum sched_kind, void *own,
    struct sched_link *place);
int	walk_set_kind(struct sched *, struct sched_entry *, enum sched_kind,
    uint64_t size);

/* It may begin: before all others that may, if "first". */
void	walk_ready(struct sched *, struct sched_entry *, int first);

/* It has taken its last step, or never will take one. */
void	walk_entry_done(struct sched *, struct sched_entry *);

/*
 * Of the second half of a directory: names are known, so children can be added;
 * there are no more, as far as it is read.
 */
void	walk_want_children(struct sched *, struct sched_entry *leave);
void	walk_children_complete(struct sched *, struct sched_entry *leave);

#endif /* HAYATE_WALK_H */
