/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * mptcp-hook: UseMPTCP. Connections of ssh and listening sockets of sshd are of
 * MPTCP (mptcp.h), or of TCP where the kernel or the peer does not have it.
 *
 * TCP_INFO does not describe a connection over several paths, so windows follow
 * what the channels measure (bdp.h), as behind a jump host. The kernel has no
 * MaxRate for MPTCP; with MaxRate a connection is therefore one of TCP.
 *
 * build-aux/overlay.mk lets upstream's sshconnect.c and sshd.c call
 * mptcp_new_socket() in place of socket(2), and misc.c call mptcp_setsockopt()
 * in place of setsockopt(2). Every program has misc.c, so this file needs no
 * other of upstream's than log.c.
 */

#ifndef HAYATE_MPTCP_HOOK_H
#define HAYATE_MPTCP_HOOK_H

#include <sys/types.h>
#include <sys/socket.h>

/*
 * As socket(2), but with UseMPTCP the socket is one of MPTCP. If it cannot be,
 * or if MaxRate is set, it is one of TCP, with the reason at -v in ssh and
 * LogLevel VERBOSE in sshd.
 */
int	mptcp_new_socket(int family, int type, int protocol);

/*
 * As setsockopt(2). Linux cannot set the traffic class of MPTCP over IPv6. That
 * failure, which upstream logs as an error at each login, becomes success with
 * a debug message, and IPQoS has no effect.
 */
int	mptcp_setsockopt(int fd, int level, int option, const void *value,
    socklen_t len);

#endif /* HAYATE_MPTCP_HOOK_H */
