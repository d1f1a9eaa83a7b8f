/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See reconnect-hook.h for the idea. */

#include "includes.h"

#include <sys/types.h>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log.h"
#include "misc.h"
#include "sshbuf.h"

#include "clock.h"
#include "conns-hook.h"
#include "early-requests-hook.h"
#include "reconnect-hook.h"
#include "rendezvous.h"
#include "server-hook.h"
#include "sftp-request-hook.h"
#include "sftp-stream-hook.h"
#include "shmpipe-hook.h"
#include "stock-hook.h"

/* A login that takes longer is given up: the network may have no answer. */
#define LOGIN_MAX_S	120

#define US_PER_S	1000000ULL

extern volatile sig_atomic_t interrupted;

static const char *wanted;		/* TIME of --retry; NULL: no retry */
static int wanted_s;			/* the same, in seconds */

void
reconnect_want(const char *time, int seconds)
{
	wanted = time;
	wanted_s = seconds;
	rendezvous_want_retry();
}

/* Returns 0, or -1 if ssh cannot log in again. */
static int
hold_ssh(struct reconnect *r, struct server *q)
{
	int hold = rendezvous_hold(server_info(q)->conn.fd_in);

	if (hold == -1)
		return -1;
	r->conn[r->nconns].server = q;
	r->conn[r->nconns++].hold = hold;
	return 0;
}

void
reconnect_begin(struct reconnect *r, struct server *q, struct server *dest)
{
	static int is_reported;

	if (wanted == NULL)
		return;
	if (hold_ssh(r, q) == 0 && (dest == NULL || hold_ssh(r, dest) == 0)) {
		r->is_possible = 1;
		/* which would end scp */
		r->sigpipe = ssh_signal(SIGPIPE, SIG_IGN);
		return;
	}
	if (!is_reported)
		logit("--retry: ssh cannot log in again without a prompt; the "
		    "copy ends if its connection is lost");
	is_reported = 1;
}

/* ssh ends when scp has neither its session nor one that took its place. */
void
reconnect_keep_ssh(struct reconnect *r)
{
	if (r->is_possible && r->session == 0 && (r->session =
	    fcntl(server_info(r->conn[0].server)->conn.fd_in, F_DUPFD_CLOEXEC,
	    STDERR_FILENO + 1)) == -1)
		r->is_possible = r->session = 0;
}

static void
release_session(struct reconnect *r)
{
	if (r->session > 0)
		close(r->session);
	r->session = 0;
}

void
reconnect_end(struct reconnect *r)
{
	release_session(r);
	while (r->nconns > 0)
		close(r->conn[--r->nconns].hold);
	if (r->is_possible)
		(void)ssh_signal(SIGPIPE, r->sigpipe);
	r->is_possible = 0;
}

int
reconnect_is_possible(const struct reconnect *r)
{
	return r->is_possible;
}

/* Returns the milliseconds until then, 0 if it has passed. */
static int
ms_until(uint64_t us)
{
	uint64_t now = clock_us();

	return now >= us ? 0 : (int)MINIMUM((us - now) / 1000 + 1, 1000);
}

static int
stops(uint64_t deadline)
{
	return interrupted || clock_us() >= deadline;
}

/*
 * Begins an SFTP session over a socket. Returns what the server offers, or 0
 * if there is none until the time "limit".
 */
static int
begin_session(int fd, uint64_t limit)
{
	struct sftp_stream_conf conf = { .fd_in = fd, .fd_out = fd,
	    .may_end = 1 };
	struct sftp_stream *stream = stream_new(&conf);
	struct sshbuf *m;
	int caps = 0;

	request_init_session(stream_sink(stream));
	while ((m = stream_next(stream)) == NULL && !stream_is_lost(stream) &&
	    !stops(limit))
		stream_poll(&stream, 1, -1, ms_until(limit));
	if (m != NULL)
		caps = conns_parse_version(stream, m);
	stream_free(stream);
	return caps;
}

int
reconnect_take_over(struct server *q, int fd, int caps)
{
	const struct server_conn *c = &server_info(q)->conn;

	server_reconnected(q, caps);
	shmpipe_forget(c->fd_in);
	shmpipe_forget(c->fd_out);
	early_requests_forget(c->fd_in);
	if (dup2(fd, c->fd_in) == -1 || dup2(fd, c->fd_out) == -1)
		return -1;
	close(fd);
	return 0;
}

static void
pause_until(uint64_t us)
{
	while (!stops(us))
		(void)poll(NULL, 0, ms_until(us));
}

/* Returns 0, or -1. */
static int
log_in_again(struct server *q, uint64_t deadline)
{
	uint64_t pause = RETRY_PAUSE_S * US_PER_S, began;
	int fd, caps;

	for (;;) {
		began = clock_us();
		if ((fd = rendezvous_again(server_info(q)->conn.fd_in)) == -1)
			return -1;
		caps = begin_session(fd, MINIMUM(deadline, began +
		    LOGIN_MAX_S * US_PER_S));
		if (caps != 0)
			return reconnect_take_over(q, fd, caps);
		close(fd);
		pause_until(MINIMUM(deadline, clock_us() + pause));
		if (stops(deadline))
			return -1;
		pause = MINIMUM(2 * pause, RETRY_PAUSE_MAX_S * US_PER_S);
	}
}

int
reconnect_wait(struct reconnect *r)
{
	uint64_t began = clock_us();
	uint64_t deadline = began + (uint64_t)wanted_s * US_PER_S;
	int i;

	logit("Connection lost; logging in again, for up to %s", wanted);
	for (i = 0; i < r->nconns; i++) {
		if (log_in_again(r->conn[i].server, deadline) == -1)
			return -1;
	}
	release_session(r);
	stock_forgive_ssh(0);
	logit("Connected again after %llu seconds",
	    (unsigned long long)((clock_us() - began) / US_PER_S));
	return 0;
}
