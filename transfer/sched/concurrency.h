/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * concurrency: how many entries may be active at once, which depends on the
 * server.
 *
 *   announced    The server has announced its limit of open handles, which is
 *                the limit of entries as well.
 *   probing      8 at first, and twice as many after each round without a
 *                failure, up to 64.
 *   serial       A failure beside other entries restarts the entry, with half
 *                as many at once, down to one. Only a failure without others
 *                is final. If the entry then succeeds, the limit never rises
 *                again.
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
 * Sets the server's limit of open handles. 0 means unknown and changes nothing;
 * the first other value counts.
 */
void	concurrency_set_handles(struct sched *, uint64_t handles);

/*
 * An entry has succeeded. While probing, the limit doubles after as many
 * successes in a row as it has entries.
 */
void	concurrency_succeeded(struct sched *, const struct sched_entry *);

/*
 * A request has failed that a server may refuse only because of others in
 * flight. Both return 1 if the entry restarts: with fewer beside it, or for an
 * earlier reason. Otherwise they return 0, and concurrency_failed() marks the
 * entry as failed.
 */
int	concurrency_restarts(struct sched *, struct sched_entry *);
int	concurrency_failed(struct sched *, struct sched_entry *);

#endif /* HAYATE_CONCURRENCY_H */
