/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * tcpopt-hook: options of the connection's socket. They affect only what this
 * end sends.
 *
 * CongestionControl and MaxRate are set by wtune-hook.c, after authentication,
 * when every Match block is known, with the user's privileges and outside any
 * sandbox.
 */

#ifndef HAYATE_TCPOPT_HOOK_H
#define HAYATE_TCPOPT_HOOK_H

struct ssh;

/*
 * Sets CongestionControl and MaxRate, if configured, at the first call in a
 * process, with a line at debug level for each; later calls do nothing,
 * whatever the first did. If the kernel refuses, the connection keeps its
 * default, and one line gives the reason: for CongestionControl as an error, on
 * standard error even with LogLevel FATAL; for MaxRate over MPTCP, which is set
 * in a Match block of sshd alone (mptcp-hook.h), as an error; otherwise for
 * MaxRate, and if the connection is not TCP, at -v in ssh and LogLevel VERBOSE
 * in sshd. Main thread only.
 */
void	tcpopt_set(struct ssh *);

/*
 * In ssh, once it is connected (patches/314-ssh-login.patch): switches Nagle's
 * algorithm (RFC 896) off, so that no message of the login waits for the
 * acknowledgement of the one before. Does nothing with "Hayate no", or over the
 * pipes of a ProxyCommand. Upstream's set_nodelay() logs a failure, and the
 * login goes on. With UseMPTCP, logs at debug level whether the connection uses
 * it.
 */
void	tcpopt_no_delay(struct ssh *);

#endif /* HAYATE_TCPOPT_HOOK_H */
