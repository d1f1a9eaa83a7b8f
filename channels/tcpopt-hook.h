/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * tcpopt-hook: options of the socket of the connection. They concern what this
 * end sends.
 *
 * CongestionControl and MaxRate are set by wtune-hook.c, so after
 * authentication, when every Match block is known, with the user's privileges
 * and outside any sandbox.
 */

#ifndef HAYATE_TCPOPT_HOOK_H
#define HAYATE_TCPOPT_HOOK_H

struct ssh;

/*
 * Sets what is configured, at the first call. If the kernel refuses, the
 * connection keeps its default, and one line says why: of MaxRate, and of what
 * is no TCP connection, at -v in ssh and with LogLevel VERBOSE in sshd, and of
 * CongestionControl at each level but QUIET. Main thread only.
 */
void	tcpopt_set(struct ssh *);

/*
 * In ssh, from patches/314-ssh-login.patch, once it is connected: switches the
 * algorithm of Nagle (RFC 896) off, so that no message of the login waits for
 * the acknowledgement of the one before. Not with "Hayate no", nor on the pipes
 * of a ProxyCommand.
 */
void	tcpopt_no_delay(struct ssh *);

#endif /* HAYATE_TCPOPT_HOOK_H */
