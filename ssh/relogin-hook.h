/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * relogin-hook: the ssh of scp --retry outlives its connection.
 *
 * scp holds a socket to the ssh that it started (rendezvous_hold()). If that
 * ssh loses its connection while the socket is held, it does not exit:
 *
 *    CONNECTED   as any ssh
 *        |  it would exit, and the socket is held
 *        v
 *    OUTLIVING   scp has seen the end of its session. For each request of scp
 *        |       another ssh is started, which logs in without a prompt
 *        |       (spawn_again()): in place of the first one, or as an
 *        |       additional connection.
 *        v  no ssh runs in place of the first one, and scp has closed either
 *           the held socket or all of its sessions
 *    exit        with the exit status of the last ssh that did; 255 if none
 *
 * In this way scp has one child to wait for, whatever happens, and only
 * ssh knows how to log in. Nothing is repeated if a login would prompt the user
 * or if an argument or a file cannot be read again (spawn_can_reexec()).
 *
 * In ssh, main thread only. Called from extra-sessions-hook.c, and by
 * clientloop.c, in which build-aux/overlay.mk renames _exit().
 */

#ifndef HAYATE_RELOGIN_HOOK_H
#define HAYATE_RELOGIN_HOOK_H

struct ssh;

/*
 * After the login, while standard input is still the socket of scp: ssh may
 * outlive its connection. "listener" is the socket of rendezvous_listen(), of
 * which a copy is kept. So that a dead network is noticed, the server is asked
 * for a sign of life every 15 seconds, unless the user chose another interval.
 */
void	relogin_begin(struct ssh *, int listener);

/*
 * scp has connected to the listener with this socket, which the caller closes.
 * Returns 1 if it was made by rendezvous_hold() or rendezvous_again(). Of the
 * former a copy is kept. For the latter another ssh is started, with the socket
 * as its standard input and output; also while this one is connected, because
 * scp -3 logs in to both servers again if it has lost one. If that fails, scp
 * sees the end of the socket. Returns 0 for other sockets, and always without
 * relogin_begin().
 */
int	relogin_take(int sock);

/*
 * In place of _exit(2) where upstream's clientloop.c ends ssh: if scp holds a
 * socket, serves scp first. An exit(3) leads here as well, by atexit(3).
 */
void	relogin_exit(int status) __attribute__((noreturn));

#endif /* HAYATE_RELOGIN_HOOK_H */
