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

#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sftp-tell.h"

#ifdef __linux__

#define STOCK	"hayate=no/"		/* the process ID follows */
#define WISH	"hayate=wants/"		/* process ID, kind and descriptor */
#define OFFER	"hayate=at/"		/* process ID, streams, address */
#define LOGIN	"hayate=login/"		/* process ID, descriptor */

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
sftp_tell_wish(int fd, int channels, int memory)
{
	char what[32];

	snprintf(what, sizeof(what), "%c%d/%d", channels ? 'c' : 'n', fd,
	    memory);
	(void)name_socket(fd, WISH, getpid(), what);
}

int
sftp_tell_wished(void)
{
	char rest[sizeof(struct sockaddr_un)];
	const char *what;

	if (read_peer_name(STDIN_FILENO, WISH, rest) == -1)
		return 0;
	what = strchr(rest, '/');
	return SFTP_TELL_CONNECTIONS | (what != NULL && what[1] == 'c' ?
	    SFTP_TELL_CHANNELS : 0);
}

int
sftp_tell_memory(void)
{
	char rest[sizeof(struct sockaddr_un)], path[64];
	int fd, memory;
	long pid;

	/* A process may open its user's descriptors through /proc. */
	if (read_peer_name(STDIN_FILENO, WISH, rest) == -1 ||
	    sscanf(rest, "%ld/%*c%d/%d", &pid, &fd, &memory) != 3 ||
	    memory < 0 || peer_process(STDIN_FILENO) != pid)
		return -1;
	snprintf(path, sizeof(path), "/proc/%ld/fd/%d", pid, memory);
	return open(path, O_RDWR | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

static pid_t wisher = -1;

int
sftp_tell_listen(int streams)
{
	char what[sizeof(struct sockaddr_un) + 16];
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
	snprintf(what, sizeof(what), "%d/%s", streams, sun.sun_path + 1);
	if (name_socket(STDIN_FILENO, OFFER, getpid(), what) == -1) {
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
sftp_tell_is_login(int fd)
{
	char rest[sizeof(struct sockaddr_un)];

	return read_peer_name(fd, LOGIN, rest) == 0;
}

/* What an OFFER says; its name has the size of an address. */
struct offer {
	long	 pid;
	int	 streams;
	char	 name[sizeof(((struct sockaddr_un *)NULL)->sun_path) - 1];
};

static int
read_offer(int fd, struct offer *o)
{
	char rest[sizeof(struct sockaddr_un)];

	return read_peer_name(fd, OFFER, rest) == 0 &&
	    sscanf(rest, "%ld/%d/%106s", &o->pid, &o->streams, o->name) == 3 &&
	    o->streams >= 0 ? 0 : -1;
}

int
sftp_tell_offers(int fd)
{
	struct offer o;

	return read_offer(fd, &o) == 0 ? o.streams : -1;
}

int
sftp_tell_connect(int fd, int login)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	char number[16];
	struct offer o;
	int s;

	if (read_offer(fd, &o) == -1)
		return -1;
	s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (s == -1)
		return -1;
	memcpy(sun.sun_path + 1, o.name, strlen(o.name));
	snprintf(number, sizeof(number), "%d", s);
	/* The address may have passed to another process. */
	if ((login && name_socket(s, LOGIN, getpid(), number) == -1) ||
	    connect(s, (struct sockaddr *)&sun,
	    abstract_len(strlen(o.name))) == -1 || peer_process(s) != o.pid) {
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
sftp_tell_wish(int fd, int channels, int memory)
{
	(void)fd;
	(void)channels;
	(void)memory;
}

int
sftp_tell_memory(void)
{
	return -1;
}

int
sftp_tell_wished(void)
{
	return 0;
}

int
sftp_tell_listen(int streams)
{
	(void)streams;
	return -1;
}

int
sftp_tell_is_wisher(int fd)
{
	(void)fd;
	return 0;
}

int
sftp_tell_is_login(int fd)
{
	(void)fd;
	return 0;
}

int
sftp_tell_offers(int fd)
{
	(void)fd;
	return -1;
}

int
sftp_tell_connect(int fd, int login)
{
	(void)fd;
	(void)login;
	return -1;
}

#endif
