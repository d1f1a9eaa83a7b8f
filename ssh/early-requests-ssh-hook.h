/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * early-requests-ssh-hook: for the scp or sftp that started this ssh, what it
 * sends goes out as soon as it can, and ssh ends when it has ended.
 *
 * INIT, and the requests that scp knows (early-requests-hook.h), go out behind
 * the command: behind the signature if the session is opened there, and
 * otherwise with the first window. The server must be one that takes an early
 * session; it has the command before the data, and thereby a window of 2 MiB,
 * from which they are subtracted when it is announced. What went out with a
 * signature that was refused goes out again.
 *
 * The requests of scp name files and may bring one. What runs at the other end
 * may be no SFTP server: a key or an account may have another program, such as
 * a shell. So they go out behind INIT only if this host answered VERSION in the
 * last session that this user had there with the same key. Else scp sends them
 * when VERSION has arrived. Whether it does is remembered (login-cache.h).
 *
 * scp and sftp close their socket when they have the reply to all that they
 * have asked for. ssh ends then, and says that it disconnects, with exit status
 * 0, if VERSION says that the SFTP server is all that the session runs
 * (sftpsrv-hook.h). Another program may go on, and its exit status counts. It
 * ends as well if the server may wait for ever in a request of scp.
 *
 * Called by early-session-hook.c, extra-sessions-hook.c, early-auth-hook.c and
 * bottleneck-ssh-hook.c, and from upstream's clientloop.c, for which
 * build-aux/overlay.mk renames channel_input_data(). Main thread only.
 */

#ifndef HAYATE_EARLY_REQUESTS_SSH_HOOK_H
#define HAYATE_EARLY_REQUESTS_SSH_HOOK_H

struct ssh;

/* The session was opened early, with its command: sends what is there. */
void	early_requests_ssh_send(struct ssh *);

/* It was confirmed. */
void	early_requests_ssh_confirmed(struct ssh *);

/* It is opened again, because the server did not take it. */
void	early_requests_ssh_rejected(struct ssh *);

/* The first session was opened, early or not. */
void	early_requests_ssh_begin(struct ssh *);

/* The session or the program ends. */
void	early_requests_ssh_end(void);

#endif /* HAYATE_EARLY_REQUESTS_SSH_HOOK_H */
