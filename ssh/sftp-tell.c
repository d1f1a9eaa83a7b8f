/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See sftp-tell.h for the idea. */

#include <sys/types.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sftp-tell.h"

#define NAME	"hayate=no/"		/* the process ID follows */

void
sftp_tell_stock(void)
{
#ifdef __linux__
	struct sockaddr_un sun;
	socklen_t len = sizeof(sun);
	int n;

	/* Anything but a Unix socket without a name stays as it is. */
	if (getsockname(STDIN_FILENO, (struct sockaddr *)&sun, &len) == -1 ||
	    sun.sun_family != AF_UNIX ||
	    len > offsetof(struct sockaddr_un, sun_path))
		return;
	n = snprintf(sun.sun_path + 1, sizeof(sun.sun_path) - 1, "%s%ld", NAME,
	    (long)getpid());
	sun.sun_path[0] = '\0';		/* abstract */
	len = offsetof(struct sockaddr_un, sun_path) + 1 + n;
	(void)bind(STDIN_FILENO, (struct sockaddr *)&sun, len);
#endif
}

int
sftp_tell_is_stock(int fd)
{
#ifdef __linux__
	struct sockaddr_un sun;
	socklen_t len = sizeof(sun);

	memset(&sun, 0, sizeof(sun));
	return getpeername(fd, (struct sockaddr *)&sun, &len) == 0 &&
	    sun.sun_family == AF_UNIX && sun.sun_path[0] == '\0' &&
	    strncmp(sun.sun_path + 1, NAME, sizeof(NAME) - 1) == 0;
#else
	(void)fd;
	return 0;
#endif
}
