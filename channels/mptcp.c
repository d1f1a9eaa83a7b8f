/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See mptcp.h for the idea. The C library's headers may be older than it. */

#include <sys/types.h>
#include <sys/socket.h>

#include <netinet/in.h>

#include <errno.h>

#include "mptcp.h"

#ifdef __linux__
# define PROTOCOL_MPTCP	262	/* IPPROTO_MPTCP */
# define LEVEL_MPTCP	284	/* SOL_MPTCP */
# define OPTION_INFO	1	/* MPTCP_INFO, since Linux 5.16 */
# define INFO_MAX	256	/* bytes; 96 in Linux 6.18 */
#endif

int
mptcp_socket(int family, int type, int *error)
{
#ifdef PROTOCOL_MPTCP
	int fd = socket(family, type, PROTOCOL_MPTCP);

	*error = fd == -1 ? errno : 0;
	if (fd != -1)
		return fd;
#else
	*error = EPROTONOSUPPORT;
#endif
	return socket(family, type, IPPROTO_TCP);
}

int
mptcp_is_used(int fd)
{
#if defined(PROTOCOL_MPTCP) && defined(SO_PROTOCOL)
	char info[INFO_MAX];
	int protocol = 0;
	socklen_t len = sizeof(protocol);

	if (getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &len) == -1 ||
	    protocol != PROTOCOL_MPTCP)
		return 0;
	len = sizeof(info);
	if (getsockopt(fd, LEVEL_MPTCP, OPTION_INFO, info, &len) == 0)
		return 1;
	/*
	 * An older kernel, or a connection that uses TCP. The latter passes
	 * options on to its only subflow, also those that MPTCP does not have.
	 */
	len = sizeof(info);
	return getsockopt(fd, IPPROTO_IP, IP_OPTIONS, info, &len) == -1;
#else
	(void)fd;
	return 0;
#endif
}
