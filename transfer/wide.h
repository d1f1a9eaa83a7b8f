/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * wide: a large file that several lanes carry.
 *
 * A lane that has nothing of its own to do takes a large file of another lane
 * as its guest. It opens the file once more (PLAN_JOIN), and if it is the same
 * file there (PLAN_SAME; of what is got, also the same bytes at one place,
 * PLAN_REFER and PLAN_PROBE), it moves ranges of it. What the lane has of its
 * own goes first. The lane keeps its guest until all of the file is dealt and
 * has come, and then closes it (PLAN_PART). A lane has one guest at most, a
 * file as many lanes as there are.
 *
 * A file that may not be carried, because another one stands under its name, is
 * not asked for again on that lane.
 *
 * No I/O, no clock, no upstream header.
 */

#ifndef HAYATE_WIDE_H
#define HAYATE_WIDE_H

#include "action.h"

struct lane;

/*
 * The next request of a guest, or the first of a new one. Return 1 and the
 * action; 0: none; -1: out of memory.
 */
int	wide_step(struct plan *, struct plan_action *);
int	wide_begin(struct plan *, struct plan_action *);

/* The guest of which the lane may move data now, or NULL */
struct job *wide_guest(const struct plan *, const struct lane *);

/* All data of the file has come: its lanes part with it. */
void	wide_part(struct plan *, struct job *);

/* A reply to PLAN_JOIN, PLAN_SAME or PLAN_PART on a lane */
void	wide_reply(struct plan *, struct job *, unsigned int lane,
    enum plan_op, enum plan_result);

/* A reply to PLAN_REFER or PLAN_PROBE at that place */
void	wide_probed(struct plan *, struct job *, uint64_t off,
    enum plan_result);

/* The lane of the file is lost: what is compared is looked at again. */
void	wide_look_again(struct plan *, struct job *);

/* The lane has no guest any more, whatever is under way. */
void	wide_forget(struct plan *, unsigned int lane);

#endif /* HAYATE_WIDE_H */
