/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * stripe: a large file that several lanes carry.
 *
 * A lane that has nothing of its own to do takes a large file of another lane
 * as its guest. It opens the file once more (OP_HELPER_OPEN), and if it is the
 * same file there (OP_FSTAT_IDENTITY; of what is got, also the same bytes at
 * one place, OP_SAMPLE_OWNER and OP_SAMPLE_HELPER), it moves ranges of it. What
 * the lane has of its own goes first. The lane keeps its guest until all of the
 * file is dealt and has come, and then closes it (OP_HELPER_CLOSE). A lane has
 * one guest at most, a file as many lanes as there are.
 *
 * A file that may not be carried, because another one stands under its name, is
 * not asked for again on that lane.
 *
 * No I/O, no clock, no upstream header.
 */

#ifndef HAYATE_STRIPE_H
#define HAYATE_STRIPE_H

#include "sched-action.h"

struct sched_conn;

/*
 * The next request of a guest, or the first of a new one. Return 1 and the
 * action; 0: none; -1: out of memory.
 */
int	stripe_step(struct sched *, struct sched_action *);
int	stripe_begin(struct sched *, struct sched_action *);

/* The guest of which the lane may move data now, or NULL */
struct sched_entry *stripe_helped_file(const struct sched *,
    const struct sched_conn *);

/* All data of the file has come: its lanes part with it. */
void	stripe_close(struct sched *, struct sched_entry *);

/* A reply to OP_HELPER_OPEN, OP_FSTAT_IDENTITY or OP_HELPER_CLOSE on a lane */
void	stripe_reply(struct sched *, struct sched_entry *, unsigned int conn,
    enum sched_op, enum sched_result);

/* A reply to OP_SAMPLE_OWNER or OP_SAMPLE_HELPER at that place */
void	stripe_sampled(struct sched *, struct sched_entry *, uint64_t off,
    enum sched_result);

/* The lane of the file is lost: what is compared is looked at again. */
void	stripe_repeat_identity(struct sched *, struct sched_entry *);

/* The lane has no guest any more, whatever is under way. */
void	stripe_forget(struct sched *, unsigned int conn);

#endif /* HAYATE_STRIPE_H */
