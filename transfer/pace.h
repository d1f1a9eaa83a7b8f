/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * pace: how many jobs may be under way, which depends on the server.
 *
 *   told      It has told its limit of open handles: as many as that allows.
 *   unknown   8 at first, twice as many after each round without a failure.
 *   strict    What fails beside others is tried again, with half as many, down
 *             to one. Only what fails alone has failed. If it then succeeds,
 *             the number stays as low.
 *
 * No I/O, no clock, no upstream header.
 */

#ifndef HAYATE_PACE_H
#define HAYATE_PACE_H

#include <stdint.h>

struct job;
struct plan;

void	pace_begin(struct plan *);

/* The server's limit of open handles; 0: unknown. */
void	pace_told(struct plan *, uint64_t handles);

/* A job has ended well. */
void	pace_ended_well(struct plan *, const struct job *);

/*
 * A request that a strict server may refuse beside others has failed: sets
 * "again" of the job, or "failed".
 */
void	pace_failed(struct plan *, struct job *);

#endif /* HAYATE_PACE_H */
