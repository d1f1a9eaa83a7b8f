/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See fetch-hook.h. Errors have the texts of upstream's sftp_download(). */

#include "includes.h"

#include <sys/types.h>
#include <sys/stat.h>
#include <sys/time.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log.h"
#include "misc.h"
#include "progressmeter.h"
#include "sftp.h"
#include "sftp-common.h"
#include "sftp-client.h"
#include "sshbuf.h"
#include "ssherr.h"
#include "xmalloc.h"

#include "clock.h"
#include "fetch.h"
#include "fetch-hook.h"
#include "flow.h"
#include "hayopt.h"
#include "link-hook.h"
#include "links-hook.h"
#include "server-hook.h"
#include "sparse-hook.h"
#include "stripe.h"

/* With so much to be sent on a link no more is asked for on it. */
#define BACKLOG_MAX	(64 * 1024)

/* A handle has at most so many bytes (version 3 of the protocol, 6.3). */
#define HANDLE_MAX	256

/* So long a signal waits at most that comes right before poll(). */
#define WAIT_MS		1000

/* Requests under way on one link before its path is known, as in stock */
#define REQUESTS	64

extern volatile sig_atomic_t interrupted;
extern int showprogress;

struct get {
	struct sftp_conn *conn;
	struct fetch *s;
	struct links team;
	struct flow *flow[FETCH_LINKS];
	struct {
		u_char	*data;
		size_t	 len;
	} handle[FETCH_LINKS];
	int	 is_up[FETCH_LINKS];
	const char *remote, *local;
	Attrib	 a;
	int	 fd;
	int	 resume, in_place;
	u_int	 unit, status;		/* first error of data */
	int	 write_errno, is_refused;
	uint64_t began_at;		/* in the file */
	off_t	 moved;			/* for the progress meter */
	int	 is_shown;
	unsigned int most;		/* connections */
};

/* Links */

static void
link_up(struct get *g, unsigned int i)
{
	struct flow_conf conf = { g->unit, REQUESTS,
	    hayopt_get()->window_max };

	g->is_up[i] = 1;
	if ((g->flow[i] = flow_new()) == NULL ||
	    flow_begin(g->flow[i], &conf, clock_us()) != 0)
		fatal_f("out of memory");
	fetch_up(g->s, i);
}

static void
link_down(struct get *g, unsigned int i)
{
	if (!g->is_up[i])
		return;
	fetch_down(g->s, i);
	flow_free(g->flow[i]);
	free(g->handle[i].data);
	g->flow[i] = NULL;
	g->handle[i].data = NULL;
	g->is_up[i] = 0;
}

/* Tells the core of links that have come. */
static void
note_links(struct get *g)
{
	unsigned int i, n;

	for (i = 1; i < FETCH_LINKS; i++) {
		if (!g->is_up[i] && links_is_up(&g->team, i))
			link_up(g, i);
	}
	if ((n = fetch_links(g->s)) > g->most && n > 1)
		debug("\"%s\" comes over %u connections", g->remote, n);
	g->most = MAXIMUM(g->most, n);
}

/* Requests */

static struct sshbuf *
begin(struct get *g, const struct fetch_action *a, u_char code)
{
	debug3("Sending SSH2_FXP %u I:%u on link %u", code, a->id, a->link);
	return link_begin(g->team.link[a->link], code, a->id);
}

static void
send_open(struct get *g, const struct fetch_action *a)
{
	struct sshbuf *m = begin(g, a, SSH2_FXP_OPEN);
	Attrib none;
	int r;

	attrib_clear(&none);
	if ((r = sshbuf_put_cstring(m, g->remote)) != 0 ||
	    (r = sshbuf_put_u32(m, SSH2_FXF_READ)) != 0 ||
	    (r = encode_attrib(m, &none)) != 0)
		fatal_fr(r, "compose");
	link_end(g->team.link[a->link]);
}

/* A request with the handle, and with a range if it has a length */
static void
send_handle(struct get *g, const struct fetch_action *a, u_char code)
{
	struct sshbuf *m = begin(g, a, code);
	int r;

	if ((r = sshbuf_put_string(m, g->handle[a->link].data,
	    g->handle[a->link].len)) != 0 ||
	    (a->len > 0 && ((r = sshbuf_put_u64(m, a->off)) != 0 ||
	    (r = sshbuf_put_u32(m, a->len)) != 0)))
		fatal_fr(r, "compose");
	link_end(g->team.link[a->link]);
}

/* The local file */

/* Returns 0, or -1 with a text. */
static int
open_local(struct get *g)
{
	mode_t mode = (g->a.flags & SSH2_FILEXFER_ATTR_PERMISSIONS) != 0 ?
	    g->a.perm & 0777 : 0666;
	struct stat sb;

	g->fd = open(g->local, O_WRONLY | O_CREAT |
	    (g->resume || g->in_place ? 0 : O_TRUNC), mode | S_IWUSR);
	if (g->fd == -1) {
		error("open local \"%s\": %s", g->local, strerror(errno));
		return -1;
	}
	if (!g->resume)
		return 0;
	if (fstat(g->fd, &sb) == -1)
		error("stat local \"%s\": %s", g->local, strerror(errno));
	else if ((uint64_t)sb.st_size > g->a.size)
		error("Unable to resume download of \"%s\": "
		    "local file is larger than remote", g->local);
	else {
		g->began_at = sb.st_size;
		return 0;
	}
	/* It stays as it is. */
	close(g->fd);
	g->fd = -1;
	return -1;
}

static void
write_local(struct get *g, const u_char *p, size_t len)
{
	off_t off = (off_t)fetch_frontier(g->s);
	int ok = sparse_write(g->fd, p, len, off) == len;

	if (!ok)
		g->write_errno = errno;
	fetch_written(g->s, ok);
}

/* Replies */

/* The reply to FETCH_OPEN */
static void
take_handle(struct get *g, const struct fetch_action *a, struct sshbuf *m,
    u_int status)
{
	struct link *link = g->team.link[a->link];
	int r;

	if (status == SSH2_FX_OK &&
	    (r = sshbuf_get_string(m, &g->handle[a->link].data,
	    &g->handle[a->link].len)) != 0)
		link_fatal(link, "parse handle: %s", ssh_err(r));
	if (g->handle[a->link].len > HANDLE_MAX)
		link_fatal(link, "Server sent a handle of %zu bytes for "
		    "\"%s\"; at most %d are allowed", g->handle[a->link].len,
		    g->remote, HANDLE_MAX);
	fetch_opened(g->s, a->id, status == SSH2_FX_OK);
	if (a->link != 0)
		return;
	if (status != SSH2_FX_OK) {
		error("remote open \"%s\": %s", g->remote, fx2txt(status));
		g->is_refused = 1;
	} else if (open_local(g) == -1) {
		g->is_refused = 1;
		fetch_stop(g->s);
	} else
		fetch_start(g->s, g->began_at);
}

/*
 * The reply to FETCH_LOOK. A file that has taken the place of the first is not
 * the one that is read.
 */
static void
take_attrs(struct get *g, const struct fetch_action *a, struct sshbuf *m,
    u_int status)
{
	const u_int flags = SSH2_FILEXFER_ATTR_SIZE |
	    SSH2_FILEXFER_ATTR_ACMODTIME;
	Attrib now;
	int r, same;

	attrib_clear(&now);
	if (status == SSH2_FX_OK && (r = decode_attrib(m, &now)) != 0)
		link_fatal(g->team.link[a->link], "parse attributes: %s",
		    ssh_err(r));
	same = (now.flags & g->a.flags & flags) == flags &&
	    now.size == g->a.size && now.mtime == g->a.mtime;
	if (!same)
		verbose("\"%s\" is another file for connection %u, which is "
		    "not used", g->remote, a->link + 1);
	fetch_looked(g->s, a->id, same);
}

static uint64_t
rest_of(const struct get *g)
{
	uint64_t done = fetch_frontier(g->s);

	return g->a.size > done ? g->a.size - done : 0;
}

static void
take_data(struct get *g, const struct fetch_action *a, struct sshbuf *m)
{
	struct link *link = g->team.link[a->link];
	const u_char *p;
	size_t len;
	int r;

	if ((r = sshbuf_get_string_direct(m, &p, &len)) != 0)
		link_fatal(link, "parse data: %s", ssh_err(r));
	if (len > a->len)
		link_fatal(link, "Received more data than asked for %zu > %u",
		    len, a->len);
	r = fetch_data(g->s, a->id, p, len);
	if (r == -1)
		fatal_f("out of memory");
	if (r == -2)
		link_fatal(link, "Server sent no data of \"%s\"", g->remote);
	if (r == 1)
		write_local(g, p, len);
	flow_count(g->flow[a->link], len, clock_us());
	server_add_moved(g->conn, len);
	links_count(g->team.main_fd, len, rest_of(g), fetch_links(g->s));
}

/* Returns the type of a reply that is no error. */
static u_char
wanted_type(enum fetch_op op)
{
	return op == FETCH_OPEN ? SSH2_FXP_HANDLE : op == FETCH_LOOK ?
	    SSH2_FXP_ATTRS : op == FETCH_READ ? SSH2_FXP_DATA : SSH2_FXP_STATUS;
}

static u_int
read_status(struct get *g, const struct fetch_action *a, u_char type,
    struct sshbuf *m)
{
	u_char wanted = wanted_type(a->op);
	u_int status = link_status(g->team.link[a->link], m, type, wanted,
	    g->remote);

	return type != wanted && status == SSH2_FX_OK ? SSH2_FX_FAILURE :
	    status;
}

static void
take_status(struct get *g, const struct fetch_action *a, u_int status)
{
	if (a->op == FETCH_READ) {
		if (status != SSH2_FX_EOF && g->status == SSH2_FX_OK)
			g->status = status;
		fetch_ended(g->s, a->id, status == SSH2_FX_EOF);
		return;
	}
	if (status != SSH2_FX_OK && a->link == 0) {
		error("close remote: %s", fx2txt(status));
		g->is_refused = 1;
	}
	fetch_closed(g->s, a->id);
}

static void
take_reply(struct get *g, unsigned int i, struct sshbuf *m)
{
	struct link *link = g->team.link[i];
	struct fetch_action a;
	uint32_t id;
	u_char type;
	u_int status;

	if (i == 0 && server_sees(g->conn, m))
		return;
	link_head(link, m, &type, &id);
	if (fetch_find(g->s, i, id, &a) != 0)
		link_fatal(link, "Unexpected reply %u", id);
	debug3("Received reply T:%u I:%u on link %u", type, id, i);
	status = read_status(g, &a, type, m);
	if (a.op == FETCH_OPEN)
		take_handle(g, &a, m, status);
	else if (a.op == FETCH_LOOK)
		take_attrs(g, &a, m, status);
	else if (type == SSH2_FXP_DATA)
		take_data(g, &a, m);
	else
		take_status(g, &a, status);
}

/* The loop */

static void
act(struct get *g, const struct fetch_action *a)
{
	switch (a->op) {
	case FETCH_OPEN:
		send_open(g, a);
		break;
	case FETCH_LOOK:
		send_handle(g, a, SSH2_FXP_FSTAT);
		break;
	case FETCH_READ:
		send_handle(g, a, SSH2_FXP_READ);
		break;
	case FETCH_CLOSE:
		send_handle(g, a, SSH2_FXP_CLOSE);
		break;
	case FETCH_WRITE:
		write_local(g, a->data, a->len);
		break;
	}
}

static unsigned int
ready(struct get *g)
{
	unsigned int i, bits = 0;

	for (i = 0; i < FETCH_LINKS; i++) {
		if (!g->is_up[i] || !links_is_up(&g->team, i) ||
		    link_backlog(g->team.link[i]) >= BACKLOG_MAX)
			continue;
		bits |= 1U << i;
		fetch_set_credit(g->s, i, (uint64_t)g->unit *
		    flow_max_requests(g->flow[i]));
	}
	return bits;
}

static void
show(struct get *g)
{
	const char *slash = strrchr(g->remote, '/');

	if (!showprogress || g->fd == -1)
		return;
	g->moved = (off_t)fetch_frontier(g->s);
	if (!g->is_shown)
		start_progress_meter(slash != NULL && slash[1] != '\0' ?
		    slash + 1 : g->remote, g->a.size, &g->moved);
	g->is_shown = 1;
	refresh_progress_meter(0);
}

static void
run(struct get *g)
{
	struct fetch_action a;
	struct sshbuf *m;
	unsigned int i;
	int r;

	for (;;) {
		if (interrupted)
			fetch_stop(g->s);
		while ((r = fetch_next(g->s, ready(g), &a)) == 1)
			act(g, &a);
		if (r == -1)
			fatal_f("out of memory");
		if (fetch_is_done(g->s))
			break;
		if (fetch_frontier(g->s) + STRIPE_REST <= g->a.size &&
		    !interrupted)
			links_grow(&g->team);
		links_move(&g->team, WAIT_MS);
		do {
			if ((m = links_next(&g->team, &i)) != NULL)
				take_reply(g, i, m);
			else if (i < FETCH_LINKS)
				link_down(g, i);
		} while (m != NULL || i < FETCH_LINKS);
		note_links(g);
		show(g);
	}
}

/* The end, as in upstream */

static void
set_mode(const struct get *g)
{
	mode_t mode = (g->a.flags & SSH2_FILEXFER_ATTR_PERMISSIONS) != 0 ?
	    g->a.perm & 0777 : 0666;

	if (fchmod(g->fd, mode) == -1)
		error("local chmod \"%s\": %s", g->local, strerror(errno));
}

static void
set_times(const struct get *g)
{
	struct timeval tv[2];

	if ((g->a.flags & SSH2_FILEXFER_ATTR_ACMODTIME) == 0)
		return;
	memset(tv, 0, sizeof(tv));
	tv[0].tv_sec = g->a.atime;
	tv[1].tv_sec = g->a.mtime;
	if (utimes(g->local, tv) == -1)
		error("local set times \"%s\": %s", g->local,
		    strerror(errno));
}

/* Returns 0, or -1 with a text: some file systems are full only now. */
static int
close_local(struct get *g)
{
	int r = close(g->fd);

	g->fd = -1;
	if (r == -1)
		error("close local \"%s\": %s", g->local, strerror(errno));
	return r;
}

static int
finish(struct get *g, int preserve, int sync)
{
	uint64_t end = fetch_frontier(g->s);
	int is_cut = g->status != SSH2_FX_OK || g->write_errno != 0 ||
	    interrupted;

	if (g->fd == -1)
		return -1;
	if (g->in_place || is_cut) {
		debug("truncating at %llu", (unsigned long long)end);
		if (ftruncate(g->fd, end) == -1)
			error("local ftruncate \"%s\": %s", g->local,
			    strerror(errno));
	}
	if (g->status != SSH2_FX_OK) {
		error("read remote \"%s\" : %s", g->remote,
		    fx2txt(g->status));
		return -1;
	}
	if (g->write_errno != 0) {
		error("write local \"%s\": %s", g->local,
		    strerror(g->write_errno));
		return -1;
	}
	if (preserve)
		set_mode(g);
	if (g->resume && end == g->began_at)
		logit("File \"%s\" was not modified", g->local);
	else if (sync && fsync(g->fd) == -1)
		error("local sync \"%s\": %s", g->local, strerror(errno));
	if (close_local(g) == -1 || interrupted || g->is_refused)
		return -1;
	if (preserve)
		set_times(g);
	return 0;
}

static int
get_file(struct get *g, int preserve, int sync)
{
	struct server_tree q;
	struct link_conf conf = { 0 };
	unsigned int i;
	int ret;

	server_take(g->conn, NULL);
	server_begin_tree(g->conn, 0, &q);
	g->unit = q.unit;
	conf.fd_in = q.fd_in;
	conf.fd_out = q.fd_out;
	if ((g->s = fetch_new(g->a.size, q.unit, *q.msg_id)) == NULL)
		fatal_f("out of memory");
	links_begin(&g->team, q.fd_in, link_new(&conf), NULL, NULL);
	link_up(g, 0);
	run(g);
	if (g->is_shown)
		stop_progress_meter();
	*q.msg_id = fetch_next_id(g->s);
	server_give(g->conn);
	links_end(&g->team);
	for (i = 0; i < FETCH_LINKS; i++)
		link_down(g, i);
	link_free(g->team.link[0]);
	ret = finish(g, preserve, sync);
	fetch_free(g->s);
	if (g->fd != -1)
		close(g->fd);
	return ret;
}

int
fetch_takes(const struct sftp_conn *conn, uint64_t size)
{
	return size >= STRIPE_LEAST && server_is_tuned(conn) &&
	    links_may_grow(server_get_conn(conn)->fd_in);
}

/*
 * What is asked here about the file is kept, so that upstream does not ask
 * again.
 */
int
fetch_get(struct sftp_conn *conn, const char *remote, const char *local,
    Attrib *a, int preserve, int resume, int sync, int in_place, int *ret)
{
	struct get g = { .conn = conn, .remote = remote, .local = local,
	    .fd = -1, .resume = resume, .in_place = in_place };

	if (!fetch_takes(conn, STRIPE_LEAST))
		return 0;
	if (a == NULL &&
	    (a = server_use_kept_lstat(conn, remote, NULL, &g.a)) == NULL &&
	    sftp_stat(conn, remote, 1, &g.a) != 0)
		return 0;
	if (a == NULL || a == &g.a)
		server_keep_lstat(conn, remote, &g.a, 0);
	else
		g.a = *a;
	if ((g.a.flags & SSH2_FILEXFER_ATTR_SIZE) == 0 ||
	    ((g.a.flags & SSH2_FILEXFER_ATTR_PERMISSIONS) != 0 &&
	    !S_ISREG(g.a.perm)) || g.a.size < STRIPE_LEAST)
		return 0;
	*ret = get_file(&g, preserve, sync);
	return 1;
}
