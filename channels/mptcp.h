/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * mptcp: sockets of Multipath TCP (RFC 8684).
 *
 * A connection of MPTCP consists of subflows, TCP connections that the kernel
 * opens and closes: over several paths it has the rate of all, and a path that
 * fails only costs its share. The administrator configures in the kernel which
 * paths are used.
 *
 *   MPTCP -----> the peer, or a middlebox, does not know it
 *     |                            |
 *     v                            v
 *   several subflows possible    TCP, over the one connection
 *
 * The kernel makes that decision while it connects, and keeps it, but for a
 * middlebox that changes data later. A socket that a listener accepts from a
 * peer without MPTCP is a socket of TCP.
 *
 * Linux only; elsewhere all sockets are those of TCP. No state. Thread safe.
 */

#ifndef HAYATE_MPTCP_H
#define HAYATE_MPTCP_H

/*
 * As socket(2) for a stream of AF_INET or AF_INET6, but of MPTCP. If this
 * system cannot make one, the socket is one of TCP. *error becomes 0 for
 * MPTCP, and otherwise the errno of the attempt. Returns the descriptor, or -1
 * with errno if it cannot make one of TCP either.
 */
int	mptcp_socket(int family, int type, int *error);

/*
 * Returns 1 if the connection may have several subflows. Then TCP_INFO
 * describes only the first one. Returns 0 for any other descriptor, also for a
 * socket of MPTCP whose connection uses TCP.
 */
int	mptcp_is_used(int fd);

#endif /* HAYATE_MPTCP_H */
