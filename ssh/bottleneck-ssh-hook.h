/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * bottleneck-ssh-hook: ssh determines what limits the data that it moves.
 *
 * It counts its own stalls (stalls-hook.h). While data moves it requests the
 * statistics of a server that has them, at most twice a second (PROTOCOL,
 * section 6). The scp or sftp that started ssh receives both through shared
 * memory and reports the bottleneck; when a copy begins it sets a mark, at
 * which ssh starts a new measurement. An ssh with a command reports at its end,
 * unless the session has a terminal or data went both ways: at -v, or if the
 * result is new (bottleneck.h), standard error is a terminal and -q is not
 * given.
 *
 * Nothing is counted with "Hayate no", in either process of a shared connection
 * (ControlMaster), and without a session.
 *
 * Main thread only.
 */

#ifndef HAYATE_BOTTLENECK_SSH_HOOK_H
#define HAYATE_BOTTLENECK_SSH_HOOK_H

struct ssh;

/* The first session was opened: starts the measurement. Call it once. */
void	bottleneck_ssh_begin(struct ssh *);

/*
 * The loop has ended: reports the bottleneck, and calls
 * early_requests_ssh_end() and upstream's channel_free_all().
 */
void	bottleneck_ssh_free_all(struct ssh *);

#endif /* HAYATE_BOTTLENECK_SSH_HOOK_H */
