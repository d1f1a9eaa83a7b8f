/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * concurrency: how many jobs may be under way, which depends on the server.
 *
 *   told      It has told its limit of open handles: as many as that allows.
 *   unknown   8 at first, twice as many after each round without a failure.
 *   strict    What fails beside others is tried again, with half as many, down
 *             to one. Only what fails alone has failed. If it then succeeds,
 *             the number stays as low.
 *
 * No I/O, no clock, no upstream header.
 */

#ifndef HAYATE_CONCURRENCY_H
#define HAYATE_CONCURRENCY_H

#include <stdint.h>

struct sched_entry;
struct sched;

void	concurrency_init(struct sched *);

/* The server's limit of open handles; 0: unknown. */
void	concurrency_set_handles(struct sched *, uint64_t handles);

/* A job has ended well. */
void	concurrency_succeeded(struct sched *, const struct sched_entry *);

/*
 * A request that a strict server may refuse beside others has failed: sets
 * "again" of the job, or "failed".
 */
void	concurrency_failed(struct sched *, struct sched_entry *);

#endif /* HAYATE_CONCURRENCY_H */
