/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * usage: how long a thread has run, and how long it was runnable but had no
 * processor. The latter includes throttling by a cgroup's CPU quota.
 *
 * Both are of the calling thread, because the threads of a cipher work beside
 * it; on a system without RUSAGE_THREAD the first is of the whole process. Call
 * it from one thread only. Costs two system calls, about 2 us.
 *
 * No upstream header. Not for a process under a sandbox: the first call, and
 * the first in the child of a fork, opens a file in /proc, which stays open. If
 * that fails, this process does not retry it.
 */

#ifndef HAYATE_USAGE_H
#define HAYATE_USAGE_H

#include "stall-stats.h"

/*
 * Sets STAT_CPU and STAT_WAIT_CPU, microseconds since the thread began, and no
 * other value. Returns 1; or 0 with only STAT_CPU set and STAT_WAIT_CPU 0, if
 * the latter is not known, as in a chroot without /proc or on another system.
 */
int	usage_read(struct stall_stats *);

#endif /* HAYATE_USAGE_H */
