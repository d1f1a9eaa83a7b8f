/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * verdict-hook: scp and sftp say at the end of a copy what limited it
 * (bottleneck.h).
 *
 * They add up what they spend in reading and writing files. What ssh waits for,
 * and what the server has told it, they read in the memory that they share
 * (limit-hook.h), and sftp-server they ask themselves (PROTOCOL, section 6).
 * Without that memory, with "Hayate no" and between two servers nothing is
 * said.
 *
 * The line comes at -v, or if it is news, standard error is a terminal and -q
 * is not given. --report has it as well.
 *
 * Main thread only.
 */

#ifndef HAYATE_VERDICT_HOOK_H
#define HAYATE_VERDICT_HOOK_H

#include <stdint.h>

struct plan_action;
struct run;

/* A copy begins; its loop goes round; it ends. */
void	verdict_begin(struct run *);
void	verdict_tick(struct run *);
void	verdict_end(struct run *);

/* A reply for "len" bytes of data has come. */
void	verdict_acked(struct run *, const struct plan_action *, uint32_t len);

/* A call is made that reads or writes a local file: returns when it began. */
uint64_t verdict_call(void);
void	verdict_has_read(struct run *, uint64_t begun_us);
void	verdict_has_written(struct run *, uint64_t begun_us);

#endif /* HAYATE_VERDICT_HOOK_H */
