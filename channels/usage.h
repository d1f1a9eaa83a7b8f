/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * usage: how long this process ran, and how long it could have run but had no
 * processor. A cgroup's quota is seen as the latter.
 *
 * Both are of the thread that called first, because the threads of a cipher
 * work beside it. Costs two system calls, about 2 us.
 *
 * No upstream header.
 */

#ifndef HAYATE_USAGE_H
#define HAYATE_USAGE_H

#include "stall-stats.h"

/*
 * Sets STAT_CPU and STAT_WAIT_CPU. Returns 1 if both are known, 0 if the
 * system does not tell the latter, as in a chroot without /proc.
 */
int	usage_read(struct stall_stats *);

#endif /* HAYATE_USAGE_H */
