/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * usage: how long a thread has run, and how long it was runnable but had no
 * processor. The latter includes throttling by a cgroup's CPU quota.
 *
 * Both are of the calling thread, because the threads of a cipher work beside
 * it. Call it from one thread only. Costs two system calls, about 2 us.
 *
 * No upstream header. Not for a process under a sandbox: the first call opens a
 * file in /proc, which stays open.
 */

#ifndef HAYATE_USAGE_H
#define HAYATE_USAGE_H

#include "stall-stats.h"

/*
 * Sets STAT_CPU and STAT_WAIT_CPU, microseconds since the thread began. Returns
 * 1 if both are known; 0 if STAT_WAIT_CPU is not, as in a chroot without /proc,
 * and is set to 0.
 */
int	usage_read(struct stall_stats *);

#endif /* HAYATE_USAGE_H */
