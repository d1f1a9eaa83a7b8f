/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See check-hook.h. */

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
#include "check-hook.h"
#include "server-hook.h"

#define HANDLE_MAX	256		/* says SFTP */

/* A server that is asked, one request after the other */
struct check {
	struct sftp_conn *conn;
	const struct server_conn *c;
	u_int	 id;			/* of the request under way */
};

static struct check
check_of(struct sftp_conn *conn)
{
	struct check x = { .conn = conn, .c = server_get_conn(conn) };

	return x;
}

/* Messages */

static struct sshbuf *
begin(struct check *x, u_char code)
{
	struct sshbuf *m;
	int r;

	x->id = (*x->c->msg_id)++;
	if ((m = sshbuf_new()) == NULL)
		fatal_f("sshbuf_new failed");
	if ((r = sshbuf_put_u8(m, code)) != 0 ||
	    (r = sshbuf_put_u32(m, x->id)) != 0)
		fatal_fr(r, "compose");
	return m;
}

/* Sends the message and frees it. */
static void
finish(const struct check *x, struct sshbuf *m)
{
	struct sshbuf *framed;
	int r;

	if ((framed = sshbuf_new()) == NULL)
		fatal_f("sshbuf_new failed");
	if ((r = sshbuf_put_stringb(framed, m)) != 0)
		fatal_fr(r, "compose");
	if (!server_write(x->c, sshbuf_ptr(framed), sshbuf_len(framed)))
		fatal("Couldn't send packet: %s", strerror(errno));
	sshbuf_free(framed);
	sshbuf_free(m);
}

static void
read_exactly(const struct check *x, void *p, size_t len)
{
	if (!server_read(x->c, p, len))
		fatal("Connection closed");
}

/* Waits for the next reply, whatever it answers. The caller frees it. */
static struct sshbuf *
receive(struct check *x, u_char *type, u_int *id)
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
	} while (server_sees(x->conn, m));
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
answer(struct check *x, u_char wanted, u_int *status)
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

u_int
check_send(struct sftp_conn *conn, const char *path, uint64_t off, uint64_t len,
    uint32_t block)
{
	struct check x = check_of(conn);
	struct sshbuf *m = begin(&x, SSH2_FXP_EXTENDED);
	int r;

	if ((r = sshbuf_put_cstring(m, "check-file-name")) != 0 ||
	    (r = sshbuf_put_cstring(m, path)) != 0 ||
	    (r = sshbuf_put_cstring(m, BLOCKSUM_NAME)) != 0 ||
	    (r = sshbuf_put_u64(m, off)) != 0 ||
	    (r = sshbuf_put_u64(m, len)) != 0 ||
	    (r = sshbuf_put_u32(m, block)) != 0)
		fatal_fr(r, "compose");
	finish(&x, m);
	return x.id;
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
check_take(struct sftp_conn *conn, u_int id, unsigned char *sums, size_t most)
{
	struct check x = check_of(conn);
	struct sshbuf *m;
	u_int status;
	ssize_t n;

	x.id = id;
	if ((m = answer(&x, SSH2_FXP_EXTENDED_REPLY, &status)) == NULL) {
		verbose("server hashes no such range: %s", fx2txt(status));
		if (status == SSH2_FX_OP_UNSUPPORTED)
			server_lacks_hashes(conn);
		return -1;
	}
	n = take_sums(m, sums, most);
	sshbuf_free(m);
	return n;
}

/* Bytes */

struct piece {
	struct piece *next;
	u_int	 id;
	uint64_t off;
	size_t	 len;
};

struct reading {
	struct piece *first, **last;	/* under way; where the next one goes */
	u_char	*handle;
	size_t	 handle_len;
	uint64_t next, end;		/* to be asked for */
	uint64_t waiting, window;	/* bytes under way, and the most */
	uint64_t good;			/* there is no gap below */
	size_t	 unit;
	check_take_fn *take;
	void	*arg;
	struct bwlimit limit;
	int	 is_tuned, is_over;
};

/* Returns -1 if the server does not open it. */
static int
open_file(struct check *x, const char *path, struct reading *g)
{
	struct sshbuf *m = begin(x, SSH2_FXP_OPEN);
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
		return -1;
	}
	if ((r = sshbuf_get_string(m, &g->handle, &g->handle_len)) != 0)
		fatal_fr(r, "parse");
	if (g->handle_len > HANDLE_MAX)
		fatal("Server sent a handle of %zu bytes", g->handle_len);
	sshbuf_free(m);
	return 0;
}

static void
close_file(struct check *x, struct reading *g)
{
	struct sshbuf *m = begin(x, SSH2_FXP_CLOSE);
	u_int status;
	int r;

	if ((r = sshbuf_put_string(m, g->handle, g->handle_len)) != 0)
		fatal_fr(r, "compose");
	finish(x, m);
	sshbuf_free(answer(x, SSH2_FXP_STATUS, &status));
	free(g->handle);
}

/* As many requests as a download has, or stock's if stock decides */
static void
begin_window(struct check *x, struct reading *g)
{
	struct server_tree t;

	g->is_tuned = server_is_tuned(x->conn);
	if (g->is_tuned) {
		server_begin_tree(x->conn, 0, 1, &t);
		g->unit = t.unit;
		g->window = t.window;
	} else {
		g->unit = *x->c->download_buflen;
		g->window = (uint64_t)g->unit * *x->c->num_requests;
	}
	if (x->c->limit_kbps > 0)
		bandwidth_limit_init(&g->limit, x->c->limit_kbps, g->unit);
}

static void
ask_piece(struct check *x, struct reading *g, struct piece *p)
{
	struct sshbuf *m = begin(x, SSH2_FXP_READ);
	int r;

	p->id = x->id;
	if ((r = sshbuf_put_string(m, g->handle, g->handle_len)) != 0 ||
	    (r = sshbuf_put_u64(m, p->off)) != 0 ||
	    (r = sshbuf_put_u32(m, (u_int)p->len)) != 0)
		fatal_fr(r, "compose");
	finish(x, m);
}

static void
ask_more(struct check *x, struct reading *g)
{
	struct piece *p;

	while (!g->is_over && g->next < g->end &&
	    (g->waiting == 0 || g->waiting + g->unit <= g->window)) {
		p = xcalloc(1, sizeof(*p));
		p->off = g->next;
		p->len = MINIMUM(g->unit, g->end - g->next);
		*g->last = p;
		g->last = &p->next;
		g->next += p->len;
		g->waiting += p->len;
		ask_piece(x, g, p);
	}
}

/* The request of this reply, and where it hangs */
static struct piece **
find_piece(struct reading *g, u_int id)
{
	struct piece **at;

	for (at = &g->first; *at != NULL; at = &(*at)->next) {
		if ((*at)->id == id)
			return at;
	}
	fatal("Unexpected reply %u", id);
}

static void
remove_piece(struct reading *g, struct piece **at)
{
	struct piece *p = *at;

	*at = p->next;
	if (g->last == &p->next)
		g->last = at;
	free(p);
}

/* Waits for a reply. "len" is 0 if it has no data. The caller frees it. */
static struct sshbuf *
receive_data(struct check *x, struct reading *g, struct piece ***at,
    const u_char **data, size_t *len)
{
	struct sshbuf *m;
	u_char type;
	u_int id;
	int r;

	*len = 0;
	m = receive(x, &type, &id);
	*at = find_piece(g, id);
	if (type == SSH2_FXP_DATA) {
		if ((r = sshbuf_get_string_direct(m, data, len)) != 0)
			fatal_fr(r, "parse data");
		if (*len > (**at)->len)
			fatal("Received more data than asked for %zu > %zu",
			    *len, (**at)->len);
	} else if (type != SSH2_FXP_STATUS)
		fatal("Expected SSH2_FXP_DATA(%u) packet, got %u",
		    SSH2_FXP_DATA, type);
	return m;
}

/* Takes one reply. A server may send less than it was asked for. */
static void
take_piece(struct check *x, struct reading *g)
{
	const u_char *data;
	struct piece **at, *p;
	size_t len;
	struct sshbuf *m = receive_data(x, g, &at, &data, &len);

	p = *at;
	if (len > 0 && !g->take(g->arg, p->off, data, len))
		g->is_over = 1;
	sshbuf_free(m);
	p->off += len;
	p->len -= len;
	g->waiting -= len;
	if (x->c->limit_kbps > 0)
		bandwidth_limit(&g->limit, len);
	if (g->is_tuned && len > 0)
		g->window = server_count_tree(x->conn, len);
	if (p->len > 0 && len > 0 && !g->is_over) {
		ask_piece(x, g, p);
		return;
	}
	if (p->len > 0) {
		g->is_over = 1;
		g->good = MINIMUM(g->good, p->off);
	}
	g->waiting -= p->len;
	remove_piece(g, at);
}

uint64_t
check_read(struct sftp_conn *conn, const char *path, uint64_t off, uint64_t len,
    check_take_fn *take, void *arg)
{
	struct check x = check_of(conn);
	struct reading g = { .next = off, .end = off + len, .take = take,
	    .good = off + len, .arg = arg };

	g.last = &g.first;
	if (open_file(&x, path, &g) == -1)
		return 0;
	begin_window(&x, &g);
	for (;;) {
		ask_more(&x, &g);
		if (g.first == NULL)
			break;
		take_piece(&x, &g);
	}
	close_file(&x, &g);
	return MINIMUM(g.good, g.next) - off;
}
