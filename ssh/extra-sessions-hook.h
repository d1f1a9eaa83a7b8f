/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * extra-sessions-hook: ssh opens more sessions on its connection, or starts
 * additional connections (spawn-hook.h), for the scp or sftp that started it.
 *
 * A server with a fixed window accepts 2 MiB in a round trip on one channel,
 * and sends 14 MiB; another channel adds as much. scp asks for channels through
 * rendezvous.h. A connection to the socket that is published there becomes a
 * session that runs the same program as the first one, without a terminal,
 * agent or X11. With a host number it asks for an additional connection
 * instead. ssh refuses every process but the one that holds the other end of
 * its standard input. If the server refuses a session, the socket is closed,
 * with a message at -v.
 *
 * Nothing is offered with "Hayate no", or if ControlMaster shares the
 * connection. Channels are offered if scp asks for them or TransferStreams is
 * not 1, and the server is OpenSSH but not Hayate, whose window follows the
 * path. They are not offered with scp --retry. Without channels ssh sends
 * no-more-sessions@openssh.com as stock does. Additional connections are
 * offered, to any server, if TransferStreams is not 1. If the login prompted
 * the user (prompted-hook.h), they are not, and scp reports why.
 *
 * While scp uses either, the first SIGINT, SIGTERM or SIGHUP that is not from
 * scp takes effect after 12 seconds: scp may have to finish files at the
 * server, and ends ssh when it has. A second one takes effect at once.
 *
 * In ssh, for patch 246. Main thread only.
 */

#ifndef HAYATE_EXTRA_SESSIONS_HOOK_H
#define HAYATE_EXTRA_SESSIONS_HOOK_H

struct ssh;

/* Returns 1 if a channel besides the first session was opened for scp. */
int	extra_sessions_were_opened(void);

/*
 * Call it once, when the first session was opened, or if none is: ends an
 * additional connection that reached the wrong host (spawn_check_host()),
 * starts early requests and the bottleneck report, and offers channels and
 * connections to scp. If no socket can be made, nothing is offered.
 */
void	extra_sessions_start(struct ssh *);

#endif /* HAYATE_EXTRA_SESSIONS_HOOK_H */
