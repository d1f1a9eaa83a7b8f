/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See rendezvous.h for the idea. */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE		/* for SO_PEERCRED */
#endif

#include <sys/types.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rendezvous.h"

static int wants_retry;

void
rendezvous_want_retry(void)
{
	wants_retry = 1;
}

int
rendezvous_wants_retry(void)
{
	return wants_retry;
}

/* The process ID follows, then what is told, then a random number. */
#define STOCK	"hayate=no/"
#define CLIENT_HELLO	"hayate=wants/"		/* kind and descriptors */
#define SERVER_OFFER	"hayate=at/"	/* streams, two descriptors, kind */
#define LOGIN	"hayate=login/"		/* number of the host */
#define HOLD	"hayate=hold/"
#define AGAIN	"hayate=again/"

#define BACKLOG	16			/* more channels than are asked for */

/* What an OFFER says */
struct server_offer {
	long	 pid;
	int	 streams, at, names;
	char	 kind;
};

#ifdef __linux__

#include <sys/mman.h>
#include <sys/random.h>

/* Returns the length of an address whose name, behind the NUL, has "n" bytes */
static socklen_t
abstract_len(int n)
{
	return offsetof(struct sockaddr_un, sun_path) + 1 + n;
}

/*
 * Anything but a Unix socket without a name stays as it is. Another user could
 * take a name that is easy to guess. Returns 0, or -1 if it has not got the
 * name.
 */
static int
name_socket(int fd, const char *what, const char *rest)
{
	struct sockaddr_un sun;
	socklen_t len = sizeof(sun);
	uint64_t random;
	int n;

	if (getsockname(fd, (struct sockaddr *)&sun, &len) == -1 ||
	    sun.sun_family != AF_UNIX ||
	    len > offsetof(struct sockaddr_un, sun_path) ||
	    getrandom(&random, sizeof(random), GRND_NONBLOCK) !=
	    sizeof(random))
		return -1;
	sun.sun_path[0] = '\0';		/* abstract */
	n = snprintf(sun.sun_path + 1, sizeof(sun.sun_path) - 1,
	    "%s%ld/%s/%016llx", what, (long)getpid(), rest,
	    (unsigned long long)random);
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

/*
 * Listens at a path in "dir", a new directory of this user's alone, and removes
 * both at once. Returns the socket, or -1; "*at" is a descriptor of the path.
 */
static int
listen_in(const char *dir, int *at)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	int fd;

	snprintf(sun.sun_path, sizeof(sun.sun_path), "%s/s", dir);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd != -1 && bind(fd, (struct sockaddr *)&sun, sizeof(sun)) == 0) {
		*at = open(sun.sun_path, O_PATH | O_CLOEXEC);
		unlink(sun.sun_path);
		if (*at != -1 && listen(fd, BACKLOG) == 0)
			return fd;
		close(*at);
	}
	close(fd);
	return -1;
}

/* Returns a file in memory, which ends with this process, or -1. */
static int
write_hosts(const char *hosts)
{
	ssize_t len = hosts == NULL ? -1 : (ssize_t)strlen(hosts);
	int fd = hosts == NULL ? -1 : memfd_create("hosts", MFD_CLOEXEC);

	if (fd != -1 && write(fd, hosts, (size_t)len) == len)
		return fd;
	if (fd != -1)
		close(fd);
	return -1;
}

/* Connects to the ssh with a name that says why, unless it is NULL. */
static int
connect_named(const struct server_offer *o, const char *what, const char *rest)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	int s;

	s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (s == -1)
		return -1;
	/* The kernel lets nobody pass but this user. */
	snprintf(sun.sun_path, sizeof(sun.sun_path), "/proc/%ld/fd/%d", o->pid,
	    o->at);
	/* The process ID may have passed to another process. */
	if ((what != NULL && name_socket(s, what, rest) == -1) ||
	    connect(s, (struct sockaddr *)&sun, sizeof(sun)) == -1 ||
	    peer_process(s) != o->pid) {
		close(s);
		return -1;
	}
	return s;
}

#else

/* Nothing is announced. */

static int
name_socket(int fd, const char *what, const char *rest)
{
	(void)fd;
	(void)what;
	(void)rest;
	return -1;
}

static int
read_peer_name(int fd, const char *what, char *rest)
{
	return name_socket(fd, what, rest);
}

static pid_t
peer_process(int fd)
{
	return name_socket(fd, NULL, NULL);
}

static int
listen_in(const char *dir, int *at)
{
	(void)at;
	return name_socket(-1, dir, NULL);
}

static int
write_hosts(const char *hosts)
{
	return name_socket(-1, hosts, NULL);
}

static int
connect_named(const struct server_offer *o, const char *what, const char *rest)
{
	(void)o;
	return name_socket(-1, what, rest);
}

#endif

void
rendezvous_set_stock(void)
{
	(void)name_socket(STDIN_FILENO, STOCK, "");
}

int
rendezvous_is_stock(int fd)
{
	char rest[sizeof(struct sockaddr_un)];

	return read_peer_name(fd, STOCK, rest) == 0;
}

void
rendezvous_announce(int fd, int channels, int memory, int requests)
{
	const char *kinds = wants_retry ? "NC" : "nc";
	char what[48];

	snprintf(what, sizeof(what), "%c%d/%d/%d", kinds[channels != 0], fd,
	    memory, requests);
	(void)name_socket(fd, CLIENT_HELLO, what);
}

int
rendezvous_client_wants(void)
{
	char rest[sizeof(struct sockaddr_un)];
	const char *what;

	if (read_peer_name(STDIN_FILENO, CLIENT_HELLO, rest) == -1)
		return 0;
	if ((what = strchr(rest, '/')) == NULL)
		return RENDEZVOUS_CONNECTIONS;
	return RENDEZVOUS_CONNECTIONS | (what[1] == 'c' || what[1] == 'C' ?
	    RENDEZVOUS_CHANNELS : 0) | (what[1] == 'C' || what[1] == 'N' ?
	    RENDEZVOUS_RETRY : 0);
}

/* Opens a descriptor of the process that has the wish; -1: there is none. */
static int
open_client_fd(int is_requests)
{
	char rest[sizeof(struct sockaddr_un)], path[64];
	int own, fd[2];
	long pid;

	/* A process may open its user's descriptors through /proc. */
	if (read_peer_name(STDIN_FILENO, CLIENT_HELLO, rest) == -1 ||
	    sscanf(rest, "%ld/%*c%d/%d/%d", &pid, &own, &fd[0], &fd[1]) != 4 ||
	    fd[is_requests] < 0 || peer_process(STDIN_FILENO) != pid)
		return -1;
	snprintf(path, sizeof(path), "/proc/%ld/fd/%d", pid, fd[is_requests]);
	return open(path, O_RDWR | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

int
rendezvous_memory_fd(void)
{
	return open_client_fd(0);
}

int
rendezvous_requests_fd(void)
{
	return open_client_fd(1);
}

static pid_t client_pid = -1;

static int
listen_below(const char *tmp, int *at)
{
	char dir[sizeof(((struct sockaddr_un *)NULL)->sun_path) - 2];
	int fd = -1, n;

	n = snprintf(dir, sizeof(dir), "%s/hayate.XXXXXXXXXX", tmp);
	if (n < (int)sizeof(dir) && mkdtemp(dir) != NULL) {	/* mode 0700 */
		fd = listen_in(dir, at);
		rmdir(dir);
	}
	return fd;
}

/* TMPDIR may be another user's, or too long for the path of a socket. */
static int
listen_hidden(int *at)
{
	const char *tmp = getenv("TMPDIR");
	int fd = tmp == NULL || *tmp == '\0' ? -1 : listen_below(tmp, at);

	return fd != -1 ? fd : listen_below("/tmp", at);
}

int
rendezvous_listen(int streams, enum rendezvous_kind kind, const char *hosts)
{
	char what[48], rest[sizeof(struct sockaddr_un)];
	int fd, at, names;

	if (read_peer_name(STDIN_FILENO, CLIENT_HELLO, rest) == -1 ||
	    (client_pid = peer_process(STDIN_FILENO)) <= 0 ||
	    (fd = listen_hidden(&at)) == -1)
		return -1;
	names = write_hosts(hosts);
	snprintf(what, sizeof(what), "%d/%d/%d/%c", streams, at, names,
	    (int)kind);
	if (name_socket(STDIN_FILENO, SERVER_OFFER, what) == -1) {
		if (names != -1)
			close(names);
		close(at);
		close(fd);
		return -1;
	}
	return fd;
}

void
rendezvous_announce_single(void)
{
	(void)name_socket(STDIN_FILENO, SERVER_OFFER, "1/-1/-1/a");
}

int
rendezvous_is_client(int fd)
{
	return client_pid > 0 && peer_process(fd) == client_pid;
}

int
rendezvous_host_number(int fd)
{
	char rest[sizeof(struct sockaddr_un)];
	int host;

	return read_peer_name(fd, LOGIN, rest) == 0 &&
	    sscanf(rest, "%*d/%d", &host) == 1 && host >= 0 ? host : -1;
}

/* Offers of rendezvous_hold(), by descriptor: of two servers, at most */
static struct {
	int	 fd;
	struct server_offer offer;
} held[2] = { { .fd = -1 }, { .fd = -1 } };
#define HELD_MAX	(sizeof(held) / sizeof(*held))

static int
read_offer(int fd, struct server_offer *o)
{
	char rest[sizeof(struct sockaddr_un)];
	size_t i;

	for (i = 0; i < HELD_MAX; i++) {
		if (held[i].fd == fd) {
			*o = held[i].offer;
			return 0;
		}
	}
	return read_peer_name(fd, SERVER_OFFER, rest) == 0 &&
	    sscanf(rest, "%ld/%d/%d/%d/%c", &o->pid, &o->streams, &o->at,
	    &o->names, &o->kind) == 5 && o->streams >= 0 ? 0 : -1;
}

int
rendezvous_offered_conns(int fd)
{
	struct server_offer o;

	return read_offer(fd, &o) == 0 && o.at != -1 &&
	    o.kind != RENDEZVOUS_ONLY_RETRY ? o.streams : -1;
}

long
rendezvous_process(int fd)
{
	struct server_offer o;

	return read_offer(fd, &o) == 0 ? o.pid : 0;
}

int
rendezvous_is_single(int fd)
{
	struct server_offer o;

	return read_offer(fd, &o) == 0 && o.kind == RENDEZVOUS_ALONE;
}

int
rendezvous_hosts(int fd, char *names, size_t len)
{
	struct server_offer o;
	char path[64];
	ssize_t n;
	int from;

	if (read_offer(fd, &o) == -1 || o.names == -1)
		return -1;
	snprintf(path, sizeof(path), "/proc/%ld/fd/%d", o.pid, o.names);
	if ((from = open(path, O_RDONLY | O_CLOEXEC)) == -1)
		return -1;
	n = read(from, names, len - 1);
	close(from);
	names[n > 0 ? n : 0] = '\0';
	return n > 0 ? 0 : -1;
}

int
rendezvous_connect(int fd, int host)
{
	struct server_offer o;
	char number[16];

	if (read_offer(fd, &o) == -1)
		return -1;
	snprintf(number, sizeof(number), "%d", host);
	return connect_named(&o, host >= 0 ? LOGIN : NULL, number);
}

int
rendezvous_hold(int fd)
{
	struct server_offer o;
	size_t i;
	int s;

	if (read_offer(fd, &o) == -1 || o.at == -1 || o.kind ==
	    RENDEZVOUS_ALONE || (s = connect_named(&o, HOLD, "")) == -1)
		return -1;
	rendezvous_forget(fd);
	for (i = 0; i < HELD_MAX; i++) {
		if (held[i].fd == -1) {
			held[i].fd = fd;
			held[i].offer = o;
			return s;
		}
	}
	close(s);
	return -1;
}

int
rendezvous_again(int fd)
{
	struct server_offer o;

	return read_offer(fd, &o) == -1 ? -1 : connect_named(&o, AGAIN, "");
}

void
rendezvous_forget(int fd)
{
	size_t i;

	for (i = 0; i < HELD_MAX; i++) {
		if (held[i].fd == fd)
			held[i].fd = -1;
	}
}

int
rendezvous_is_hold(int fd)
{
	char rest[sizeof(struct sockaddr_un)];

	return read_peer_name(fd, HOLD, rest) == 0;
}

int
rendezvous_is_again(int fd)
{
	char rest[sizeof(struct sockaddr_un)];

	return read_peer_name(fd, AGAIN, rest) == 0;
}
