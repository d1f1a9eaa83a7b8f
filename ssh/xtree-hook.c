/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * See xtree-hook.h. The loop does what the scheduler says until it has to wait,
 * then moves bytes both ways, then gives it the replies.
 */

#include "includes.h"

#include <sys/types.h>
#include <sys/resource.h>

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log.h"
#include "misc.h"
#include "sshbuf.h"
#include "ssherr.h"
#include "utf8.h"
#include "xmalloc.h"

#include "clock.h"
#include "sftpq-hook.h"
#include "xfirst-hook.h"
#include "xitem-hook.h"
#include "xreport-hook.h"
#include "xresume-hook.h"
#include "xshow-hook.h"
#include "xsparse-hook.h"
#include "xteam-hook.h"
#include "xtree-hook.h"
#include "xturn-hook.h"

/* Files under way: enough for 25,000 a second where a round trip is 20 ms */
#define FILES_MAX	512

/* Descriptors that are left to all else */
#define DESCRIPTORS_SPARE	64

/* With so much to be sent, a connection gets no more data. */
#define BACKLOG_MAX	(512 * 1024)

/* So many files, or bytes, are worth a further connection. */
#define FILES_LEAST	1000
#define BYTES_LEAST	(32 * 1024 * 1024)

/*
 * Bytes under way between two servers, at most: for 80 MB/s where a round trip
 * to both takes 200 ms. If the target is slow, they wait here.
 */
#define CROSS_MOST	(16 * 1024 * 1024)

extern volatile sig_atomic_t interrupted;
extern void (*cleanup_first)(void);	/* see cleanup-hook.c */

int
xtree_takes(struct sftp_conn *conn, int resume, int sync)
{
	return sftpq_is_tuned(conn) && !resume && !sync &&
	    !xresume_is_asked() && sftp_proto_version(conn) >= 3;
}

/* Texts */

static void
print_text(const struct xtext *text)
{
	if (text->level == XTEXT_OUT)
		mprintf("%s", text->text);
	else if (text->level == SYSLOG_LEVEL_INFO)
		logit("%s", text->text);
	else
		error("%s", text->text);
}

static void
drop_texts(struct xtext **texts)
{
	struct xtext *text;

	while ((text = *texts) != NULL) {
		*texts = text->next;
		free(text->text);
		free(text);
	}
}

static void
print_texts(struct xtree *t, struct xtext **texts)
{
	const struct xtext *text;

	if (*texts != NULL)
		xshow_clear(t);
	for (text = *texts; text != NULL; text = text->next)
		print_text(text);
	drop_texts(texts);
}

/*
 * Nothing that was kept back is lost when the process has to end, and ssh,
 * which it waits for, ends when no channel is held.
 */
static void
before_fatal(void *tree)
{
	struct xtree *t = tree;
	struct xs_job *j;
	struct xitem *item;
	unsigned int i;

	for (j = xs_oldest(t->s); j != NULL; j = xs_after(t->s, j)) {
		item = xs_own(j);
		print_texts(t, &item->text[xs_kind(j) == XS_LEAVE]);
	}
	for (i = 1; i < XTEAM_MOST; i++) {
		if (t->team.link[i] != NULL)
			close(t->team.fd[i]);
	}
}

/* Actions */

static void
free_item(struct xitem *item)
{
	size_t i;

	for (i = 0; i < item->nnames; i++)
		free(item->names[i].name);
	free(item->names);
	free(item->places);
	drop_texts(&item->text[0]);
	drop_texts(&item->text[1]);
	free(item->src);
	free(item->dst);
	free(item);
}

static void
print_item(struct xtree *t, struct xs_job *j, struct xitem *item)
{
	enum xs_kind kind = xs_kind(j);
	int is_file = kind == XS_FILE && item->begun_us != 0 && !t->alone &&
	    t->to == NULL;

	if (t->alone)
		sftpq_add_moved(t->conn, item->moved);
	if (is_file && !xreport_expects())
		xreport_expect_file(t->side == &xput_side, item->src,
		    item->dst);
	print_texts(t, &item->text[kind == XS_LEAVE]);
	if (is_file)
		xreport_file(item->moved, item->ended_us - item->begun_us,
		    item->failed || !xs_is_whole(j) ? -1 : 0);
	if (item->outcome != NULL)
		*item->outcome = item->failed ? -1 : 1;
	if (kind != XS_DIR)
		free_item(item);
}

static void
add_child(struct xtree *t, struct xitem *dir, struct xs_job *job)
{
	struct xname *name;

	if (dir->added < dir->nnames) {
		name = &dir->names[dir->added++];
		t->side->add(t, dir, job, name);
		if (dir->has_names) {
			free(name->name);
			name->name = NULL;
		}
	}
	if (dir->added == dir->nnames) {
		t->count.unread -= t->side == &xput_side;
		xs_listed(t->s, job);
	}
}

/* Its names are known, or none is added any more. */
static void
count_ended(struct xtree *t, const struct xitem *item, enum xs_kind kind)
{
	size_t i;

	t->count.files += kind == XS_FILE;
	if (kind == XS_LINK || (kind == XS_DIR &&
	    (item->failed || t->side != &xput_side)))
		t->count.unread--;
	if (kind != XS_DIR || !item->failed || t->side == &xput_side)
		return;
	for (i = item->added; i < item->nnames; i++)
		xitem_count_name(t, &item->names[i].a, -1);
}

/* It will begin once more, and then says what it has to say. */
static void
forget(struct xtree *t, struct xitem *item)
{
	debug2_f("\"%s\" is tried again, with at most %u under way",
	    item->src, xs_limit(t->s));
	xitem_close(t, item);
	drop_texts(&item->text[0]);
	item->status = item->to_status = SSH2_FX_OK;
	item->failed = item->write_errno = 0;
	t->count.bytes -= item->moved + item->skipped;
	item->moved = item->skipped = 0;
}

/* Connections */

static struct xlink *
link_of(const struct xtree *t, const struct xs_action *a)
{
	if (t->to != NULL && xcross_is_to(a->op))
		return t->to;
	return t->team.link[xs_lane(a->job)];
}

/* A further connection has a file to copy, and enough is left. */
static int
is_worth_more(const struct xtree *t)
{
	const struct xmeter_count *c = &t->count;

	return t->to == NULL &&
	    c->files_known > c->files + xteam_size(&t->team) &&
	    (c->files_known >= c->files + FILES_LEAST ||
	    c->bytes_known >= c->bytes + BYTES_LEAST);
}

/* Each link is a lane. Returns the bytes that wait to be sent on all. */
static size_t
set_lanes(struct xtree *t)
{
	size_t sum = 0, n;
	unsigned int i, up = 0, takes = 0;

	for (i = 0; i < XTEAM_MOST; i++) {
		if (!xteam_is_up(&t->team, i))
			continue;
		n = xlink_backlog(t->team.link[i]);
		sum += n;
		up |= 1U << i;
		takes |= (n < BACKLOG_MAX ? 1U : 0) << i;
	}
	if (t->to != NULL && (n = xlink_backlog(t->to)) >= BACKLOG_MAX) {
		sum += n;
		takes = 0;
	}
	xs_set_lanes(t->s, up, takes);
	return sum;
}

static void
act(struct xtree *t, const struct xs_action *a)
{
	struct xitem *item = xs_own(a->job);

	switch (a->op) {
	case XS_BEGIN:
		item->begun_us = clock_us();
		if (!xs_is_held(a->job) || !xturn_copy(t, item, a->job))
			t->side->begin(t, item, a->job);
		break;
	case XS_SETTLE:
		t->side->settle(t, item, a);
		break;
	case XS_AGAIN:
		forget(t, item);
		break;
	case XS_END:
		t->side->end(t, item, a->job);
		count_ended(t, item, xs_kind(a->job));
		t->large -= item->is_large;
		item->ended_us = clock_us();
		if (item->failed)
			t->ret = -1;
		break;
	case XS_MORE:
		add_child(t, item, a->job);
		break;
	case XS_PRINT:
		print_item(t, a->job, item);
		break;
	default:
		t->link = link_of(t, a);
		t->side->send(t, item, a);
	}
}

/* Replies */

/* Returns the type of a reply to "op" that is no error. */
static u_char
wanted_type(enum xs_op op)
{
	switch (op) {
	case XS_STAT:
	case XS_STAT_TO:
	case XS_FSTAT:
		return SSH2_FXP_ATTRS;
	case XS_OPEN:
	case XS_OPEN_TO:
	case XS_EMPTY:
	case XS_OPENDIR:
		return SSH2_FXP_HANDLE;
	case XS_READ:
		return SSH2_FXP_DATA;
	case XS_READDIR:
		return SSH2_FXP_NAME;
	default:
		return SSH2_FXP_STATUS;
	}
}

static void
parse_reply(struct xtree *t, struct sshbuf *m, struct xs_action *a,
    struct xreply *reply)
{
	uint32_t id;

	reply->m = m;
	xlink_head(t->link, m, &reply->type, &id);
	if (xs_find(t->s, id, a) != 0 || t->link != link_of(t, a))
		xlink_fatal(t->link, "Unexpected reply %u", id);
	reply->status = xlink_status(t->link, m, reply->type,
	    wanted_type(a->op), ((struct xitem *)xs_own(a->job))->src);
	debug3("Received reply T:%u I:%u", reply->type, id);
}

static enum xs_result
result_of(const struct xs_action *a, const struct xreply *reply)
{
	if (reply->type != SSH2_FXP_STATUS)
		return XS_OK;
	if (wanted_type(a->op) == SSH2_FXP_STATUS)
		return reply->status == SSH2_FX_OK ? XS_OK : XS_FAILED;
	if (reply->status == SSH2_FX_EOF &&
	    (a->op == XS_READ || a->op == XS_READDIR))
		return XS_EOF;
	return XS_FAILED;
}

static void
set_window(struct xtree *t)
{
	xs_set_window(t->s, t->to == NULL ? t->window[0] :
	    MINIMUM(t->window[0] + t->window[1], CROSS_MOST));
}

/* "len" bytes came or were written; between two servers the latter count. */
static void
count_bytes(struct xtree *t, struct xitem *item, uint32_t len)
{
	int is_to = t->link == t->to;

	if (t->to == NULL || is_to) {
		item->moved += len;
		t->count.bytes += len;
	}
	t->window[is_to] = sftpq_count_tree(is_to ? t->to_conn : t->conn, len);
	set_window(t);
}

/* Returns 1 if the message is none of the tree's. */
static int
is_for_others(struct xtree *t, struct sshbuf *m)
{
	if (t->link == t->team.link[0])
		return sftpq_take_limits(t->conn, m);
	return t->link == t->to && sftpq_take_limits(t->to_conn, m);
}

/* A server with a fixed window gets more channels. */
static void
judge_window(struct xtree *t, uint32_t len)
{
	if (t->team.channels == 0)
		return;
	xwindow_count(&t->growth, len, sftpq_rtt(t->conn), clock_us(),
	    xteam_size(&t->team));
	if (t->growth.want > 1)
		t->team.channels = t->growth.want;
	if (!xwindow_may_limit(&t->growth))
		xs_release(t->s);
}

static void
take_reply(struct xtree *t, struct sshbuf *m)
{
	struct xs_action a;
	struct xreply reply;
	struct xitem *item;
	enum xs_result result;
	uint32_t len = 0;
	int r, is_error;

	if (is_for_others(t, m))
		return;
	parse_reply(t, m, &a, &reply);
	item = xs_own(a.job);
	result = result_of(&a, &reply);
	is_error = result == XS_FAILED;
	if (result == XS_OK)
		result = t->side->reply(t, item, &a, &reply, &len);
	if (a.op == XS_WRITE && result == XS_OK)
		len = a.len;
	if ((r = xs_reply(t->s, a.id, result, len)) == -1)
		xlink_fatal(t->link, "Server sent %u bytes of \"%s\" where "
		    "%u were asked for", len, item->src, a.len);
	if (is_error && r == 0)
		t->side->fail(t, item, &a, reply.status);
	count_bytes(t, item, len);
	if (a.op == XS_WRITE && result == XS_OK)
		judge_window(t, len);
	xteam_count(t->team.main_fd, len, XTEAM_UNKNOWN,
	    xteam_size(&t->team));
}

/* The loop */

/* Does what need not wait. Returns 1 if that set "*until". */
static int
work(struct xtree *t, const int *until)
{
	struct xs_action a;
	size_t backlog;
	int r;

	do {
		backlog = set_lanes(t);
		if ((r = xs_next(t->s, &a)) == -1)
			fatal_f("out of memory");
		if (r == 1) {
			act(t, &a);
			xs_worked(t->s);	/* A printed item is freed. */
		}
		if (until != NULL && *until != 0)
			return 1;
	} while (r == 1 && backlog < BACKLOG_MAX * xteam_size(&t->team));
	return 0;
}

static void
take_all(struct xtree *t)
{
	struct sshbuf *m;
	unsigned int i;

	t->link = t->to;
	while (t->to != NULL && (m = xlink_take(t->to)) != NULL)
		take_reply(t, m);

	do {
		if ((m = xteam_next(&t->team, &i)) != NULL) {
			t->link = t->team.link[i];
			take_reply(t, m);
		} else if (i < XTEAM_MOST && xs_lane_files(t->s, i) > 0)
			xlink_fatal(t->team.link[0], "Connection closed: "
			    "one of several that copied files");
	} while (m != NULL || i < XTEAM_MOST);
}

/* What the servers tell, if all have told it */
static uint64_t
handles(const struct xtree *t)
{
	uint64_t n = sftpq_handles(t->conn);

	return t->to == NULL ? n : MINIMUM(n, sftpq_handles(t->to_conn));
}

void
xtree_run(struct xtree *t, const int *until)
{
	for (;;) {
		if (interrupted)
			xs_interrupt(t->s);
		xs_set_handles(t->s, handles(t));
		if (work(t, until) || xs_done(t->s))
			break;
		xshow_tick(t);
		if (is_worth_more(t))
			xteam_grow(&t->team);
		xteam_move(&t->team, xshow_wait());
		take_all(t);
	}
}

/* Files that may be open here */
static uint32_t
most_files(void)
{
	struct rlimit lim;

	if (getrlimit(RLIMIT_NOFILE, &lim) == -1 ||
	    lim.rlim_cur == RLIM_INFINITY ||
	    lim.rlim_cur >= FILES_MAX + DESCRIPTORS_SPARE)
		return FILES_MAX;
	return lim.rlim_cur <= 2 * DESCRIPTORS_SPARE ? 1 :
	    lim.rlim_cur - DESCRIPTORS_SPARE;
}

/* The connection to the target, between two servers */
static void
start_target(struct xtree *t, struct xs_conf *conf)
{
	struct sftpq_tree q;
	struct xlink_conf link = { .before_fatal = before_fatal, .arg = t };

	sftpq_begin_tree(t->to_conn, 1, &q);
	conf->cross = 1;
	conf->unit = MINIMUM(conf->unit, q.unit);
	conf->first_id = MAXIMUM(conf->first_id, *q.msg_id);
	t->to_msg_id = q.msg_id;
	t->window[1] = q.window;
	link.fd_in = q.fd_in;
	link.fd_out = q.fd_out;
	t->to = xlink_new(&link);
}

static void
stop_target(struct xtree *t)
{
	*t->to_msg_id = xs_next_id(t->s);
	xlink_free(t->to);
	t->to = NULL;
}

static void
take_connection(struct xtree *t, const struct sftpq_tree *q)
{
	struct xlink_conf link = { .fd_in = q->fd_in, .fd_out = q->fd_out,
	    .before_fatal = before_fatal, .arg = t };

	t->window[0] = q->window;
	set_window(t);
	t->link = xlink_new(&link);
	xteam_begin(&t->team, q->fd_in, t->link, before_fatal, t);
	t->team.also = t->to;
	if (t->side == &xput_side)
		xteam_use_channels(&t->team);
}

void
xtree_start(struct xtree *t)
{
	struct sftpq_tree q;
	struct xs_conf conf = { .put = t->side == &xput_side,
	    .in_place = t->in_place, .preserve = t->preserve,
	    .keep_found = HAYATE_OPENSSH >= 1003 && !t->preserve,
	    .files = most_files() };

	sftpq_begin_tree(t->conn, conf.put, &q);
	conf.unit = q.unit;
	conf.first_id = *q.msg_id;
	if (t->to_conn != NULL)
		start_target(t, &conf);
	t->unit = conf.unit;
	t->msg_id = q.msg_id;
	if ((t->s = xs_new(&conf)) == NULL)
		fatal_f("out of memory");
	take_connection(t, &q);
	t->open = xcalloc(conf.files, sizeof(*t->open));
}

static void
let_go(struct xtree *t)
{
	*t->msg_id = xs_next_id(t->s);
	xteam_end(&t->team);
	xlink_free(t->team.link[0]);
}

static struct xtree *lent;		/* NULL: none */
static void (*cleanup_next)(void);

/*
 * Upstream's functions end the process with fatal(). The report of their file
 * ends first, because what follows is of others.
 */
static void
at_exit(void)
{
	struct xtree *t = lent;

	lent = NULL;
	if (t != NULL) {
		if (xreport_expects())
			xreport_file(sftpq_moved(t->conn) - t->lent_moved,
			    clock_us() - t->lent_us, -1);
		before_fatal(t);
	}
	if (cleanup_next != NULL)
		cleanup_next();
}

void
xtree_lend(struct xtree *t)
{
	if (cleanup_first != at_exit) {
		cleanup_next = cleanup_first;
		cleanup_first = at_exit;
		atexit(at_exit);
	}
	let_go(t);
	lent = t;
	t->lent_us = clock_us();
	t->lent_moved = sftpq_moved(t->conn);
}

void
xtree_return(struct xtree *t)
{
	struct sftpq_tree q;

	lent = NULL;
	sftpq_begin_tree(t->conn, t->side == &xput_side, &q);
	xs_set_next_id(t->s, *q.msg_id);
	take_connection(t, &q);
}

void
xtree_stop(struct xtree *t)
{
	xshow_end(t);
	let_go(t);
	if (t->to != NULL)
		stop_target(t);
	xs_free(t->s);
	free(t->open);
}

static int
copy(struct xtree *t, enum xs_kind kind, const char *src, const char *dst,
    const Attrib *a, uint64_t size)
{
	struct xitem *root = xitem_new(xstrdup(src), xstrdup(dst), 0);

	if (a != NULL)
		root->a = *a;
	xtree_start(t);
	xitem_add(t, NULL, kind, root, size);
	xtree_run(t, NULL);
	xtree_stop(t);
	return t->ret;
}

int
xtree_put(struct sftp_conn *conn, const char *src, const char *dst,
    int preserve, int print, int follow, int in_place)
{
	struct xtree t = { .conn = conn, .side = &xput_side,
	    .preserve = preserve, .print = print, .follow = follow,
	    .in_place = in_place };

	return copy(&t, XS_DIR, src, dst, NULL, 0);
}

int
xtree_put_sparse(struct sftp_conn *conn, const char *src, const char *dst,
    int preserve, int in_place, int *ret)
{
	struct xtree t = { .conn = conn, .side = &xput_side, .alone = 1,
	    .preserve = preserve, .in_place = in_place };
	uint64_t size;

	if (!xtree_takes(conn, 0, 0) || sftpq_handles(conn) == 0 ||
	    (size = xsparse_size(src, 1)) == 0)
		return 0;
	*ret = copy(&t, XS_FILE, src, dst, NULL, size);
	return 1;
}

/* Returns "a", or in "room" what the server says of the root, or NULL. */
static Attrib *
look_at_root(struct sftp_conn *conn, const char *src, Attrib *a, Attrib *room)
{
	const Attrib *known = xfirst_dir(conn, src);

	if (a != NULL)
		return a;
	if (known != NULL)
		*room = *known;
	else if (sftp_stat(conn, src, 1, room) != 0)
		return NULL;
	return room;
}

int
xtree_get(struct sftp_conn *conn, const char *src, const char *dst,
    Attrib *a, int preserve, int print, int follow, int in_place)
{
	struct xtree t = { .conn = conn, .side = &xget_side,
	    .preserve = preserve, .print = print, .follow = follow,
	    .in_place = in_place };
	Attrib room;

	if ((a = look_at_root(conn, src, a, &room)) == NULL) {
		error("stat remote \"%s\" directory failed", src);
		return -1;
	}
	return copy(&t, XS_DIR, src, dst, a, 0);
}

int
xtree_cross(xtree_cross_dir *stock, struct sftp_conn *from,
    struct sftp_conn *to, const char *src, const char *dst, int depth,
    Attrib *a, int preserve, int print, int follow)
{
	struct xtree t = { .conn = from, .to_conn = to, .side = &xcross_side,
	    .preserve = preserve, .print = print, .follow = follow };
	Attrib room;

	if (!xtree_takes(from, 0, 0) || !xtree_takes(to, 0, 0))
		return stock(from, to, src, dst, depth, a, preserve, print,
		    follow);
	if ((a = look_at_root(from, src, a, &room)) == NULL) {
		error("stat remote \"%s\" failed", src);
		return -1;
	}
	return copy(&t, XS_DIR, src, dst, a, 0);
}
