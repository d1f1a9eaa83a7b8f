/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * See sftpq-hook.h.  A request in flight is a credit: it allows the server to
 * send (or to acknowledge) one buffer more.  So the stream of a connection is
 * the bytes of all its replies, the edge is what has been asked for, and the
 * age of a request is the in-band RTT.  There is no other here, since scp
 * sees only a local socket, and no reader to lag: scp itself is the reader.
 */

#include "includes.h"

#include <sys/types.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "atomicio.h"
#include "log.h"
#include "misc.h"
#include "sftp.h"
#include "sftp-common.h"
#include "sshbuf.h"
#include "ssherr.h"
#include "xmalloc.h"

#include "bdp.h"
#include "clock.h"
#include "hayopt.h"
#include "sftp-tell.h"
#include "sftpq-hook.h"
#include "wtune.h"

/* Requests are never larger than this; upstream's bound is 256 KiB a message. */
#define REQUEST_MAX	(255 * 1024)
#define REQUEST_MIN	64
#define REPLY_MAX	1024		/* of the limits: 37 bytes */

/*
 * Twice stock's requests, 32 MiB, are what a fast path to the other side of
 * the earth holds: allowed without asking.
 */
#define START_TIMES	2

/*
 * But never more than two seconds' worth: no path is longer, and ^C waits for
 * all of it.  Eight to begin with, or 2 MiB, outlast the first seven round
 * trips of slow start, and by then a rate is known.
 */
#define SECONDS_UNDER_WAY	2
#define REQUESTS_MIN		8

struct sftpq {
	struct sftp_conn *conn;
	struct sftpq_conn c;
	u_int stock_requests;		/* where stock stops */
	u_int limits_id;		/* of the deferred query; 0: none */

	struct bdp *bdp;		/* NULL: stock decides */
	struct wtune *wtune;
	uint64_t window, taken;		/* bytes */
	uint64_t asked;			/* stream position */
	u_int unit;			/* bytes of one request */
	u_int failed;			/* first bad status of this upload */

	char *kept_path;		/* what lstat said of it; NULL: none */
	Attrib kept;
	u_int kept_id;			/* the next request's, if it is next */
};

static struct sftpq **qs;		/* one per connection of this process */
static size_t nqs;

/* NULL for a connection that is left to stock code. */
static struct sftpq *
q_of(const struct sftp_conn *conn)
{
	size_t i;

	for (i = nqs; i > 0; i--)	/* an address may come again */
		if (qs[i - 1]->conn == conn)
			return qs[i - 1];
	return NULL;
}

/* As sftp_get_limits(), but its reply is taken when the next one is due. */
static u_int
send_limits_query(const struct sftpq_conn *c)
{
	struct sshbuf *m, *framed;
	u_int id = (*c->msg_id)++;
	int r;

	if ((m = sshbuf_new()) == NULL || (framed = sshbuf_new()) == NULL)
		fatal_f("sshbuf_new failed");
	if ((r = sshbuf_put_u8(m, SSH2_FXP_EXTENDED)) != 0 ||
	    (r = sshbuf_put_u32(m, id)) != 0 ||
	    (r = sshbuf_put_cstring(m, "limits@openssh.com")) != 0 ||
	    (r = sshbuf_put_stringb(framed, m)) != 0)
		fatal_fr(r, "compose");
	if (atomicio(vwrite, c->fd_out, sshbuf_mutable_ptr(framed),
	    sshbuf_len(framed)) != sshbuf_len(framed))
		fatal("Couldn't send packet: %s", strerror(errno));
	sshbuf_free(m);
	sshbuf_free(framed);
	return id;
}

int
sftpq_init(struct sftp_conn *conn, const struct sftpq_conn *c, int limits,
    int chosen)
{
	struct sftpq *q;

	if ((q = q_of(conn)) != NULL)
		q->conn = NULL;		/* of a connection that is gone */
	if (chosen || !hayopt_get()->hayate || sftp_told_stock(c->fd_in))
		return limits;
	q = xcalloc(1, sizeof(*q));
	q->conn = conn;
	q->c = *c;
	q->stock_requests = *c->num_requests;
	qs = xrecallocarray(qs, nqs, nqs + 1, sizeof(*qs));
	qs[nqs++] = q;
	if (limits)
		q->limits_id = send_limits_query(c);
	return 0;
}

static void
read_reply(int fd, struct sshbuf *m)
{
	u_char *p;
	u_int len;
	int r;

	if ((r = sshbuf_reserve(m, 4, &p)) != 0)
		fatal_fr(r, "reserve");
	if (atomicio(read, fd, p, 4) != 4)
		fatal("Connection closed");
	if ((r = sshbuf_get_u32(m, &len)) != 0)
		fatal_fr(r, "parse");
	if (len > REPLY_MAX)
		fatal("Received message too long %u", len);
	if ((r = sshbuf_reserve(m, len, &p)) != 0)
		fatal_fr(r, "reserve");
	if (atomicio(read, fd, p, len) != len)
		fatal("Connection closed");
}

/* A limit of a request as upstream would take it. */
static u_int
request_size(uint64_t limit)
{
	return limit < REQUEST_MIN ? REQUEST_MIN : MINIMUM(limit, REQUEST_MAX);
}

void
sftpq_settle(struct sftp_conn *conn)
{
	struct sftpq *q = q_of(conn);
	uint64_t packet, down, up, handles;
	struct sshbuf *m;
	u_int id;
	u_char type;
	int r;

	if (q == NULL || q->limits_id == 0)
		return;
	if ((m = sshbuf_new()) == NULL)
		fatal_f("sshbuf_new failed");
	read_reply(q->c.fd_in, m);
	if ((r = sshbuf_get_u8(m, &type)) != 0 ||
	    (r = sshbuf_get_u32(m, &id)) != 0)
		fatal_fr(r, "parse");
	if (id != q->limits_id)
		fatal("ID mismatch (%u != %u)", id, q->limits_id);
	q->limits_id = 0;
	if (type != SSH2_FXP_EXTENDED_REPLY) {
		debug_f("server has no limits, type %u", type);
	} else if ((r = sshbuf_get_u64(m, &packet)) != 0 ||
	    (r = sshbuf_get_u64(m, &down)) != 0 ||
	    (r = sshbuf_get_u64(m, &up)) != 0 ||
	    (r = sshbuf_get_u64(m, &handles)) != 0) {
		fatal_fr(r, "parse limits");
	} else {
		*q->c.download_buflen = request_size(down);
		*q->c.upload_buflen = request_size(up);
		debug3("server upload/download buffer sizes %llu / %llu; "
		    "using %u / %u", (unsigned long long)up,
		    (unsigned long long)down, *q->c.upload_buflen,
		    *q->c.download_buflen);
	}
	sshbuf_free(m);
}

int
sftpq_keep_stat(struct sftp_conn *conn, const char *path, const Attrib *a,
    int ret)
{
	struct sftpq *q = q_of(conn);

	if (q == NULL)
		return ret;
	free(q->kept_path);
	q->kept_path = NULL;
	if (ret == 0 && a != NULL &&
	    (a->flags & SSH2_FILEXFER_ATTR_PERMISSIONS) != 0 &&
	    S_ISREG(a->perm)) {
		q->kept_path = xstrdup(path);
		q->kept = *a;
		q->kept_id = *q->c.msg_id;
	}
	return ret;
}

int
sftpq_kept_stat(struct sftp_conn *conn, const char *path, Attrib *a)
{
	struct sftpq *q = q_of(conn);

	if (q == NULL || q->kept_path == NULL ||
	    q->kept_id != *q->c.msg_id || strcmp(q->kept_path, path) != 0)
		return 0;
	if (a != NULL)
		*a = q->kept;
	return 1;
}

/* What the window means in requests; said where it changes much. */
static void
move_requests(struct sftpq *q, const char *why)
{
	u_int was = *q->c.num_requests;
	uint64_t n = q->window, rate = bdp_rate_max(q->bdp);

	n = MINIMUM(n, MAXIMUM(rate * SECONDS_UNDER_WAY,
	    (uint64_t)REQUESTS_MIN * q->unit));
	*q->c.num_requests = n = n / q->unit;
	if (n > was + was / 4 || n < was - was / 4)
		debug2("sftp: requests under way %u -> %u, %s (age %.1f ms, "
		    "rate %.1f MB/s)", was, (u_int)n, why,
		    bdp_last_age(q->bdp) / 1e3, rate / 1e6);
}

/* A transfer begins, with requests of "unit" bytes. */
static void
begin(struct sftpq *q, u_int unit)
{
	struct wtune_conf conf = { .floor = (uint64_t)q->stock_requests * unit,
	    .gain_quarters = 8 };

	q->failed = SSH2_FX_OK;
	if (q->bdp != NULL && q->unit == unit) {
		bdp_restart_ages(q->bdp);
		return;
	}
	conf.ceiling = MAXIMUM(hayopt_get()->window_max, conf.floor);
	bdp_free(q->bdp);
	wtune_free(q->wtune);
	q->bdp = bdp_new();
	q->wtune = wtune_new(&conf);
	if (q->bdp == NULL || q->wtune == NULL) {
		verbose("no memory to tune the requests under way");
		bdp_free(q->bdp);
		q->bdp = NULL;
		return;
	}
	q->unit = unit;
	q->window = MINIMUM(START_TIMES * conf.floor, conf.ceiling);
	move_requests(q, "a transfer starts");
}

/* "len" more bytes are through: sample, and move the number of requests. */
static void
through(struct sftpq *q, size_t len)
{
	struct wtune_now now = { clock_us(), q->window, q->taken += len, 0,
	    UINT64_MAX / 4 };
	int64_t delta = 0;

	bdp_arrived(q->bdp, q->taken, now.now_us);
	if (bdp_due(q->bdp, now.now_us)) {
		bdp_taken(q->bdp, q->taken, now.now_us);
		delta = wtune_decide(q->wtune, q->bdp, &now);
	}
	q->window += delta;
	move_requests(q, wtune_why_text(wtune_why(q->wtune)));
	/* what grew is asked for at once, so its age says nothing */
	if (delta <= 0)
		bdp_granted(q->bdp, q->asked, now.now_us);
	q->asked = q->taken + (uint64_t)*q->c.num_requests * q->unit;
}

u_int
sftpq_start(struct sftp_conn *conn, uint64_t size)
{
	struct sftpq *q = q_of(conn);

	if (q == NULL)
		return 1;
	begin(q, *q->c.download_buflen);
	if (q->bdp == NULL || size == 0)
		return 1;
	/* one past the end, to see the end */
	return MINIMUM(*q->c.num_requests, size / q->unit + 1);
}

void
sftpq_read(struct sftp_conn *conn, size_t len, u_int *max_req)
{
	struct sftpq *q = q_of(conn);

	if (q == NULL || q->bdp == NULL || *max_req == 0)
		return;
	through(q, len);
	*max_req = *q->c.num_requests;
}

uint32_t
sftpq_first_ack(struct sftp_conn *conn, uint32_t id)
{
	struct sftpq *q = q_of(conn);

	if (q == NULL)
		return id;
	begin(q, *q->c.upload_buflen);
	return 0;
}

void
sftpq_written(struct sftp_conn *conn, size_t len, u_int *status)
{
	struct sftpq *q = q_of(conn);

	if (q == NULL)
		return;
	if (q->failed == SSH2_FX_OK)
		q->failed = *status;
	*status = q->failed;
	if (q->bdp != NULL)
		through(q, len);
}
