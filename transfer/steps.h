/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * steps: in which order one job of a plan sends its requests.
 *
 * The next step of a job is on the agenda until it is taken. A file that moves
 * data is in the queue of its lane instead. When all data is acknowledged, or
 * none will come any more, steps_after_settle() says what follows. An unknown
 * server gets these requests one after the other, another one together.
 *
 * No I/O, no clock, no upstream header.
 */

#ifndef HAYATE_STEPS_H
#define HAYATE_STEPS_H

#include <stdint.h>

#include "action.h"

struct plan_req;

/*
 * The first request of a job; of a directory that is there at the target, the
 * next one; and the one that follows "op" at the end of a file
 */
enum plan_op steps_first(const struct plan *, const struct job *);
enum plan_op steps_after_made(const struct job *);
enum plan_op steps_after_settle(const struct plan *, const struct job *,
    enum plan_op op);

/* Whether what follows the step is sent without its reply */
int	steps_need_not_wait(const struct plan *, const struct job *);

/*
 * The lane that the step goes over. What changes a file by its name goes over
 * lane 0: what a lost lane does late finds another file under that name.
 */
unsigned int steps_lane(const struct job *);

/*
 * In the reply to PLAN_STAT of a file that is put, or to what opens it: it has
 * so many bytes at most, so it is cut only if something was written behind its
 * end. Or in the reply to PLAN_STAT: it begins once more, on the first lane.
 */
void	steps_set_old(struct job *, uint64_t size);
void	steps_go_home(struct job *);

/*
 * In the reply to PLAN_STAT or PLAN_STAT_TO of a file, or to PLAN_OPEN of one
 * that is got: what is at the target may be the source itself. Nothing empties
 * or cuts it. PLAN_PROVE asks a server of which it was read whole what it is at
 * the end.
 */
void	steps_keep(struct job *);

/* Before PLAN_BEGIN: it begins when nothing else is under way. */
void	steps_go_alone(struct job *);

/* The size that the step sets, of a file, or where it reads */
uint64_t steps_size(const struct job *);

/*
 * Data may be requested or is all there. A file keeps its place; what came
 * short is asked for again before all else.
 */
void	steps_go_on(struct plan *, struct job *);

/* Nothing more is sent of the job, but perhaps by other lanes. */
void	steps_closed(struct plan *, struct job *);

/* "len" bytes have come, or are written: less than was asked for, perhaps. */
void	steps_count_data(struct job *, const struct plan_req *, uint32_t len);

#endif /* HAYATE_STEPS_H */
