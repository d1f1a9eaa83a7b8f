/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * subsys-hook: what a subsystem needs that another program does not.
 *
 * The log names a subsystem whose program is missing, because the client sees
 * only the end of the connection. The SFTP server writes into a socket, which
 * moves data for a third less processor time than a pipe.
 *
 * Called from patches/180-session-output.patch and 265-session-subsystem.patch.
 */

#ifndef HAYATE_SUBSYS_HOOK_H
#define HAYATE_SUBSYS_HOOK_H

/*
 * The subsystem "name" was asked for. Logs one line if the first word of its
 * command in sshd_config is an absolute path that this process, which runs as
 * the user, cannot execute. The user's shell finds any other program. The
 * command runs in any case.
 */
void	subsys_check_program(const ServerOptions *, const char *name,
    const char *user);

/*
 * As pipe() for the output of "command", which a session runs.
 *
 * Our own SFTP server gets a pair of sockets, which only shmpipe-hook.h uses
 * the other way round, for the memory: internal-sftp, and the sftp-server
 * beside sshd-session where the command names it first and runs nothing else.
 * Others get a pipe, the script that starts that server too, because what opens
 * /dev/stdout fails if it is a socket. The input of all of them stays a pipe:
 * bash reads ~/.bashrc if its input is a socket. With "Hayate no" all are
 * pipes.
 */
int	subsys_open_output(const ServerOptions *, const int in[2], int out[2],
    const char *command);

#endif /* HAYATE_SUBSYS_HOOK_H */
