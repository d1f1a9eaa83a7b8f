/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * inspect-hook: what a copy waits for, for those who ask.
 *
 * A copy prints the state of each file that has begun, its handle, its requests
 * in flight and what it waits for: on SIGUSR1; with -vvv each second; and with
 * -v once when nothing has moved for 30 s. While nothing is copied, SIGUSR1 has
 * no effect, so that a signal that comes too early does not end the program.
 *
 * Main thread only.
 */

#ifndef HAYATE_INSPECT_HOOK_H
#define HAYATE_INSPECT_HOOK_H

struct transfer;

/*
 * In scp and sftp, at the start: catches SIGUSR1 from here on. A program that
 * they execute has the default action again.
 */
void	inspect_catch_signal(void);

/* A copy begins, or has ended. Copies do not nest. */
void	inspect_begin(void);
void	inspect_end(void);

/* The loop goes round, once a second at least: prints what is due. */
void	inspect_tick(const struct transfer *);

#endif /* HAYATE_INSPECT_HOOK_H */
