/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * exit-status-hook: a connection that is lost ends scp and sftp with exit
 * status 255, whoever finds out.
 *
 * Stock exits with 255, or dies of SIGPIPE, which ends scp with 1 and sftp by
 * the signal, depending on whether a read or a write notices first. Here the
 * write fails, and what is then said names it. If it is standard output that
 * nobody reads, the signal does what it does in stock. Main thread only.
 */

#ifndef HAYATE_EXIT_STATUS_HOOK_H
#define HAYATE_EXIT_STATUS_HOOK_H

/* A connection begins. */
void	exit_status_begin(void);

#endif /* HAYATE_EXIT_STATUS_HOOK_H */
