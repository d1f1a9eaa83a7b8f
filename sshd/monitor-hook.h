/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * monitor-hook: prepares the two processes of a connection once a user has
 * logged in.
 *
 * sshd-session forks then: the child gets the rights of the user and serves the
 * session, and the parent, the monitor, stays root and answers its requests.
 * The session log (sessionlog-hook.h) needs memory that both share. Both must
 * know whether the user is confined to one program or a chroot (hayopt.h); it
 * is determined before the fork, because upstream clears the option once the
 * child has entered the chroot.
 *
 * build-aux/overlay.mk makes sshd-session.c call these instead of upstream's
 * functions, which they call.
 */

#ifndef HAYATE_MONITOR_HOOK_H
#define HAYATE_MONITOR_HOOK_H

struct monitor;
struct ssh;

/*
 * Call it instead of monitor_reinit(), before the fork; calls that function at
 * its end. If the user is confined, lowers the default of WindowMemoryMax in
 * both processes, unless WindowMax is configured (hayopt_set_confined()), and
 * logs the value in force as a debug message. Ends the process if there is no
 * memory for the session log.
 */
void	monitor_hook_reinit(struct monitor *);

/*
 * Call it instead of monitor_child_postauth(), in the monitor after the fork.
 * Notes the connection and the time for the session log, calls that function,
 * and does not return. The line of the session log is written when this process
 * ends.
 */
void	monitor_hook_postauth(struct ssh *, struct monitor *);

#endif /* HAYATE_MONITOR_HOOK_H */
