/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * extra-sessions-hook: ssh opens more sessions on its connection, or starts
 * further connections, for the scp or sftp that started it.
 *
 * A server with a fixed window takes 2 MiB in a round trip on one channel,
 * sends 14 MiB, and as much on each further one. scp asks for channels through
 * rendezvous.h. Each connection to the socket that is told there becomes a
 * session that runs what the first session runs, without a terminal, agent or
 * X11. ssh refuses every process but the one that holds the other end of its
 * standard input. If the server refuses a session, the socket is closed, and
 * nobody is told but at -v.
 *
 * Unless this ssh serves channels, it sends no-more-sessions@openssh.com as
 * stock does. It serves none if neither scp nor TransferStreams asked, if a
 * connection is shared by ControlMaster, if the server is Hayate, whose window
 * follows the path, or no OpenSSH, and with "Hayate no".
 *
 * If TransferStreams is not 1, scp can ask for further connections in the same
 * way, to any server (spawn-hook.h). A socket with a name asks for one. There
 * are none if the login needed the user (prompted-hook.h), and scp says so.
 *
 * Called from patches/246-ssh-channels.patch. Main thread only.
 */

#ifndef HAYATE_EXTRA_SESSIONS_HOOK_H
#define HAYATE_EXTRA_SESSIONS_HOOK_H

struct ssh;

/* Returns 1 if more than the first session was opened for scp. */
int	extra_sessions_were_opened(void);

/* The first session was just opened. */
void	extra_sessions_start(struct ssh *);

#endif /* HAYATE_EXTRA_SESSIONS_HOOK_H */
