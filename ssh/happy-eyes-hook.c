/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See happy-eyes-hook.h for the idea. */

#include "includes.h"

#include <sys/types.h>
#include <sys/socket.h>

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "log.h"
#include "misc.h"
#include "pathnames.h"
#include "ssh.h"
#include "readconf.h"
#include "xmalloc.h"

#include "happy-eyes.h"
#include "happy-eyes-hook.h"
#include "hayopt.h"

extern Options options;

#define ATTEMPTS_MAX	16	/* pending at a time */

static struct {
	struct addrinfo		*list;	/* NULL: not on */

	/* The entry at the end of the list, if it is linked */
	struct addrinfo		 end;
	struct sockaddr_storage	 end_addr;

	/* The pending attempts, oldest first */
	size_t			 n;
	int			 fd[ATTEMPTS_MAX];
	int64_t			 deadline[ATTEMPTS_MAX];	/* ms */
	struct sockaddr_storage	 addr[ATTEMPTS_MAX];
	socklen_t		 len[ATTEMPTS_MAX];

	/* The attempt of the last happy_eyes_start() */
	const struct addrinfo	*now;	/* NULL: the entry at the end */
	int			 error;	/* errno; EINPROGRESS: pending */

	int			 last_error;	/* of any attempt */
	int			 has_winner;
	struct sockaddr_storage	 winner;
} race;

static int64_t
now_ms(void)
{
	struct timespec ts;

	monotime_ts(&ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static void
print_address(const struct sockaddr_storage *addr, socklen_t len,
    char text[NI_MAXHOST])
{
	if (getnameinfo((const struct sockaddr *)addr, len, text, NI_MAXHOST,
	    NULL, 0, NI_NUMERICHOST) != 0)
		strlcpy(text, "?", NI_MAXHOST);
}

/*
 * The list of addresses
 */

static void
sort_list(struct addrinfo *list, size_t n)
{
	struct addrinfo **entry = xcalloc(n, sizeof(*entry)), *ai;
	int *family = xcalloc(n, sizeof(*family));
	size_t *order = xcalloc(n, sizeof(*order)), i;

	for (i = 0, ai = list; ai != NULL; ai = ai->ai_next, i++) {
		entry[i] = ai;
		family[i] = ai->ai_family;
	}
	happy_eyes_order(family, n, order);
	for (i = 0; i < n; i++)
		entry[order[i]]->ai_next = i + 1 < n ? entry[order[i + 1]] :
		    NULL;
	free(entry);
	free(family);
	free(order);
}

void
happy_eyes_begin(struct addrinfo *list)
{
	struct addrinfo *ai;
	size_t n = 0;

	memset(&race, 0, sizeof(race));
	for (ai = list; ai != NULL; ai = ai->ai_next)
		n++;
	if (!hayopt_get()->happy_eyes || n < 2)
		return;
	sort_list(list, n);
	race.list = list;
}

int
happy_eyes_is_on(void)
{
	return race.list != NULL;
}

/* Returns 1 if upstream would try this address. */
static int
is_usable(const struct addrinfo *ai)
{
	return (ai->ai_family == AF_INET || ai->ai_family == AF_INET6) &&
	    (options.address_family == AF_UNSPEC ||
	    ai->ai_family == options.address_family);
}

/* Returns 1 if upstream has no other address to try after the current one. */
static int
is_last(void)
{
	const struct addrinfo *ai = race.now;

	if (ai == NULL)
		return 1;
	while ((ai = ai->ai_next) != NULL && !is_usable(ai))
		;
	return ai == NULL;
}

static void
unlink_end(void)
{
	struct addrinfo *ai;

	for (ai = race.list; ai != NULL; ai = ai->ai_next) {
		if (ai->ai_next == &race.end)
			ai->ai_next = NULL;
	}
}

/* Links the entry at the end, for which a socket as that of "like" is made. */
static void
link_end(const struct addrinfo *like)
{
	struct addrinfo *ai = race.list;

	while (ai->ai_next != NULL)
		ai = ai->ai_next;
	race.end = *like;
	memcpy(&race.end_addr, like->ai_addr, like->ai_addrlen);
	race.end.ai_addr = (struct sockaddr *)&race.end_addr;
	race.end.ai_canonname = NULL;
	race.end.ai_next = NULL;
	ai->ai_next = &race.end;
}

/*
 * The attempts
 */

static void
close_attempt(size_t i)
{
	close(race.fd[i]);
	race.n--;
	memmove(race.fd + i, race.fd + i + 1,
	    (race.n - i) * sizeof(race.fd[0]));
	memmove(race.deadline + i, race.deadline + i + 1,
	    (race.n - i) * sizeof(race.deadline[0]));
	memmove(race.addr + i, race.addr + i + 1,
	    (race.n - i) * sizeof(race.addr[0]));
	memmove(race.len + i, race.len + i + 1,
	    (race.n - i) * sizeof(race.len[0]));
}

/* Returns 1 if it is the attempt that was started last, which is pending. */
static int
is_current(size_t i)
{
	return race.now != NULL && race.error == EINPROGRESS &&
	    i == race.n - 1;
}

/* Closes an attempt that has failed. Upstream logs an error of the current. */
static void
fail(size_t i, int error)
{
	char text[NI_MAXHOST];

	race.last_error = error;
	if (is_current(i))
		race.error = error;
	else {
		print_address(&race.addr[i], race.len[i], text);
		debug("connect to address %s: %s", text, strerror(error));
	}
	close_attempt(i);
}

/* Puts the connection in the place of sock. Returns 0, or -1 with errno. */
static int
win(size_t i, int sock, int *timeout_ms)
{
	int64_t left = race.deadline[i] - now_ms();
	char text[NI_MAXHOST];

	if (dup2(race.fd[i], sock) == -1)
		return -1;
	fcntl(sock, F_SETFD, FD_CLOEXEC);
	unset_nonblock(sock);
	if (timeout_ms != NULL && *timeout_ms > 0)
		*timeout_ms = left < 1 ? 1 : left < *timeout_ms ? (int)left :
		    *timeout_ms;
	race.winner = race.addr[i];
	race.has_winner = 1;
	print_address(&race.addr[i], race.len[i], text);
	debug("HappyEyes: %s has answered first, other attempts: %zu", text,
	    race.n - 1);
	while (race.n > 0)
		close_attempt(race.n - 1);
	return 0;
}

void
happy_eyes_start(int sock, const struct sockaddr *addr, socklen_t len,
    const int *timeout_ms)
{
	size_t i = race.n;

	unlink_end();
	for (race.now = race.list; race.now != NULL &&
	    race.now->ai_addr != addr; race.now = race.now->ai_next)
		;
	if (race.now == NULL)
		return;
	race.error = EINPROGRESS;
	set_nonblock(sock);
	if ((connect(sock, addr, len) == -1 && errno != EINPROGRESS) ||
	    (race.fd[i] = fcntl(sock, F_DUPFD_CLOEXEC, 3)) == -1) {
		race.error = race.last_error = errno;
		return;
	}
	race.deadline[i] = timeout_ms != NULL && *timeout_ms > 0 ?
	    now_ms() + *timeout_ms : HAPPY_EYES_NEVER;
	memcpy(&race.addr[i], addr, len);
	race.len[i] = len;
	race.n++;
}

/* Waits for at most ms, -1: for ever. Returns the index of a winner, or n. */
static size_t
poll_attempts(int ms)
{
	struct pollfd pfd[ATTEMPTS_MAX];
	size_t i, n = race.n;
	int error;
	socklen_t len;

	for (i = 0; i < n; i++) {
		pfd[i].fd = race.fd[i];
		pfd[i].events = POLLOUT;
		pfd[i].revents = 0;
	}
	if (poll(pfd, (nfds_t)n, ms) == -1)
		return race.n;
	for (i = 0; i < n; i++) {
		error = 0;
		len = sizeof(error);
		if (pfd[i].revents != 0 && getsockopt(race.fd[i], SOL_SOCKET,
		    SO_ERROR, &error, &len) == 0 && error == 0)
			return i;
		if (pfd[i].revents != 0)
			pfd[i].fd = error != 0 ? -error : -EIO;
	}
	for (i = n; i-- > 0;) {
		if (pfd[i].fd < 0)
			fail(i, -pfd[i].fd);
	}
	return race.n;
}

static void
fail_late_attempts(int64_t now)
{
	size_t i;

	for (i = race.n; i-- > 0;) {
		if (race.deadline[i] <= now)
			fail(i, ETIMEDOUT);
	}
}

int
happy_eyes_wait_for(int sock, int *timeout_ms)
{
	int64_t now = now_ms(), next;
	size_t winner, n = race.n;
	int last = is_last();

	next = last || race.n == ATTEMPTS_MAX ? HAPPY_EYES_NEVER :
	    now + happy_eyes_delay(hayopt_get()->happy_delay);
	if (race.now != NULL && race.error != EINPROGRESS)
		n++;			/* has failed at once */
	while (race.n > 0 && (last || (race.n == n && now < next))) {
		winner = poll_attempts(happy_eyes_wait(now, next,
		    race.deadline, race.n));
		if (winner < race.n)
			return win(winner, sock, timeout_ms);
		now = now_ms();
		fail_late_attempts(now);
	}
	if (race.n > 0)
		link_end(race.now);
	errno = race.now != NULL ? race.error : race.last_error;
	return -1;
}

void
happy_eyes_end(int result, struct sockaddr_storage *addr)
{
	if (race.list == NULL)
		return;
	unlink_end();
	if (result == 0 && race.has_winner)
		*addr = race.winner;
	race.list = NULL;
}
