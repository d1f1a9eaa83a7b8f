/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * monitor-hook: the monitor of a connection, as soon as a user has logged in.
 *
 * sshd-session forks then: one process gets the rights of the user and serves
 * them, the other one stays root's and only answers what this process may ask.
 * Here the second is told what it has to know for the log (sessionlog-hook.h),
 * and both, whether the user is held to one program or a chroot (hayopt.h):
 * the first one enters the chroot and forgets it.
 *
 * Called from upstream's sshd-session.c, in the places of monitor_reinit(),
 * before the fork, and monitor_child_postauth(), which does not return; they
 * call these (build-aux/overlay.mk).
 */

#ifndef HAYATE_MONITOR_HOOK_H
#define HAYATE_MONITOR_HOOK_H

struct monitor;
struct ssh;

void	monitor_hook_reinit(struct monitor *);
void	monitor_hook_postauth(struct ssh *, struct monitor *);

#endif /* HAYATE_MONITOR_HOOK_H */
