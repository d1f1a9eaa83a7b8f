/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See sftp-tell.h for the idea. */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE		/* for SO_PEERCRED */
#endif

#include <sys/types.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sftp-tell.h"

#ifdef __linux__

#define STOCK	"hayate=no/"		/* the process ID follows */
#define WISH	"hayate=channels/"	/* process ID, descriptor */
#define OFFER	"hayate=at/"		/* process ID, address */

#define BACKLOG	16			/* more channels than are asked for */

/* Returns the length of an address whose name, behind the NUL, has "n" bytes */
static socklen_t
abstract_len(int n)
{
	return offsetof(struct sockaddr_un, sun_path) + 1 + n;
}

/*
 * Anything but a Unix socket without a name stays as it is. Returns 0, or -1 if
 * it has not got the name.
 */
static int
name_socket(int fd, const char *what, long first, const char *rest)
{
	struct sockaddr_un sun;
	socklen_t len = sizeof(sun);
	int n;

	if (getsockname(fd, (struct sockaddr *)&sun, &len) == -1 ||
	    sun.sun_family != AF_UNIX ||
	    len > offsetof(struct sockaddr_un, sun_path))
		return -1;
	sun.sun_path[0] = '\0';		/* abstract */
	n = snprintf(sun.sun_path + 1, sizeof(sun.sun_path) - 1, "%s%ld%s%s",
	    what, first, *rest == '\0' ? "" : "/", rest);
	return bind(fd, (struct sockaddr *)&sun, abstract_len(n));
}

/*
 * Copies the name of the other end behind "what" to "rest", which has the size
 * of a whole address. Returns 0, or -1 if it has no such name.
 */
static int
read_peer_name(int fd, const char *what, char *rest)
{
	struct sockaddr_un sun;
	socklen_t len = sizeof(sun);

	memset(&sun, 0, sizeof(sun));
	if (getpeername(fd, (struct sockaddr *)&sun, &len) == -1 ||
	    sun.sun_family != AF_UNIX || len >= sizeof(sun) ||
	    len <= abstract_len(0) || sun.sun_path[0] != '\0' ||
	    strncmp(sun.sun_path + 1, what, strlen(what)) != 0)
		return -1;
	strcpy(rest, sun.sun_path + 1 + strlen(what));
	return 0;
}

/* Returns the process that made the socket behind "fd" if it is this user's. */
static pid_t
peer_process(int fd)
{
	struct ucred cred;
	socklen_t len = sizeof(cred);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) == -1 ||
	    cred.uid != geteuid())
		return -1;
	return cred.pid;
}

void
sftp_tell_stock(void)
{
	(void)name_socket(STDIN_FILENO, STOCK, getpid(), "");
}

int
sftp_tell_is_stock(int fd)
{
	char rest[sizeof(struct sockaddr_un)];

	return read_peer_name(fd, STOCK, rest) == 0;
}

void
sftp_tell_wish(int fd)
{
	char number[16];

	snprintf(number, sizeof(number), "%d", fd);
	(void)name_socket(fd, WISH, getpid(), number);
}

static pid_t wisher = -1;

int
sftp_tell_listen(void)
{
	struct sockaddr_un sun;
	socklen_t len = sizeof(sun);
	char rest[sizeof(sun)];
	int fd;

	if (read_peer_name(STDIN_FILENO, WISH, rest) == -1 ||
	    (wisher = peer_process(STDIN_FILENO)) <= 0)
		return -1;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd == -1)
		return -1;
	memset(&sun, 0, sizeof(sun));
	sun.sun_family = AF_UNIX;
	/* An address without a name lets the kernel choose a free one. */
	if (bind(fd, (struct sockaddr *)&sun, sizeof(sa_family_t)) == -1 ||
	    listen(fd, BACKLOG) == -1 ||
	    getsockname(fd, (struct sockaddr *)&sun, &len) == -1 ||
	    len <= abstract_len(0) || len >= sizeof(sun)) {
		close(fd);
		return -1;
	}
	sun.sun_path[len - offsetof(struct sockaddr_un, sun_path)] = '\0';
	if (name_socket(STDIN_FILENO, OFFER, getpid(), sun.sun_path + 1) ==
	    -1) {
		close(fd);
		return -1;
	}
	return fd;
}

int
sftp_tell_is_wisher(int fd)
{
	return wisher > 0 && peer_process(fd) == wisher;
}

int
sftp_tell_offers(int fd)
{
	char rest[sizeof(struct sockaddr_un)];

	return read_peer_name(fd, OFFER, rest) == 0;
}

int
sftp_tell_connect(int fd)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	char rest[sizeof(sun)], name[sizeof(sun.sun_path) - 1];
	long pid;
	int s;

	if (read_peer_name(fd, OFFER, rest) == -1 ||
	    sscanf(rest, "%ld/%106s", &pid, name) != 2)
		return -1;
	s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (s == -1)
		return -1;
	memcpy(sun.sun_path + 1, name, strlen(name));
	/* The address may have passed to another process. */
	if (connect(s, (struct sockaddr *)&sun,
	    abstract_len(strlen(name))) == -1 || peer_process(s) != pid) {
		close(s);
		return -1;
	}
	return s;
}

#else /* !__linux__ */

void
sftp_tell_stock(void)
{
}

int
sftp_tell_is_stock(int fd)
{
	(void)fd;
	return 0;
}

void
sftp_tell_wish(int fd)
{
	(void)fd;
}

int
sftp_tell_listen(void)
{
	return -1;
}

int
sftp_tell_is_wisher(int fd)
{
	(void)fd;
	return 0;
}

int
sftp_tell_offers(int fd)
{
	(void)fd;
	return 0;
}

int
sftp_tell_connect(int fd)
{
	(void)fd;
	return -1;
}

#endif
