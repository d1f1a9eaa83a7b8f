/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * subsys-hook: names a subsystem whose program is missing in the log. The
 * client sees only the end of the connection.
 *
 * Called from patches/265-session-subsystem.patch.
 */

#ifndef HAYATE_SUBSYS_HOOK_H
#define HAYATE_SUBSYS_HOOK_H

/*
 * The subsystem "name" is about to run. "program" is the first word of its
 * command in sshd_config. Logs one line if that is an absolute path that this
 * process, which runs as the user, cannot execute. The user's shell finds any
 * other program. The command runs in any case.
 */
void	subsys_check_program(const char *name, const char *program,
    const char *user);

#endif /* HAYATE_SUBSYS_HOOK_H */
