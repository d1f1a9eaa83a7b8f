/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * exit-status-hook: a connection that is lost ends scp and sftp with exit
 * status 255, whether a read or a write notices it.
 *
 * In stock a failing write raises SIGPIPE, which ends scp with 1 and sftp by
 * the signal. Here the signal is ignored and the write fails with an error
 * message. If standard output was closed, the signal acts as in stock. Main
 * thread only.
 */

#ifndef HAYATE_EXIT_STATUS_HOOK_H
#define HAYATE_EXIT_STATUS_HOOK_H

#include <sys/types.h>

/* A connection begins. */
void	exit_status_begin(void);

/* Others have done what that ssh could not: it counts as successful; 0: none */
void	exit_status_forgive(pid_t);
pid_t	exit_status_waitpid(pid_t, int *status, int options);

#endif /* HAYATE_EXIT_STATUS_HOOK_H */
