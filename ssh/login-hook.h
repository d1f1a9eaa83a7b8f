/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * login-hook: ssh starts a further ssh, for one more connection to the same
 * server, as scp -j asks for.
 *
 * It has the arguments of this one, and before them those that keep it quiet:
 * it asks the user for nothing, neither at a terminal nor by a program, shares
 * no connection, and starts none of its own. A server that wants an answer from
 * the user refuses it, and it ends. (A key that is to be touched still asks.)
 * Only scp says when the next one is started, so at most one of them is not
 * authenticated.
 *
 * MaxRate is for all of them together.
 *
 * A name may stand for several hosts. So each of them is told the address, the
 * port and the host key of the first connection, and ends before it runs
 * anything if its own are others. Behind a proxy only the key can tell. A key
 * that is neither the first's nor known is an alarm, which the user hears.
 *
 * Called by serve-hook.c, and by upstream's sshconnect2.c, for which
 * build-aux/overlay.mk renames a call; in ssh. Main thread only.
 */

#ifndef HAYATE_LOGIN_HOOK_H
#define HAYATE_LOGIN_HOOK_H

struct sockaddr;
struct ssh;
struct ssh_conn_info;
struct sshkey;

/*
 * The socket becomes standard input and output of the new process; it remains
 * the caller's. Returns 0, or -1 if no process could be started.
 */
int	login_start(struct ssh *, int sock);

/*
 * Begins this ssh anew, with EarlyLogin no. Returns if that is not possible.
 */
void	login_again(void);

/* Before the command: ends this ssh if it was started so, for another host. */
void	login_check(struct ssh *);

/* As upstream's verify_host_key(); here an ssh that was started so is heard. */
int	login_verify_host_key(char *, struct sockaddr *, struct sshkey *,
    const struct ssh_conn_info *);

#endif /* HAYATE_LOGIN_HOOK_H */
