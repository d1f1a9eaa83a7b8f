/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See xask-hook.h. */

#include "includes.h"

#include <sys/types.h>

#include <errno.h>
#include <stdarg.h>
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

#include "blocksum-hook.h"
#include "sftp-tell.h"
#include "sftpq-hook.h"
#include "xask-hook.h"

#define HANDLE_MAX	256		/* says SFTP */
#define READ_SIZE	(32 * 1024)	/* any server can send so much */

struct xask {
	struct xask *next;
	const struct sftp_conn *conn;
	struct sftpq_conn c;
	int	 has_hashes;
	u_int	 id;			/* of the request under way */
};

static struct xask *connections;	/* of this process */

/* What the last server announced, and on which connection */
static struct {
	const struct sftp_conn *conn;
	int	 has_hashes;
} announced;

/* Connections */

void
xask_see(const struct sftp_conn *conn, const struct sshbuf *m)
{
	struct sshbuf *rest;
	char *name;
	u_char type;

	if (sshbuf_peek_u8(m, 0, &type) != 0 || type != SSH2_FXP_VERSION)
		return;
	announced.conn = conn;
	announced.has_hashes = 0;
	if ((rest = sshbuf_from(sshbuf_ptr(m), sshbuf_len(m))) == NULL)
		fatal_f("sshbuf_from failed");
	if (sshbuf_consume(rest, 1 + 4) == 0) {
		while (sshbuf_get_cstring(rest, &name, NULL) == 0) {
			if (strcmp(name, "check-file-name") == 0 ||
			    strcmp(name, "check-file") == 0 ||
			    strcmp(name, "versions") == 0)
				announced.has_hashes = 1;
			free(name);
			if (sshbuf_skip_string(rest) != 0)
				break;
		}
	}
	sshbuf_free(rest);
}

static struct xask *
find(const struct sftp_conn *conn)
{
	struct xask *x;

	for (x = connections; x != NULL && x->conn != conn; x = x->next)
		;
	if (x == NULL)
		fatal_f("no such connection");
	return x;
}

void
xask_init(const struct sftp_conn *conn, const struct sftpq_conn *c)
{
	struct xask *x = xcalloc(1, sizeof(*x));

	x->conn = conn;
	x->c = *c;
	x->has_hashes = announced.conn == conn && announced.has_hashes;
	/* In front: an address may be used again. */
	x->next = connections;
	connections = x;
}

int
xask_is_stock(const struct sftp_conn *conn)
{
	return sftp_tell_is_stock(find(conn)->c.fd_in);
}

int
xask_has_hashes(const struct sftp_conn *conn)
{
	return find(conn)->has_hashes;
}

/* Messages */

static struct sshbuf *
begin(struct xask *x, u_char code)
{
	struct sshbuf *m;
	int r;

	x->id = (*x->c.msg_id)++;
	if ((m = sshbuf_new()) == NULL)
		fatal_f("sshbuf_new failed");
	if ((r = sshbuf_put_u8(m, code)) != 0 ||
	    (r = sshbuf_put_u32(m, x->id)) != 0)
		fatal_fr(r, "compose");
	return m;
}

/* Sends the message and frees it. */
static void
finish(const struct xask *x, struct sshbuf *m)
{
	struct sshbuf *framed;
	int r;

	if ((framed = sshbuf_new()) == NULL)
		fatal_f("sshbuf_new failed");
	if ((r = sshbuf_put_stringb(framed, m)) != 0)
		fatal_fr(r, "compose");
	if (!sftpq_write(&x->c, sshbuf_ptr(framed), sshbuf_len(framed)))
		fatal("Couldn't send packet: %s", strerror(errno));
	sshbuf_free(framed);
	sshbuf_free(m);
}

static void
read_exactly(const struct xask *x, void *p, size_t len)
{
	if (!sftpq_read(&x->c, p, len))
		fatal("Connection closed");
}

/* Waits for the next reply, whatever it answers. The caller frees it. */
static struct sshbuf *
receive(struct xask *x, u_char *type, u_int *id)
{
	struct sshbuf *m;
	u_char head[4], *p;
	u_int len;
	int r;

	if ((m = sshbuf_new()) == NULL)
		fatal_f("sshbuf_new failed");
	do {
		read_exactly(x, head, sizeof(head));
		if ((len = PEEK_U32(head)) > SFTP_MAX_MSG_LENGTH)
			fatal("Received message too long %u", len);
		sshbuf_reset(m);
		if ((r = sshbuf_reserve(m, len, &p)) != 0)
			fatal_fr(r, "reserve");
		read_exactly(x, p, len);
	} while (sftpq_take_limits((struct sftp_conn *)x->conn, m));
	if ((r = sshbuf_get_u8(m, type)) != 0 ||
	    (r = sshbuf_get_u32(m, id)) != 0)
		fatal_fr(r, "parse");
	return m;
}

/*
 * Waits for the reply to the last request. Returns NULL if it is a status, and
 * ends the process if it is neither that nor of type "wanted".
 */
static struct sshbuf *
answer(struct xask *x, u_char wanted, u_int *status)
{
	struct sshbuf *m;
	u_char type;
	u_int id;
	int r;

	m = receive(x, &type, &id);
	if (id != x->id)
		fatal("ID mismatch (%u != %u)", id, x->id);
	if (type == wanted)
		return m;
	if (type != SSH2_FXP_STATUS)
		fatal("Expected packet of type %u, got %u", wanted, type);
	if ((r = sshbuf_get_u32(m, status)) != 0)
		fatal_fr(r, "parse");
	sshbuf_free(m);
	return NULL;
}

/* Hashes */

void
xask_send(struct sftp_conn *conn, const char *path, uint64_t off, uint64_t len,
    uint32_t block)
{
	struct xask *x = find(conn);
	struct sshbuf *m = begin(x, SSH2_FXP_EXTENDED);
	int r;

	if ((r = sshbuf_put_cstring(m, "check-file-name")) != 0 ||
	    (r = sshbuf_put_cstring(m, path)) != 0 ||
	    (r = sshbuf_put_cstring(m, BLOCKSUM_NAME)) != 0 ||
	    (r = sshbuf_put_u64(m, off)) != 0 ||
	    (r = sshbuf_put_u64(m, len)) != 0 ||
	    (r = sshbuf_put_u32(m, block)) != 0)
		fatal_fr(r, "compose");
	finish(x, m);
}

/* The reply begins with the algorithm, that of paramiko with a name more. */
static ssize_t
take_sums(struct sshbuf *m, unsigned char *sums, size_t most)
{
	char *name = NULL;
	size_t len;
	int r;

	if ((r = sshbuf_get_cstring(m, &name, NULL)) == 0 &&
	    strcmp(name, "check-file") == 0) {
		free(name);
		name = NULL;
		r = sshbuf_get_cstring(m, &name, NULL);
	}
	len = sshbuf_len(m);
	if (r != 0 || strcmp(name, BLOCKSUM_NAME) != 0 ||
	    len % BLOCKSUM_LEN != 0 || len / BLOCKSUM_LEN > most) {
		verbose("server sent %zu bytes of %.20s, not at most %zu "
		    "hashes of %s", len, r == 0 ? name : "no hash", most,
		    BLOCKSUM_NAME);
		free(name);
		return -1;
	}
	free(name);
	if ((r = sshbuf_get(m, sums, len)) != 0)
		fatal_fr(r, "parse");
	return (ssize_t)(len / BLOCKSUM_LEN);
}

ssize_t
xask_take(struct sftp_conn *conn, unsigned char *sums, size_t most)
{
	struct xask *x = find(conn);
	u_int status;
	struct sshbuf *m = answer(x, SSH2_FXP_EXTENDED_REPLY, &status);
	ssize_t n;

	if (m == NULL) {
		verbose("server hashes no such range: %s", fx2txt(status));
		if (status == SSH2_FX_OP_UNSUPPORTED)
			x->has_hashes = 0;
		return -1;
	}
	n = take_sums(m, sums, most);
	sshbuf_free(m);
	return n;
}

/* Bytes */

struct range {
	uint64_t off;
	unsigned char *buf;
	struct piece {
		u_int	 id;
		size_t	 at, len;	/* of "buf"; a length of 0: done */
	} *pieces;
	size_t	 npieces, nwaiting;
	int	 failed;
};

static u_char *
open_file(struct xask *x, const char *path, size_t *handle_len)
{
	struct sshbuf *m = begin(x, SSH2_FXP_OPEN);
	u_char *handle;
	u_int status;
	int r;

	if ((r = sshbuf_put_cstring(m, path)) != 0 ||
	    (r = sshbuf_put_u32(m, SSH2_FXF_READ)) != 0 ||
	    (r = sshbuf_put_u32(m, 0)) != 0)	/* no attributes */
		fatal_fr(r, "compose");
	finish(x, m);
	if ((m = answer(x, SSH2_FXP_HANDLE, &status)) == NULL) {
		verbose("server opens no \"%s\" to be read back: %s", path,
		    fx2txt(status));
		return NULL;
	}
	if ((r = sshbuf_get_string(m, &handle, handle_len)) != 0)
		fatal_fr(r, "parse");
	if (*handle_len > HANDLE_MAX)
		fatal("Server sent a handle of %zu bytes", *handle_len);
	sshbuf_free(m);
	return handle;
}

static void
close_file(struct xask *x, u_char *handle, size_t handle_len)
{
	struct sshbuf *m = begin(x, SSH2_FXP_CLOSE);
	u_int status;
	int r;

	if ((r = sshbuf_put_string(m, handle, handle_len)) != 0)
		fatal_fr(r, "compose");
	finish(x, m);
	sshbuf_free(answer(x, SSH2_FXP_STATUS, &status));
	free(handle);
}

static void
ask_piece(struct xask *x, const struct range *g, struct piece *p,
    const u_char *handle, size_t handle_len)
{
	struct sshbuf *m = begin(x, SSH2_FXP_READ);
	int r;

	p->id = x->id;
	if ((r = sshbuf_put_string(m, handle, handle_len)) != 0 ||
	    (r = sshbuf_put_u64(m, g->off + p->at)) != 0 ||
	    (r = sshbuf_put_u32(m, (u_int)p->len)) != 0)
		fatal_fr(r, "compose");
	finish(x, m);
}

static struct piece *
find_piece(const struct range *g, u_int id)
{
	size_t i;

	for (i = 0; i < g->npieces; i++) {
		if (g->pieces[i].len > 0 && g->pieces[i].id == id)
			return &g->pieces[i];
	}
	fatal("Unexpected reply %u", id);
}

/* Takes one reply. A server may send less than it was asked for. */
static void
take_piece(struct xask *x, struct range *g, const u_char *handle,
    size_t handle_len)
{
	const u_char *data;
	struct sshbuf *m;
	struct piece *p;
	u_char type;
	u_int id;
	size_t n = 0;
	int r;

	m = receive(x, &type, &id);
	p = find_piece(g, id);
	if (type == SSH2_FXP_DATA) {
		if ((r = sshbuf_get_string_direct(m, &data, &n)) != 0)
			fatal_fr(r, "parse data");
		if (n > p->len)
			fatal("Received more data than asked for %zu > %zu",
			    n, p->len);
		memcpy(g->buf + p->at, data, n);
	} else if (type != SSH2_FXP_STATUS)
		fatal("Expected SSH2_FXP_DATA(%u) packet, got %u",
		    SSH2_FXP_DATA, type);
	sshbuf_free(m);
	if (n == 0)
		g->failed = 1;
	p->at += n;
	p->len = n == 0 ? 0 : p->len - n;
	if (p->len > 0)
		ask_piece(x, g, p, handle, handle_len);
	else
		g->nwaiting--;
}

int
xask_read(struct sftp_conn *conn, const char *path, uint64_t off,
    unsigned char *buf, size_t len)
{
	struct xask *x = find(conn);
	struct range g = { .off = off, .buf = buf };
	u_char *handle;
	size_t i, handle_len;

	if ((handle = open_file(x, path, &handle_len)) == NULL)
		return -1;
	g.npieces = g.nwaiting = (len + READ_SIZE - 1) / READ_SIZE;
	g.pieces = xcalloc(g.npieces + 1, sizeof(*g.pieces));
	for (i = 0; i < g.npieces; i++) {
		g.pieces[i].at = i * READ_SIZE;
		g.pieces[i].len = MINIMUM(READ_SIZE, len - i * READ_SIZE);
		ask_piece(x, &g, &g.pieces[i], handle, handle_len);
	}
	while (g.nwaiting > 0)
		take_piece(x, &g, handle, handle_len);
	close_file(x, handle, handle_len);
	free(g.pieces);
	return g.failed ? -1 : 0;
}
