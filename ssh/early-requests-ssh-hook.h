/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * early-requests-ssh-hook: the part of early requests that is in ssh
 * (early-requests-hook.h has that of scp), and the end of ssh when scp or sftp
 * has ended.
 *
 * Early requests are the first SFTP requests of a copy. With an early session
 * they are sent behind the signature, with INIT, otherwise with the first
 * window. The server must accept early sessions. Such a server reads the
 * command before the data, and opens a window of 2 MiB with it; the bytes sent
 * early are subtracted from that window when it is announced. After a refused
 * signature they are sent again.
 *
 * The requests name files, and may carry the data of one. The program at the
 * other end may be no SFTP server: a key or an account may have another
 * program, such as a shell. So they are sent behind INIT only if the last
 * session that this user had here with the same key answered with VERSION
 * (login-cache.h). Otherwise scp sends them when VERSION has arrived.
 *
 * scp and sftp close their socket when they have all replies. ssh then
 * disconnects and exits with status 0, if VERSION says that the session runs
 * nothing but the SFTP server (sftpsrv-hook.h). Otherwise it waits for the end
 * of the session, and exits with the status of its program. ssh ends with scp,
 * too, if scp has marked a request that the server may never answer
 * (EARLY_REQUESTS_STUCK).
 *
 * In ssh, for the program that started it, with "Hayate yes" and unless
 * EarlyLogin is no. One session for each process. Main thread only.
 */

#ifndef HAYATE_EARLY_REQUESTS_SSH_HOOK_H
#define HAYATE_EARLY_REQUESTS_SSH_HOOK_H

struct ssh;

/*
 * Call it when the early session was sent, with its command: sends INIT and the
 * early requests, as far as scp has written them, and keeps a copy. Does
 * nothing if the session is not for SFTP.
 */
void	early_requests_ssh_send(struct ssh *);

/*
 * Call it when the server has confirmed the early session: the bytes sent early
 * are then subtracted from the first window. If that window is smaller, the
 * process ends with a message.
 */
void	early_requests_ssh_confirmed(struct ssh *);

/*
 * Call it when the early session is opened again: the copy is sent as soon as
 * the window is there. If early requests were in it, and scp can be notified,
 * only INIT is sent, and scp sends the requests after VERSION, because another
 * key or method may lead to another program.
 */
void	early_requests_ssh_rejected(struct ssh *);

/*
 * Call it when the first session was opened, early or not. From here on the
 * first data of the session is searched for VERSION, and ssh ends with scp.
 * Also sends the early requests, if that was not done. For sessions of other
 * programs only the shared memory of scp is attached.
 */
void	early_requests_ssh_begin(struct ssh *);

/*
 * Call it when the session or the process ends. If no VERSION was received, the
 * cache entry says that this key gets no SFTP server. May be called again.
 */
void	early_requests_ssh_end(void);

#endif /* HAYATE_EARLY_REQUESTS_SSH_HOOK_H */
