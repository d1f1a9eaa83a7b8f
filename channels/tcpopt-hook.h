/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * tcpopt-hook: CongestionControl and MaxRate, options of the socket of the
 * connection. They concern what this end sends.
 *
 * Called by wtune-hook.c, so after authentication, when every Match block is
 * known, with the user's privileges and outside any sandbox. No patch calls it.
 */

#ifndef HAYATE_TCPOPT_HOOK_H
#define HAYATE_TCPOPT_HOOK_H

struct ssh;

/*
 * Sets what is configured, at the first call. If the kernel refuses, the
 * connection keeps its default, and one line says why: at -v in ssh, and with
 * LogLevel VERBOSE in sshd. Main thread only.
 */
void	tcpopt_set(struct ssh *);

#endif /* HAYATE_TCPOPT_HOOK_H */
