/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * subsys: a subsystem whose program is missing is named in the log. The client
 * sees no more than the end of the connection.
 *
 * Called from patches/265-session-subsystem.patch.
 */

#ifndef HAYATE_SUBSYS_HOOK_H
#define HAYATE_SUBSYS_HOOK_H

/*
 * The subsystem "name" is about to run "program", the first word of what
 * sshd_config says. Logs one line if that is an absolute path which the user,
 * as whom we run, cannot execute. Anything else is for the user's shell to
 * find. Never fails: the shell has the last word.
 */
void	subsys_check(const char *name, const char *program, const char *user);

#endif /* HAYATE_SUBSYS_HOOK_H */
