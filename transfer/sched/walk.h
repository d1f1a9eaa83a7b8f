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
 *
 * No I/O, no clock, no upstream header.
 */

#ifndef HAYATE_WALK_H
#define HAYATE_WALK_H

#include <stdint.h>

#include "sched-action.h"

struct sched_link;

/*
 * Returns a new entry before "place" in walk order, with the user's pointer, or
 * NULL if out of memory. walk_set_kind() sets its kind and size, or those of
 * what a link leads to, and returns 0, or -1 if out of memory.
 */
struct sched_entry *walk_new_entry(struct sched *, enum sched_kind, void *own,
    struct sched_link *place);
int	walk_set_kind(struct sched *, struct sched_entry *, enum sched_kind,
    uint64_t size);

/* The entry may begin; if "first", before all others that are ready. */
void	walk_ready(struct sched *, struct sched_entry *, int first);

/* The entry goes to STATE_DONE. Its directory has one less to wait for. */
void	walk_entry_done(struct sched *, struct sched_entry *);

/*
 * For the second half of a directory. walk_want_children(): names are known,
 * and the caller can add children. walk_children_complete(): all that were
 * listed so far are added.
 */
void	walk_want_children(struct sched *, struct sched_entry *leave);
void	walk_children_complete(struct sched *, struct sched_entry *leave);

#endif /* HAYATE_WALK_H */
