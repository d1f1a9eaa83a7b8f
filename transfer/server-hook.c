/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * See server-hook.h. All decisions are made in flow.c. This file sends the
 * query for limits, recognises its reply, and keeps the result of one lstat.
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
#include "sshbuf.h"
#include "ssherr.h"
#include "xmalloc.h"

#include "check-hook.h"
#include "clock.h"
#include "first-hook.h"
#include "flow.h"
#include "hayopt.h"
#include "hop-hook.h"
#include "list-hook.h"
#include "report-hook.h"
#include "server-hook.h"
#include "tell.h"

/* Bounds of a request in bytes; upstream's messages have 256 KiB at most. */
#define REQUEST_MAX	(255 * 1024)
#define REQUEST_MIN	64

/*
 * A tree has so many bytes under way at first and at least, and as many paths'
 * worth at most: slow start needs twice what a path holds, and the rate that
 * was measured is late by half a round trip.
 */
#define TREE_LEAST	(1024 * 1024)
#define TREE_PATHS	4

/* Statuses that are not waited for: a size, and times with a mode */
#define LATER_MOST	2

struct server {
	struct sftp_conn *conn;
	struct server_conn c;
	u_int stock_requests;		/* stock's maximum */
	u_int limits_id;		/* of the query under way; 0: none */
	u_int download, upload;		/* the server's sizes; 0: unknown */
	uint64_t handles;		/* the server's limit; 0: unknown */
	int has_begun;			/* a transfer has allocated buffers */

	struct flow *flow;	/* NULL: stock decides */
	u_int failed;			/* first error status of this upload */
	uint64_t moved;			/* bytes, by upstream's functions */

	char *kept_path;		/* of the last lstat; NULL: none */
	Attrib kept;			/* its result */
	u_int kept_id;			/* of the request right after it */

	u_int later[LATER_MOST];	/* requests; 0: none */
};

static struct server **connections;	/* of this process */
static size_t nconnections;

/* Returns NULL for a connection that is left to stock code. */
static struct server *
find_connection(const struct sftp_conn *conn)
{
	size_t i;

	/* The latest one first: an address may be used again. */
	for (i = nconnections; i > 0; i--) {
		if (connections[i - 1]->conn == conn)
			return connections[i - 1];
	}
	return NULL;
}

int
server_write(const struct server_conn *c, const void *p, size_t len)
{
	struct iovec iov = { (void *)p, len };

	return hop_send(c->fd_out, &iov, 1, NULL, NULL) == len;
}

int
server_read(const struct server_conn *c, void *p, size_t len)
{
	return hop_receive(c->fd_in, p, len, NULL, NULL) == len;
}

u_int
server_ask(const struct server_conn *c, u_char code, const char *text)
{
	struct sshbuf *m, *framed;
	u_int id = (*c->msg_id)++;
	int r;

	if ((m = sshbuf_new()) == NULL || (framed = sshbuf_new()) == NULL)
		fatal_f("sshbuf_new failed");
	if ((r = sshbuf_put_u8(m, code)) != 0 ||
	    (r = sshbuf_put_u32(m, id)) != 0 ||
	    (r = sshbuf_put_cstring(m, text)) != 0 ||
	    (r = sshbuf_put_stringb(framed, m)) != 0)
		fatal_fr(r, "compose");
	if (!server_write(c, sshbuf_ptr(framed), sshbuf_len(framed)))
		fatal("Couldn't send packet: %s", strerror(errno));
	sshbuf_free(m);
	sshbuf_free(framed);
	return id;
}

int
server_init(struct sftp_conn *conn, const struct server_conn *c, int limits,
    int chosen)
{
	struct server *q;

	hop_settle(c->fd_in);
	check_init(conn, c);
	first_init(conn);
	report_connect();
	if ((q = find_connection(conn)) != NULL)
		q->conn = NULL;		/* of an old connection */
	if (chosen || !hayopt_get()->hayate || tell_is_stock(c->fd_in))
		return limits;
	q = xcalloc(1, sizeof(*q));
	q->conn = conn;
	q->c = *c;
	q->stock_requests = *c->num_requests;
	if ((q->flow = flow_new()) == NULL)
		verbose("no memory to tune the requests under way");
	connections = xrecallocarray(connections, nconnections,
	    nconnections + 1, sizeof(*connections));
	connections[nconnections++] = q;
	if (limits)
		q->limits_id = server_ask(c, SSH2_FXP_EXTENDED,
		    "limits@openssh.com");
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
	*q->c.download_buflen = q->download;
	*q->c.upload_buflen = q->upload;
}

/*
 * The reading half of sftp_get_limits(). The reply may come before or after
 * those to other requests.
 */
static void
read_limits(struct server *q, struct sshbuf *m)
{
	uint64_t packet, down, up;
	int r;

	if ((r = sshbuf_get_u64(m, &packet)) != 0 ||
	    (r = sshbuf_get_u64(m, &down)) != 0 ||
	    (r = sshbuf_get_u64(m, &up)) != 0 ||
	    (r = sshbuf_get_u64(m, &q->handles)) != 0)
		fatal_fr(r, "parse limits");
	q->download = bound_request_size(down);
	q->upload = bound_request_size(up);
	debug3("server upload/download buffer sizes %llu / %llu; "
	    "using %u / %u%s", (unsigned long long)up,
	    (unsigned long long)down, q->upload, q->download,
	    q->has_begun ? " from the next transfer on" : "");
	if (!q->has_begun)
		set_request_sizes(q);
}

int
server_answer_later(struct sftp_conn *conn, u_int id)
{
	struct server *q = find_connection(conn);
	size_t i;

	if (q == NULL || q->handles == 0)
		return 0;
	for (i = 0; i < LATER_MOST; i++) {
		if (q->later[i] == 0) {
			q->later[i] = id;
			return 1;
		}
	}
	return 0;
}

/* Returns 1 if this is a status that was not waited for. */
static int
take_later(struct server *q, const struct sshbuf *m, u_char type, u_int id)
{
	u_int status;
	size_t i;

	for (i = 0; i < LATER_MOST; i++) {
		if (q->later[i] != 0 && q->later[i] == id)
			break;
	}
	if (i == LATER_MOST || type != SSH2_FXP_STATUS ||
	    sshbuf_peek_u32(m, 5, &status) != 0)
		return 0;
	q->later[i] = 0;
	if (status != SSH2_FX_OK)
		error("remote fsetstat: %s", fx2txt(status));
	return 1;
}

int
server_take_limits(struct sftp_conn *conn, struct sshbuf *m)
{
	struct server *q = find_connection(conn);
	u_char type;
	u_int id;

	check_see(conn, m);
	if (q == NULL || sshbuf_peek_u8(m, 0, &type) != 0 ||
	    sshbuf_peek_u32(m, 1, &id) != 0)
		return 0;
	if (take_later(q, m, type, id) || first_take(conn, m))
		return 1;
	if (q->limits_id == 0 || id != q->limits_id ||
	    (type != SSH2_FXP_EXTENDED_REPLY && type != SSH2_FXP_STATUS))
		return 0;
	q->limits_id = 0;
	if (type == SSH2_FXP_STATUS)
		debug_f("server has no limits, type %u", type);
	else if (sshbuf_consume(m, 5) == 0)
		read_limits(q, m);
	return 1;
}

int
server_keep_lstat(struct sftp_conn *conn, const char *path, const Attrib *a,
    int ret)
{
	struct server *q = find_connection(conn);

	if (q == NULL)
		return ret;
	free(q->kept_path);
	q->kept_path = NULL;
	if (ret == 0 && a != NULL &&
	    (a->flags & SSH2_FILEXFER_ATTR_PERMISSIONS) != 0 &&
	    (S_ISREG(a->perm) || S_ISDIR(a->perm))) {
		q->kept_path = xstrdup(path);
		q->kept = *a;
		q->kept_id = *q->c.msg_id;
	}
	return ret;
}

Attrib *
server_use_kept_lstat(struct sftp_conn *conn, const char *path, Attrib *a,
    Attrib *room)
{
	struct server *q = find_connection(conn);

	if (a != NULL || q == NULL || q->kept_path == NULL ||
	    q->kept_id != *q->c.msg_id || !S_ISREG(q->kept.perm) ||
	    strcmp(q->kept_path, path) != 0)
		return a;
	free(q->kept_path);
	q->kept_path = NULL;
	*room = q->kept;
	return room;
}

const Attrib *
server_last_lstat(const struct sftp_conn *conn)
{
	const struct server *q = find_connection(conn);

	return q != NULL && q->kept_path != NULL &&
	    q->kept_id == *q->c.msg_id ? &q->kept : NULL;
}

char *
server_realpath(struct sftp_conn *conn, const char *path,
    char *(*ask)(struct sftp_conn *, const char *, int))
{
	char *real = NULL;

	/* A tree begins: an argument that was a file can be a directory now. */
	list_finish();
	if (find_connection(conn) != NULL)
		real = first_realpath(conn, path);
	return real != NULL ? real : ask(conn, path, 0);
}

/* Sets the number that upstream reads. Logs it if it changes by a quarter. */
static void
update_requests(struct server *q, const char *why)
{
	u_int was = *q->c.num_requests, n = flow_max_requests(q->flow);

	*q->c.num_requests = n;
	if (n > was + was / 4 || n < was - was / 4)
		debug2("sftp: requests under way %u -> %u, %s (age %.1f ms, "
		    "rate %.1f MB/s)", was, n, why,
		    flow_last_age(q->flow) / 1e3,
		    flow_max_rate(q->flow) / 1e6);
}

/* A transfer begins, with requests of "unit" bytes. */
static void
begin_transfer(struct server *q, u_int unit)
{
	struct flow_conf conf = { unit, q->stock_requests,
	    hayopt_get()->window_max };

	q->has_begun = 1;
	q->failed = SSH2_FX_OK;
	if (q->flow == NULL)
		return;
	if (flow_begin(q->flow, &conf, clock_us()) != 0) {
		verbose("no memory to tune the requests under way");
		flow_free(q->flow);
		q->flow = NULL;
		*q->c.num_requests = q->stock_requests;
		return;
	}
	update_requests(q, "a transfer starts");
}

/* "len" more bytes were read or acknowledged. */
static void
count_bytes(struct server *q, size_t len)
{
	flow_count(q->flow, len, clock_us());
	update_requests(q, flow_reason(q->flow));
}

u_int
server_begin_download(struct sftp_conn *conn, uint64_t size, u_int unit)
{
	struct server *q = find_connection(conn);

	if (q == NULL)
		return 1;
	begin_transfer(q, unit);
	set_request_sizes(q);
	if (q->flow == NULL || size == 0)
		return 1;
	/* One request more than the file needs: it finds the end. */
	return MINIMUM(*q->c.num_requests, size / unit + 1);
}

void
server_count_read(struct sftp_conn *conn, size_t len, u_int *max_req)
{
	struct server *q = find_connection(conn);

	if (q != NULL)
		q->moved += len;
	if (q == NULL || q->flow == NULL || *max_req == 0)
		return;
	count_bytes(q, len);
	*max_req = *q->c.num_requests;
}

uint32_t
server_begin_upload(struct sftp_conn *conn, uint32_t id)
{
	struct server *q = find_connection(conn);

	if (q == NULL)
		return id;
	set_request_sizes(q);
	begin_transfer(q, *q->c.upload_buflen);
	return 0;
}

int
server_must_wait(struct sftp_conn *conn, u_int under_way)
{
	struct server *q = find_connection(conn);

	return q != NULL && q->flow != NULL && under_way > 0 &&
	    under_way >= *q->c.num_requests;
}

void
server_count_written(struct sftp_conn *conn, size_t *len, u_int *status)
{
	struct server *q = find_connection(conn);

	if (q == NULL)
		return;
	if (q->failed == SSH2_FX_OK)
		q->failed = *status;
	if ((*status = q->failed) != SSH2_FX_OK)
		*len = 0;
	q->moved += *len;
	if (*status == SSH2_FX_OK && q->flow != NULL)
		count_bytes(q, *len);
}

int
server_must_truncate(struct sftp_conn *conn)
{
	struct server *q = find_connection(conn);

	return q != NULL && q->failed != SSH2_FX_OK;
}

int
server_is_tuned(const struct sftp_conn *conn)
{
	return find_connection(conn) != NULL;
}

int
server_can_stripe(const struct sftp_conn *conn, u_int unit)
{
	const struct server *q = find_connection(conn);

	return q != NULL && q->flow != NULL && q->upload >= unit &&
	    tell_offers(q->c.fd_in) != -1;
}

const struct server_conn *
server_get_conn(const struct sftp_conn *conn)
{
	return &find_connection(conn)->c;
}

/*
 * What the number of requests allows, but not much more than the path holds.
 * A stock server reads 16 KiB for each request that it serves, so large WRITEs
 * behind hundreds of small requests would pile up in its memory, which it
 * copies again and again.
 */
static uint64_t
tree_window(const struct server *q)
{
	uint64_t unit = MAXIMUM(*q->c.upload_buflen, *q->c.download_buflen);
	uint64_t path = TREE_PATHS * flow_path(q->flow);

	return MINIMUM(MAXIMUM(path, TREE_LEAST), *q->c.num_requests * unit);
}

void
server_begin_tree(struct sftp_conn *conn, int put, struct server_tree *tree)
{
	struct server *q = find_connection(conn);

	set_request_sizes(q);
	tree->fd_in = q->c.fd_in;
	tree->fd_out = q->c.fd_out;
	tree->msg_id = q->c.msg_id;
	tree->unit = put ? *q->c.upload_buflen : *q->c.download_buflen;
	begin_transfer(q, tree->unit);
	tree->window = TREE_LEAST;
}

uint64_t
server_count_tree(struct sftp_conn *conn, size_t len)
{
	struct server *q = find_connection(conn);

	if (q->flow == NULL)
		return TREE_LEAST;
	count_bytes(q, len);
	return tree_window(q);
}

uint64_t
server_rtt(const struct sftp_conn *conn)
{
	const struct server *q = find_connection(conn);

	return q->flow == NULL ? 0 : flow_rtt(q->flow);
}

void
server_add_moved(struct sftp_conn *conn, uint64_t bytes)
{
	find_connection(conn)->moved += bytes;
}

uint64_t
server_moved(const struct sftp_conn *conn)
{
	return find_connection(conn)->moved;
}

uint64_t
server_handles(const struct sftp_conn *conn)
{
	const struct server *q = find_connection(conn);

	return q->handles;
}
