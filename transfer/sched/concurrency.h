/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * concurrency: how many entries may be active at once, which depends on the
 * server.
 *
 *   announced    It has announced its limit of open handles, which bounds them.
 *   probing      8 at first, and twice as many after each round without a
 *                failure.
 *   serial       A failure beside other entries restarts the entry, with half
 *                as many at once, down to one. Only a failure without others
 *                is final. If the entry then succeeds, the limit stays as low.
 *
 * No I/O, no clock, no upstream header.
 */

#ifndef HAYATE_CONCURRENCY_H
#define HAYATE_CONCURRENCY_H

#include <stdint.h>

struct sched_entry;
struct sched;

void	concurrency_init(struct sched *);

/*
 * Sets the server's limit of open handles; 0: not yet known. Later calls change
 * nothing.
 */
void	concurrency_set_handles(struct sched *, uint64_t handles);

/* An entry has succeeded: after as many in a row as the limit, it doubles. */
void	concurrency_succeeded(struct sched *, const struct sched_entry *);

/*
 * A request has failed that a server may refuse only because of others in
 * flight. Returns 1 if the entry will be restarted, with fewer beside it, or
 * already was going to be. Otherwise that is no reason: concurrency_restarts()
 * returns 0, and concurrency_failed() the same after the entry has failed.
 */
int	concurrency_restarts(struct sched *, struct sched_entry *);
int	concurrency_failed(struct sched *, struct sched_entry *);

#endif /* HAYATE_CONCURRENCY_H */
