/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * bottleneck-hook: scp and sftp say at the end of a copy what limited it
 * (bottleneck.h).
 *
 * They add up what they spend in reading and writing files. What ssh waits for,
 * and what the server has told it, they read in the memory that they share
 * (bottleneck-ssh-hook.h), and sftp-server they ask themselves (PROTOCOL,
 * section 6). Without that memory, with "Hayate no" and between two servers
 * nothing is said.
 *
 * The line comes at -v, or if it is news, standard error is a terminal and -q
 * is not given. --report has it as well.
 *
 * Main thread only.
 */

#ifndef HAYATE_BOTTLENECK_HOOK_H
#define HAYATE_BOTTLENECK_HOOK_H

#include <stdint.h>

struct sched_action;
struct transfer;

/* A copy begins; its loop goes round; it ends. */
void	bottleneck_begin(struct transfer *);
void	bottleneck_tick(struct transfer *);
void	bottleneck_end(struct transfer *);

/* A reply for "len" bytes of data has arrived. */
void	bottleneck_acked(struct transfer *, const struct sched_action *,
    uint32_t len);

/* A call is made that reads or writes a local file: returns when it began. */
uint64_t bottleneck_call_begin(void);
void	bottleneck_count_read(struct transfer *, uint64_t begun_us);
void	bottleneck_count_written(struct transfer *, uint64_t begun_us);

#endif /* HAYATE_BOTTLENECK_HOOK_H */
