/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * bottleneck-hook: scp and sftp say at the end of a copy what limited it
 * (bottleneck.h).
 *
 * They add up the time that they spend in reading and writing files. ssh leaves
 * its stalls, and those that the server has reported to it, in shared memory
 * (bottleneck-ssh-hook.h). sftp-server is asked by a request (PROTOCOL, section
 * 6). Nothing is reported without that memory, with "Hayate no", or between two
 * servers.
 *
 * The line is printed with -v; without it, only if it is notable
 * (bottleneck.h), standard error is a terminal, and -q is not given. --report
 * has it in any case.
 *
 * Main thread only.
 */

#ifndef HAYATE_BOTTLENECK_HOOK_H
#define HAYATE_BOTTLENECK_HOOK_H

#include <stdint.h>

struct sched_action;
struct transfer;

/* A copy begins. */
void	bottleneck_begin(struct transfer *);

/* Call in each round of the copy's loop. */
void	bottleneck_tick(struct transfer *);

/* A copy ends: prints the line and adds it to the report. */
void	bottleneck_end(struct transfer *);

/* A reply for "len" bytes of data has arrived. */
void	bottleneck_acked(struct transfer *, const struct sched_action *,
    uint32_t len);

/* A local file was read or written, since "begun_us" of clock_us(). */
void	bottleneck_count_read(struct transfer *, uint64_t begun_us);
void	bottleneck_count_written(struct transfer *, uint64_t begun_us);

#endif /* HAYATE_BOTTLENECK_HOOK_H */
