/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * subsys-hook: two things for subsystems. A missing program is logged, because
 * the client sees only the end of the connection. The SFTP server writes into a
 * socket, which needs a third less processor time than a pipe.
 *
 * Called from patches/180-session-output.patch and 265-session-subsystem.patch.
 */

#ifndef HAYATE_SUBSYS_HOOK_H
#define HAYATE_SUBSYS_HOOK_H

/*
 * Call it when "user" requests the subsystem "name", before its command runs.
 * Reports the subsystem, or "unknown" if sshd_config has none of that name, to
 * sessionlog-hook.h. Unless there is a chroot or a forced command, logs an
 * error if the first word of the command there is an absolute path that this
 * process, which runs as the user, cannot execute. Other programs are found by
 * the user's shell. The request goes on in any case.
 */
void	subsys_check_program(const ServerOptions *, const char *name,
    const char *user);

/*
 * As pipe(out), for the output of "command", which a session runs; NULL: a
 * login shell. "in" is the pipe of its input.
 *
 * Our own SFTP server gets a socket pair, and shared memory (shmpipe_offer())
 * if that can be had. Our own are internal-sftp, and the sftp-server beside
 * sshd-session if the command begins with an absolute path to it and has no
 * character with which a shell could run another program. Others get a pipe,
 * also a script that starts that server: opening /dev/stdout fails if it is a
 * socket. The input is always a pipe, because bash reads ~/.bashrc if its input
 * is a socket. With "Hayate no" both are pipes, and with "TellLimits no" the
 * memory has the tag IOTIME_DISABLED. Returns 0, or -1 with errno set, nothing
 * open and no message.
 */
int	subsys_open_output(const ServerOptions *, const int in[2], int out[2],
    const char *command);

#endif /* HAYATE_SUBSYS_HOOK_H */
