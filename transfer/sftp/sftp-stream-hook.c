/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * See sftp-stream-hook.h. A message is built in place in the buffer of what is
 * to be sent, or with its data in a slot of the ring (stream_data()). A reply
 * is read in place. So data is copied by the kernel only.
 */

#include "includes.h"

#include <sys/types.h>
#include <sys/socket.h>

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log.h"
#include "misc.h"
#include "sftp.h"
#include "sftp-common.h"
#include "sshbuf.h"
#include "ssherr.h"
#include "xmalloc.h"

#include "early-requests-hook.h"
#include "sftp-request-hook.h"
#include "sftp-stream-hook.h"
#include "shmpipe-hook.h"

#define READ_SIZE	(256 * 1024)

struct sftp_stream {
	struct request_sink sink;	/* the first member */
	struct sftp_stream_conf conf;
	struct replies own_replies;	/* unless those of "conf" are used */
	struct sshbuf *in, *out;
	struct sshbuf *message;		/* a view of "from"; NULL: none */
	struct sshbuf *from;		/* "in", or replies that are there */
	size_t taken;			/* bytes of "from" that it has */
	int waits;			/* stream_is_full() has said so */
	size_t begun;			/* where in "out" the request begins */
	u_char *in_ring;		/* where its data is; NULL: in "out" */
	int lost;
	char *lost_why;			/* NULL: it is not lost */
};

void
stream_free(struct sftp_stream *l)
{
	if (!l->conf.may_end) {
		unset_nonblock(l->conf.fd_in);
		unset_nonblock(l->conf.fd_out);
	}
	sshbuf_free(l->message);
	sshbuf_free(l->in);
	sshbuf_free(l->out);
	free(l->lost_why);
	free(l);
}

void
stream_fatal(struct sftp_stream *l, const char *what, ...)
{
	char text[1024];
	va_list args;

	va_start(args, what);
	vsnprintf(text, sizeof(text), what, args);
	va_end(args);
	if (l->conf.before_fatal != NULL)
		l->conf.before_fatal(l->conf.arg);
	fatal("%s", text);
}

/* The length stands before the request. */
static struct sshbuf *
begin_request(struct request_sink *sink)
{
	struct sftp_stream *l = (struct sftp_stream *)sink;
	int r;

	l->begun = sshbuf_len(l->out);
	if ((r = sshbuf_put_u32(l->out, 0)) != 0)
		fatal_fr(r, "compose");
	return l->out;
}

static void
end_request(struct request_sink *sink)
{
	struct sftp_stream *l = (struct sftp_stream *)sink;
	size_t len = sshbuf_len(l->out) - l->begun - 4;
	int r;

	if (len > SFTP_MAX_MSG_LENGTH)
		stream_fatal(l, "Outbound message too long %zu", len);
	if ((r = sshbuf_poke_u32(l->out, l->begun, len)) != 0)
		fatal_fr(r, "compose");
	if (early_requests_has_reply(l->conf.fd_out,
	    sshbuf_mutable_ptr(l->out) + l->begun + 4, len))
		stream_cancel(l);
}

void
stream_cancel(struct sftp_stream *l)
{
	int r;

	if ((r = sshbuf_consume_end(l->out,
	    sshbuf_len(l->out) - l->begun)) != 0)
		fatal_fr(r, "cancel");
}

struct sftp_stream *
stream_new(const struct sftp_stream_conf *conf)
{
	struct sftp_stream *l = xcalloc(1, sizeof(*l));

	l->conf = *conf;
	l->sink.begin = begin_request;
	l->sink.end = end_request;
	if ((l->in = sshbuf_new()) == NULL || (l->out = sshbuf_new()) == NULL)
		fatal_f("sshbuf_new failed");
	set_nonblock(conf->fd_in);
	set_nonblock(conf->fd_out);
	return l;
}

struct request_sink *
stream_sink(struct sftp_stream *l)
{
	return &l->sink;
}

struct replies *
stream_replies(struct sftp_stream *l)
{
	return l->conf.replies != NULL ? l->conf.replies : &l->own_replies;
}

u_char *
stream_data(struct sftp_stream *l, size_t len)
{
	u_char *p;
	size_t head;
	int r;

	if ((r = sshbuf_put_u32(l->out, 0)) != 0)
		fatal_fr(r, "compose");
	head = sshbuf_len(l->out);
	l->in_ring = len <= EARLY_REQUESTS_FILE_MAX || l->begun != 0 ||
	    l->conf.may_end ? NULL : shmpipe_try_reserve(l->conf.fd_out, head +
	    len);
	if (l->in_ring != NULL)
		return l->in_ring + head;
	if ((r = sshbuf_reserve(l->out, len, &p)) != 0)
		fatal_fr(r, "reserve");
	return p;
}

/* The head is in "out", alone. Returns 0, or -1 if it cannot be sent now. */
static int
post_request(struct sftp_stream *l, size_t n)
{
	size_t head = sshbuf_len(l->out);
	int r;

	if ((r = sshbuf_poke_u32(l->out, 0, head - 4 + n)) != 0)
		fatal_fr(r, "compose");
	memcpy(l->in_ring, sshbuf_ptr(l->out), head);
	if (shmpipe_commit(l->conf.fd_out, head + n) != 0)
		return -1;
	stream_cancel(l);
	return 0;
}

/* What ssh may have sent ahead (early_requests_has_reply()) has little data. */
void
stream_end_data(struct sftp_stream *l, size_t len, size_t n)
{
	size_t after = l->in_ring != NULL ? 0 : len;
	int r;

	if ((r = sshbuf_poke_u32(l->out,
	    sshbuf_len(l->out) - after - 4, n)) != 0)
		fatal_fr(r, "compose");
	if (l->in_ring == NULL)
		r = sshbuf_consume_end(l->out, len - n);
	else if (n > EARLY_REQUESTS_FILE_MAX && post_request(l, n) == 0)
		return;
	else
		r = sshbuf_put(l->out,
		    l->in_ring + sshbuf_len(l->out), n);
	if (r != 0)
		fatal_fr(r, "compose");
	end_request(&l->sink);
}

int
stream_is_full(struct sftp_stream *l)
{
	return l->waits = shmpipe_is_full(l->conf.may_end ? -1 : l->conf.fd_out,
	    sshbuf_len(l->out));
}

int
stream_is_lost(const struct sftp_stream *l)
{
	return l->lost;
}

void
stream_fatal_lost(struct sftp_stream *l)
{
	stream_fatal(l, "%s", l->lost_why);
}

void
stream_set_conf(struct sftp_stream *l, const struct sftp_stream_conf *conf)
{
	l->conf = *conf;
}

/* The connection has ended. */
static void
lose_stream(struct sftp_stream *l, const char *what, const char *why)
{
	if (!l->conf.may_end && !l->conf.may_be_replaced)
		stream_fatal(l, "%s%s", what, why);
	debug("a connection ended: %s%s", what, why);
	if (!l->lost)
		xasprintf(&l->lost_why, "%s%s", what, why);
	l->lost = 1;
	sshbuf_reset(l->out);
}

static void
send_some(struct sftp_stream *l)
{
	ssize_t n;
	int r;

	if (l->lost || sshbuf_len(l->out) == 0)
		return;
	n = l->conf.may_end ?
	    send(l->conf.fd_out, sshbuf_ptr(l->out), sshbuf_len(l->out),
	    MSG_NOSIGNAL) : shmpipe_write(l->conf.fd_out,
	    sshbuf_ptr(l->out), sshbuf_len(l->out));
	if (n == -1) {
		if (errno == EPIPE || errno == ECONNRESET)
			lose_stream(l, "Connection closed", "");
		else if (errno != EINTR && errno != EAGAIN &&
		    errno != EWOULDBLOCK)
			lose_stream(l, "Couldn't send packet: ",
			    strerror(errno));
		return;
	}
	if ((r = sshbuf_consume(l->out, n)) != 0)
		fatal_fr(r, "consume");
}

static void
receive_some(struct sftp_stream *l)
{
	ssize_t n;
	int r;

	if ((r = shmpipe_read_ref(l->conf.fd_in, l->in, READ_SIZE, &n)) != 0)
		fatal_fr(r, "read");
	if (n == 0 || (n == -1 && errno == ECONNRESET))
		lose_stream(l, "Connection closed", "");
	else if (n == -1 && errno != EINTR && errno != EAGAIN &&
	    errno != EWOULDBLOCK)
		lose_stream(l, "Couldn't read packet: ", strerror(errno));
}

void
stream_poll(struct sftp_stream *const *streams, size_t n, int wake_fd, int ms)
{
	struct pollfd pfd[2 * STREAMS_MAX + 1];
	size_t i;

	for (i = 0; i < n; i++) {
		struct sftp_stream *l = streams[i];

		/* Most often there is room, and one call is saved. */
		send_some(l);
		if (l->lost)
			return;
		pfd[2 * i].fd = l->conf.fd_in;
		pfd[2 * i].events = POLLIN;
		pfd[2 * i + 1].fd = sshbuf_len(l->out) == 0 && !l->waits ? -1 :
		    l->conf.fd_out;
		pfd[2 * i + 1].events = POLLOUT;
		if (shmpipe_pending(l->conf.fd_in) > 0 ||
		    early_requests_ready(l->conf.fd_in) != NULL)
			ms = 0;
	}
	pfd[2 * n].fd = wake_fd;
	pfd[2 * n].events = POLLIN;
	if (poll(pfd, 2 * n + (wake_fd != -1), ms) == -1) {
		if (errno != EINTR && errno != EAGAIN)
			fatal_f("poll: %s", strerror(errno));
		return;
	}
	for (i = 0; i < n; i++) {
		if (pfd[2 * i + 1].revents != 0)
			send_some(streams[i]);
		if ((pfd[2 * i].revents != 0 ||
		    shmpipe_pending(pfd[2 * i].fd) > 0) && !streams[i]->lost)
			receive_some(streams[i]);
	}
}

/* The message that was taken last is used. */
static void
drop_message(struct sftp_stream *l)
{
	int r;

	sshbuf_free(l->message);
	l->message = NULL;
	if (l->taken > 0 && (r = sshbuf_consume(l->from, l->taken)) != 0)
		fatal_fr(r, "consume");
	l->taken = 0;
}

static struct sshbuf *
next_message(struct sftp_stream *l)
{
	uint32_t len;

	drop_message(l);
	if ((l->from = early_requests_ready(l->conf.fd_in)) == NULL)
		l->from = l->in;
	if (sshbuf_peek_u32(l->from, 0, &len) != 0)
		return NULL;
	if (len > SFTP_MAX_MSG_LENGTH && l->conf.may_end) {
		l->lost = 1;
		return NULL;
	}
	if (len > SFTP_MAX_MSG_LENGTH)
		stream_fatal(l, "Received message too long %u", len);
	if (sshbuf_len(l->from) < 4 + (size_t)len)
		return NULL;
	/* What is there may grow while the message is used, so it is copied. */
	l->message = l->from == l->in ?
	    sshbuf_from(sshbuf_ptr(l->from) + 4, len) : sshbuf_new();
	if (l->message == NULL || (l->from != l->in &&
	    sshbuf_put(l->message, sshbuf_ptr(l->from) + 4, len) != 0))
		fatal_f("out of memory");
	l->taken = 4 + (size_t)len;
	return l->message;
}

struct sshbuf *
stream_next(struct sftp_stream *l)
{
	struct sshbuf *m;

	do
		m = next_message(l);
	while (m != NULL && reply_deliver(stream_replies(l), m));
	return m;
}

int
stream_was_early(const struct sftp_stream *l)
{
	return l->from != l->in;
}

void
stream_check_reply(struct sftp_stream *l, int r, const char *what)
{
	if (r != 0)
		stream_fatal(l, "parse %s: %s", what, ssh_err(r));
}

void
stream_parse_head(struct sftp_stream *l, struct sshbuf *m, u_char *type,
    uint32_t *id)
{
	stream_check_reply(l, sshbuf_get_u8(m, type), "reply");
	stream_check_reply(l, sshbuf_get_u32(m, id), "reply");
}

u_int
stream_parse_status(struct sftp_stream *l, struct sshbuf *m, u_char type,
    u_char wanted, const char *path)
{
	u_int status = SSH2_FX_OK;

	if (type == SSH2_FXP_STATUS)
		stream_check_reply(l, sshbuf_get_u32(m, &status), "status");
	else if (type != wanted)
		stream_fatal(l, "Expected packet of type %u for \"%s\", "
		    "got %u", wanted, path, type);
	return status;
}
