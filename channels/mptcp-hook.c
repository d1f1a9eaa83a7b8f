/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See mptcp-hook.h for the idea. */

#include "includes.h"

#include <sys/types.h>
#include <sys/socket.h>

#include <netinet/in.h>

#include <errno.h>
#include <string.h>

#include "log.h"

#include "hayopt.h"
#include "mptcp-hook.h"
#include "mptcp.h"

int
mptcp_new_socket(int family, int type, int protocol)
{
	const struct hayopt *opt = hayopt_get();
	int fd, error;

	if (!opt->use_mptcp)
		return socket(family, type, protocol);
	if (opt->max_rate != 0) {
		verbose("UseMPTCP has no effect: MaxRate can only limit TCP");
		return socket(family, type, protocol);
	}
	if ((fd = mptcp_socket(family, type, &error)) != -1 && error != 0)
		verbose("UseMPTCP has no effect: %s", strerror(error));
	return fd;
}

int
mptcp_setsockopt(int fd, int level, int option, const void *value,
    socklen_t len)
{
	int r = setsockopt(fd, level, option, value, len);
#ifdef IPV6_TCLASS
	int error = errno;

	if (r == -1 && error == EOPNOTSUPP && level == IPPROTO_IPV6 &&
	    option == IPV6_TCLASS && mptcp_is_used(fd)) {
		debug2("IPQoS has no effect: MPTCP over IPv6");
		return 0;
	}
	if (r == -1)
		errno = error;
#endif
	return r;
}
