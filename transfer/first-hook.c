/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See first-hook.h. */

#include "includes.h"

#include <sys/types.h>
#include <sys/stat.h>

#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "sftp.h"
#include "sftp-common.h"
#include "sshbuf.h"
#include "ssherr.h"
#include "xmalloc.h"

#include "first-hook.h"
#include "server-hook.h"

#define ASKED_MOST	2

static struct asked {
	const struct sftp_conn *conn;	/* NULL: free */
	u_int	 id, next;		/* next: good before this one */
	char	*path, *real;		/* real: NULL: no answer yet, or none */
	int	 waits;
} asked[ASKED_MOST];

static void
forget(struct asked *q)
{
	free(q->path);
	free(q->real);
	memset(q, 0, sizeof(*q));
}

void
first_init(const struct sftp_conn *conn)
{
	struct asked *q;

	for (q = asked; q < asked + ASKED_MOST; q++) {
		if (q->conn == conn)
			forget(q);
	}
}

void
first_ask(struct sftp_conn *conn, const char *path)
{
	const struct server_conn *c = server_get_conn(conn);
	struct asked *q, *place = NULL;

	for (q = asked; q < asked + ASKED_MOST; q++) {
		if (!q->waits) {
			forget(q);
			place = q;
		}
	}
	if ((q = place) == NULL)
		return;
	q->conn = conn;
	q->path = xstrdup(path);
	q->id = server_ask(c, SSH2_FXP_REALPATH, path);
	q->waits = 1;
	for (q = asked; q < asked + ASKED_MOST; q++) {
		if (q->conn == conn)	/* behind the one that follows */
			q->next = *c->msg_id + 1;
	}
}

/* Copies the real path out of a message. */
static void
read_name(struct asked *q, const struct sshbuf *m)
{
	struct sshbuf *rest = sshbuf_from(sshbuf_ptr(m), sshbuf_len(m));
	u_int count;

	if (rest == NULL)
		fatal_f("sshbuf_from failed");
	if (sshbuf_consume(rest, 1 + 4) != 0 ||
	    sshbuf_get_u32(rest, &count) != 0 || count != 1 ||
	    sshbuf_get_cstring(rest, &q->real, NULL) != 0)
		q->real = NULL;
	sshbuf_free(rest);
}

int
first_take(const struct sftp_conn *conn, const struct sshbuf *m)
{
	struct asked *q;
	u_char type;
	u_int id;

	if (sshbuf_peek_u8(m, 0, &type) != 0 ||
	    sshbuf_peek_u32(m, 1, &id) != 0 ||
	    (type != SSH2_FXP_NAME && type != SSH2_FXP_STATUS))
		return 0;
	for (q = asked; q < asked + ASKED_MOST; q++) {
		if (q->waits && q->conn == conn && q->id == id) {
			q->waits = 0;
			if (type == SSH2_FXP_NAME)
				read_name(q, m);
			return 1;
		}
	}
	return 0;
}

/* Returns 1 if nothing was sent since it was asked. */
static int
is_fresh(struct sftp_conn *conn, const struct asked *q)
{
	u_int id = *server_get_conn(conn)->msg_id;

	return q->conn == conn && q->real != NULL && id == q->next;
}

char *
first_realpath(struct sftp_conn *conn, const char *path)
{
	struct asked *q;

	for (q = asked; q < asked + ASKED_MOST; q++) {
		if (is_fresh(conn, q) && strcmp(q->path, path) == 0)
			return xstrdup(q->real);
	}
	return NULL;
}

const Attrib *
first_dir(struct sftp_conn *conn, const char *real)
{
	const Attrib *a = server_last_lstat(conn);
	struct asked *q;

	for (q = asked; q < asked + ASKED_MOST; q++) {
		if (is_fresh(conn, q) && strcmp(q->real, real) == 0)
			return a != NULL && S_ISDIR(a->perm) ? a : NULL;
	}
	return NULL;
}
