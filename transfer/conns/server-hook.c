/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * See server-hook.h. All decisions are made in request-window.c. This file
 * sends the query for limits, recognises its reply, and keeps what the server
 * has said.
 */

#include "includes.h"

#include <sys/types.h>
#include <sys/uio.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log.h"
#include "misc.h"
#include "sftp.h"
#include "sftp-common.h"
#include "sftp-client.h"
#include "sshbuf.h"
#include "ssherr.h"
#include "xmalloc.h"

#include "clock.h"
#include "conns-hook.h"
#include "early-requests.h"
#include "early-requests-hook.h"
#include "hayopt.h"
#include "machine-hook.h"
#include "rendezvous.h"
#include "report-hook.h"
#include "request-window.h"
#include "server-hook.h"
#include "sftp-request-hook.h"
#include "sftp-stream-hook.h"
#include "shmpipe-hook.h"
#include "stall-stats.h"
#include "stock-hook.h"

/* Bounds of a request in bytes; upstream's messages have 256 KiB at most. */
#define REQUEST_MAX	(255 * 1024)
#define REQUEST_MIN	64

/*
 * A tree has TREE_MIN bytes in flight at first and at least, and TREE_PATHS
 * times what the path holds at most: slow start needs twice what a path holds,
 * and the rate that was measured is late by half a round trip.
 */
#define TREE_MIN	(1024 * 1024)
#define TREE_PATHS	4

/* No request of others has this ID: early-requests.h has those above. */
#define FIGURES_ID	(EARLY_REQUESTS_ID - 1)

/* Real paths that are asked for ahead: a target, and a name in it */
#define PATHS_MAX	2

/* A real path that was asked for before it is needed */
struct prefetched_path {
	u_int	 next;			/* it is good before this request */
	char	*path;
	char	*real;			/* NULL: no answer yet, or none */
	int	 in_flight;			/* for its reply */
};

struct server {
	struct request_sink sink;	/* the first member */
	struct sshbuf *request;		/* that is being built for it */
	struct server_info info;
	struct server *next;
	struct sftp_conn *conn;
	int	 chosen;		/* see server_open() */
	void	(*drain)(void);	/* of who has it; NULL: none can ask */
	int	 is_acquired;
	struct bwlimit limit;		/* of -l */

	/* the rest only if it is tuned */
	u_int	 stock_requests;	/* stock's maximum */
	u_int	 download;		/* the server's size; 0: unknown */
	int	 is_alone;		/* one file is copied, not a tree */

	struct request_window *flow;		/* NULL: stock decides */

	char	*kept_path;		/* of the last lstat; NULL: none */
	Attrib	 kept;			/* its result */
	u_int	 kept_id;		/* of the request right after it */

	struct prefetched_path prefetched[PATHS_MAX];

	int	 nfigures;			/* so often in this copy */
	int	 has_copied;		/* this is not the first one */
	uint64_t copy_us;		/* when it began */
	struct stall_stats from, now;	/* what was told first and last */
};

static struct server *servers;		/* of this process */

/* Requests that are sent at once, between upstream's */

static struct sshbuf *
begin_request(struct request_sink *sink)
{
	struct server *q = (struct server *)sink;
	int r;

	if ((q->request = sshbuf_new()) == NULL)
		fatal_f("sshbuf_new failed");
	if ((r = sshbuf_put_u32(q->request, 0)) != 0)
		fatal_fr(r, "compose");
	return q->request;
}

static void
end_request(struct request_sink *sink)
{
	struct server *q = (struct server *)sink;
	int fd = q->info.conn.fd_out;
	struct iovec iov = { sshbuf_mutable_ptr(q->request),
	    sshbuf_len(q->request) };

	POKE_U32(iov.iov_base, iov.iov_len - 4);
	if (!early_requests_has_reply(fd, (u_char *)iov.iov_base + 4,
	    iov.iov_len - 4) && shmpipe_send(fd, &iov, 1, NULL, NULL) !=
	    sshbuf_len(q->request))
		fatal("Couldn't send packet: %s", strerror(errno));
	sshbuf_free(q->request);
}

/* The table */

struct server *
server_of(const struct sftp_conn *conn)
{
	struct server *q;

	for (q = servers; q != NULL && q->conn != conn; q = q->next)
		;
	return q;
}

/* Returns NULL for a connection that is left to stock code. */
static struct server *
find_tuned(const struct sftp_conn *conn)
{
	struct server *q = server_of(conn);

	return q != NULL && q->info.is_tuned ? q : NULL;
}

static void
forget_path(struct prefetched_path *a)
{
	free(a->path);
	free(a->real);
	memset(a, 0, sizeof(*a));
}

/* Forgets those with this descriptor, or at this address: they have ended. */
static void
forget_servers(int fd, const struct sftp_conn *conn)
{
	struct server **place = &servers, *q;
	size_t i;

	while ((q = *place) != NULL) {
		if (q->info.conn.fd_in != fd && q->conn != conn) {
			place = &q->next;
			continue;
		}
		*place = q->next;
		conns_drop_idle(&q->info.idle_conns);
		request_window_free(q->flow);
		free(q->kept_path);
		for (i = 0; i < PATHS_MAX; i++)
			forget_path(&q->prefetched[i]);
		free(q);
	}
}

void
server_forget(int fd)
{
	forget_servers(fd, NULL);
}

void
server_open(struct sftp_conn *conn, int fd, int chosen)
{
	struct server *q;

	forget_servers(fd, conn);
	rendezvous_forget(fd);
	q = xcalloc(1, sizeof(*q));
	q->sink.begin = begin_request;
	q->sink.end = end_request;
	q->conn = conn;
	q->info.conn.fd_in = fd;
	q->chosen = chosen;
	q->next = servers;
	servers = q;
	stock_handle_sigpipe();
	if (!chosen || rendezvous_wants_retry())
		conns_announce(fd);
}

/* Who has it */

void
server_drain(struct server *q)
{
	if (!q->is_acquired)
		return;
	if (q->drain == NULL)
		fatal_f("the connection is taken");
	q->drain();
}

/* Messages */

static reply_fn take_limits;

/* Returns the ID of the next request, whose reply "take" gets. */
static u_int
expect(struct server *q, reply_fn *take, void *ctx)
{
	reply_expect(&q->info.replies, *q->info.conn.msg_id, take, ctx);
	return (*q->info.conn.msg_id)++;
}

int
server_begin(struct sftp_conn *conn, const struct server_conn *c, int limits)
{
	struct server *q = server_of(conn);

	q->info.conn = *c;
	shmpipe_end_offer(c->fd_in);
	if (early_requests_begin(c->fd_in))
		q->info.replies.dropped_from = EARLY_REQUESTS_ID;
	report_connect();
	q->info.is_stock = rendezvous_is_stock(c->fd_in);
	/*
	 * Upstream's functions copy the files of an older server, and have the
	 * sizes of its buffers from when a file begins.
	 */
	if (q->chosen || !hayopt_get()->hayate || q->info.is_stock ||
	    sftp_proto_version(conn) < 3)
		return limits;
	q->info.is_tuned = 1;
	q->stock_requests = *c->num_requests;
	if ((q->flow = request_window_new()) == NULL)
		verbose("out of memory: the SFTP requests in flight are not "
		    "tuned");
	if (limits) {
		q->info.limits_in_flight = 1;
		request_extended(&q->sink, expect(q, take_limits, q),
		    "limits@openssh.com", NULL);
	}
	return 0;
}

/* Returns the size of a request for a limit of the server, as upstream does. */
static u_int
bound_request_size(uint64_t limit)
{
	return limit < REQUEST_MIN ? REQUEST_MIN : MINIMUM(limit, REQUEST_MAX);
}

/* Not to be called during a transfer, whose buffers have the old sizes. */
static void
set_request_sizes(struct server *q)
{
	if (q->download == 0)
		return;
	*q->info.conn.download_buflen = q->download;
	*q->info.conn.upload_buflen = q->info.upload;
}

/*
 * The reading half of sftp_get_limits(). The reply may come before or after
 * those to other requests.
 */
static void
read_limits(struct server *q, struct sshbuf *m)
{
	struct reply_limits limits;
	int r;

	if ((r = reply_get_limits(m, &limits)) != 0)
		fatal_fr(r, "parse limits");
	q->info.handles = limits.handles;
	q->download = bound_request_size(limits.read);
	q->info.upload = bound_request_size(limits.write);
	debug3("server upload/download buffer sizes %llu / %llu; "
	    "using %u / %u%s", (unsigned long long)limits.write,
	    (unsigned long long)limits.read, q->info.upload, q->download,
	    q->is_acquired ? " from the next transfer on" : "");
	if (!q->is_acquired)
		set_request_sizes(q);
}

static void
take_real_path(void *ctx, uint32_t id, u_char type, struct sshbuf *m)
{
	struct prefetched_path *a = ctx;

	(void)id;
	a->in_flight = 0;
	if (type == SSH2_FXP_NAME)
		(void)reply_get_path(m, &a->real);
}

/* The reply to INIT lists what the server offers; upstream checks its form. */
static void
read_caps(struct server *q, const struct sshbuf *m)
{
	struct sshbuf *rest;

	if ((rest = sshbuf_from(sshbuf_ptr(m), sshbuf_len(m))) == NULL)
		fatal_f("sshbuf_from failed");
	if (sshbuf_consume(rest, 1 + 4) == 0)
		(void)conns_parse_caps(rest, &q->info.caps);
	sshbuf_free(rest);
}

static void
take_limits(void *ctx, uint32_t id, u_char type, struct sshbuf *m)
{
	struct server *q = ctx;

	(void)id;
	q->info.limits_in_flight = 0;
	if (type == SSH2_FXP_EXTENDED_REPLY)
		read_limits(q, m);
	else
		debug_f("server has no limits, type %u", type);
}

/*
 * The server answers in order, behind all that it has to read or write. So of
 * the first copy all that it did counts, from when the copy began.
 */
static void
begin_span_with_copy(struct server *q, const struct stall_stats *f)
{
	uint64_t us = clock_us() - q->copy_us;

	memset(&q->from, 0, sizeof(q->from));
	q->from.n[STAT_TIME] = f->n[STAT_TIME] -
	    MINIMUM(us, f->n[STAT_TIME]);
	q->nfigures = 2;
}

static void
take_figures(void *ctx, uint32_t id, u_char type, struct sshbuf *m)
{
	struct server *q = ctx;
	struct stall_stats f;

	(void)id;
	q->info.figures_in_flight = 0;
	if (type != SSH2_FXP_EXTENDED_REPLY ||
	    stall_stats_decode(&f, sshbuf_ptr(m), sshbuf_len(m)) == -1) {
		debug("the SFTP server does not report stall statistics");
		q->info.caps &= ~SFTP_CAP_FIGURES;
		return;
	}
	if (q->nfigures == 0 && !q->has_copied)
		begin_span_with_copy(q, &f);
	else if (q->nfigures++ == 0)
		q->from = f;
	q->now = f;
}

/* Returns 1 if the message is for nobody else. */
static int
handle_reply(struct server *q, struct sshbuf *m)
{
	u_char type;

	if (sshbuf_peek_u8(m, 0, &type) == 0 && type == SSH2_FXP_VERSION)
		read_caps(q, m);
	return reply_deliver(&q->info.replies, m);
}

void
server_read_message(void (*get)(struct sftp_conn *, struct sshbuf *, int),
    struct sftp_conn *conn, struct sshbuf *m, int initial)
{
	do
		get(conn, m, initial);
	while (handle_reply(server_of(conn), m));
}

/* What was looked at */

int
server_keep_lstat(struct sftp_conn *conn, const char *path, const Attrib *a,
    int ret)
{
	struct server *q = find_tuned(conn);

	if (q == NULL)
		return ret;
	free(q->kept_path);
	q->kept_path = NULL;
	if (ret == 0 && a != NULL &&
	    (a->flags & SSH2_FILEXFER_ATTR_PERMISSIONS) != 0 &&
	    (S_ISREG(a->perm) || S_ISDIR(a->perm))) {
		q->kept_path = xstrdup(path);
		q->kept = *a;
		q->kept_id = *q->info.conn.msg_id;
	}
	return ret;
}

Attrib *
server_use_kept_lstat(struct server *q, const char *path, Attrib *room)
{
	if (q->kept_path == NULL || q->kept_id != *q->info.conn.msg_id ||
	    !S_ISREG(q->kept.perm) || strcmp(q->kept_path, path) != 0)
		return NULL;
	free(q->kept_path);
	q->kept_path = NULL;
	*room = q->kept;
	return room;
}

void
server_ask_path(struct server *q, const char *path)
{
	struct prefetched_path *a, *place = NULL;

	for (a = q->prefetched; a < q->prefetched + PATHS_MAX; a++) {
		if (!a->in_flight) {
			forget_path(a);
			place = a;
		}
	}
	if (place == NULL)
		return;
	place->path = xstrdup(path);
	request_path(&q->sink, expect(q, take_real_path, place),
	    SSH2_FXP_REALPATH, path, NULL);
	place->in_flight = 1;
	for (a = q->prefetched; a < q->prefetched + PATHS_MAX; a++)
		a->next = *q->info.conn.msg_id + 1; /* behind the next one */
}

/* Returns 1 if nothing was sent since it was asked. */
static int
path_is_fresh(const struct server *q, const struct prefetched_path *a)
{
	return a->real != NULL && *q->info.conn.msg_id == a->next;
}

/* Returns the answer about that path, or with that real path; or NULL. */
static const struct prefetched_path *
find_fresh_path(const struct server *q, const char *path, const char *real)
{
	const struct prefetched_path *a;

	for (a = q->prefetched; a < q->prefetched + PATHS_MAX; a++) {
		if (path_is_fresh(q, a) &&
		    (path == NULL || strcmp(a->path, path) == 0) &&
		    (real == NULL || strcmp(a->real, real) == 0))
			return a;
	}
	return NULL;
}

char *
server_realpath(struct sftp_conn *conn, const char *path,
    char *(*ask)(struct sftp_conn *, const char *, int))
{
	struct server *q = server_of(conn);
	const struct prefetched_path *a;

	/* A tree begins: an argument that was a file can be a directory now. */
	server_drain(q);
	a = find_fresh_path(q, path, NULL);
	return a != NULL ? xstrdup(a->real) : ask(conn, path, 0);
}

const Attrib *
server_last_dir(const struct server *q, const char *real)
{
	return find_fresh_path(q, NULL, real) != NULL && q->kept_path != NULL &&
	    q->kept_id == *q->info.conn.msg_id && S_ISDIR(q->kept.perm) ?
	    &q->kept : NULL;
}

/* Transfers */

/* Sets the number that upstream reads. Logs it if it changes by a quarter. */
static void
update_requests(struct server *q, const char *why)
{
	u_int was = *q->info.conn.num_requests, n =
	    request_window_max_requests(q->flow);

	*q->info.conn.num_requests = n;
	if (n > was + was / 4 || n < was - was / 4)
		debug2("sftp: requests in flight %u -> %u, %s (age %.1f ms, "
		    "rate %.1f MB/s)", was, n, why,
		    request_window_last_age(q->flow) / 1e3,
		    request_window_max_rate(q->flow) / 1e6);
}

/* A transfer begins, with requests of "unit" bytes. */
static void
begin_transfer(struct server *q, u_int unit)
{
	struct request_window_conf conf = { unit, q->stock_requests,
	    machine_options()->window_max };

	if (q->flow == NULL)
		return;
	if (request_window_begin(q->flow, &conf, clock_us()) != 0) {
		verbose("out of memory: the SFTP requests in flight are not "
		    "tuned");
		request_window_free(q->flow);
		q->flow = NULL;
		*q->info.conn.num_requests = q->stock_requests;
		return;
	}
	update_requests(q, "a transfer starts");
}

struct server_info *
server_info(struct server *q)
{
	return &q->info;
}

void
server_reconnected(struct server *q, int caps)
{
	size_t i;

	q->info.replies = (struct replies){ .n = 0 };
	q->info.limits_in_flight = q->info.figures_in_flight = 0;
	for (i = 0; i < PATHS_MAX; i++)
		forget_path(&q->prefetched[i]);
	free(q->kept_path);
	q->kept_path = NULL;
	q->info.caps = caps;
}

/*
 * What the number of requests allows. In a tree it is not much more than the
 * path holds: a stock server reads 16 KiB for each request that it serves, so
 * large WRITEs behind hundreds of small requests would pile up in its memory,
 * which it copies again and again.
 */
static uint64_t
tree_window(const struct server *q)
{
	const struct server_conn *c = &q->info.conn;
	uint64_t unit = MAXIMUM(*c->upload_buflen, *c->download_buflen);
	uint64_t path, most = *c->num_requests * unit;

	if (!q->info.is_tuned)
		return most;
	/* A request takes a little more than its data. */
	if (q->is_alone)
		return most + unit;
	path = q->flow == NULL ? 0 : request_window_path_bytes(q->flow) *
	    TREE_PATHS;
	return MINIMUM(MAXIMUM(path, TREE_MIN), most);
}

u_int
server_acquire(struct server *q, void (*finish)(void), int put, int alone,
    uint64_t *window)
{
	u_int unit;

	server_drain(q);
	q->drain = finish;
	q->is_acquired = 1;
	set_request_sizes(q);
	unit = put ? *q->info.conn.upload_buflen :
	    *q->info.conn.download_buflen;
	begin_transfer(q, unit);
	if (q->info.conn.limit_kbps > 0)
		bandwidth_limit_init(&q->limit, q->info.conn.limit_kbps, unit);
	q->is_alone = alone;
	*window = !q->info.is_tuned || (alone && q->flow != NULL) ?
	    tree_window(q) : TREE_MIN;
	return unit;
}

void
server_release(struct server *q, u_int next_id)
{
	*q->info.conn.msg_id = next_id;
	q->is_acquired = 0;
	set_request_sizes(q);
	if (q->info.is_tuned)
		*q->info.conn.num_requests = q->stock_requests;
}

uint64_t
server_count_acked(struct server *q, size_t len)
{
	if (q->flow != NULL) {
		request_window_count(q->flow, len, clock_us());
		update_requests(q, request_window_reason(q->flow));
	}
	if (q->info.conn.limit_kbps > 0 && len > 0)
		bandwidth_limit(&q->limit, len);
	return tree_window(q);
}

void
server_reset_figures(struct server *q)
{
	q->has_copied = q->nfigures > 0 || q->has_copied;
	q->nfigures = 0;
	q->copy_us = clock_us();
}

void
server_ask_figures(struct server *q, struct sftp_stream *stream)
{
	if (!q->info.is_tuned || q->info.figures_in_flight ||
	    (q->info.caps & SFTP_CAP_FIGURES) == 0)
		return;
	q->info.figures_in_flight = 1;
	reply_expect(&q->info.replies, FIGURES_ID, take_figures, q);
	request_extended(stream_sink(stream), FIGURES_ID, STALL_STATS_REQUEST,
	    NULL);
}

int
server_get_figures(const struct server *q, struct stall_stats *span)
{
	*span = stall_stats_diff(&q->from, &q->now);
	return q->nfigures;
}
