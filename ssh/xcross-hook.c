/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * The side of a tree or list that is copied between two servers:
 * crossload_dir_internal() and sftp_crossload() of upstream, in steps. See
 * xitem-hook.h.
 *
 * The source is read as by a get, with xget-hook.c's functions, so its names
 * are judged there: none leads out of the target. What differs is that what a
 * get does here is asked of the target. The bytes of a READ go from the buffer
 * of one connection into that of the other.
 */

#include "includes.h"

#include <sys/types.h>
#include <sys/stat.h>

#include <signal.h>
#include <string.h>

#include "log.h"
#include "sshbuf.h"
#include "ssherr.h"

#include "xitem-hook.h"

extern volatile sig_atomic_t interrupted;

int
xcross_is_to(enum xs_op op)
{
	switch (op) {
	case XS_MKDIR:
	case XS_STAT_TO:
	case XS_OPEN_TO:
	case XS_WRITE:
	case XS_CLEAR:
	case XS_FSTAT:
	case XS_EMPTY:
	case XS_ATTRS:
	case XS_CLOSE_TO:
	case XS_SETSTAT:
		return 1;
	default:
		return 0;
	}
}

/*
 * What the target is told of a file. Stock passes on the flag of extensions,
 * which proftpd sets, without the extensions; sftp-server ends then.
 */
#define PASSED_ON	(SSH2_FILEXFER_ATTR_PERMISSIONS | \
    SSH2_FILEXFER_ATTR_ACMODTIME)

/* Requests */

/* A directory has what a get would set, and its times even without -p. */
static Attrib
attrs_of_dir(const struct xitem *item, u_int more)
{
	Attrib a = item->a;

	a.flags &= PASSED_ON;
	if ((a.flags & SSH2_FILEXFER_ATTR_PERMISSIONS) == 0)
		a.perm = S_IWUSR | S_IXUSR;
	a.flags |= SSH2_FILEXFER_ATTR_PERMISSIONS;
	a.perm = (a.perm & 01777) | more;
	return a;
}

static Attrib
attrs_of_file(const struct xtree *t, const struct xitem *item)
{
	Attrib a = item->a;

	a.flags &= PASSED_ON;
	if (!t->preserve)
		a.flags &= ~SSH2_FILEXFER_ATTR_ACMODTIME;
	a.perm &= 0777;
	return a;
}

static void
cross_send(struct xtree *t, struct xitem *item, const struct xs_action *a)
{
	Attrib attrs;

	switch (a->op) {
	case XS_MKDIR:
		/* writable for the time of the transfer */
		attrs = attrs_of_dir(item, S_IWUSR | S_IXUSR);
		xitem_send_path(t, a, SSH2_FXP_MKDIR, item->dst, &attrs);
		break;
	case XS_STAT_TO:
		xitem_send_path(t, a, SSH2_FXP_STAT, item->dst, NULL);
		break;
	case XS_SETSTAT:
		attrs = attrs_of_dir(item, 0);
		xitem_send_path(t, a, SSH2_FXP_SETSTAT, item->dst, &attrs);
		break;
	case XS_EMPTY:
	case XS_OPEN_TO:
		if (a->op == XS_EMPTY)
			debug("truncating \"%s\" at 0", item->dst);
		attrs = attrs_of_file(t, item);
		xitem_send_open(t, a, item->dst, SSH2_FXF_WRITE |
		    SSH2_FXF_CREAT | (a->op == XS_OPEN_TO && item->clears ? 0 :
		    SSH2_FXF_TRUNC), &attrs);
		break;
	case XS_CLEAR:
		xitem_send_size(t, a, &item->to_handle);
		break;
	case XS_FSTAT:
		xitem_send_handle(t, a, &item->to_handle, SSH2_FXP_FSTAT, NULL);
		break;
	case XS_ATTRS:
		attrs = attrs_of_file(t, item);
		xitem_send_handle(t, a, &item->to_handle, SSH2_FXP_FSETSTAT,
		    &attrs);
		break;
	case XS_CLOSE_TO:
		xitem_send_handle(t, a, &item->to_handle, SSH2_FXP_CLOSE,
		    NULL);
		break;
	default:
		xget_side.send(t, item, a);
	}
}

/* Replies */

/* The bytes that came with a READ go on to the target. */
static void
send_write(struct xtree *t, struct xitem *item, const struct xs_action *a,
    const u_char *p, size_t n)
{
	struct sshbuf *m = xlink_begin(t->to, SSH2_FXP_WRITE, a->id);
	int r;

	if ((r = sshbuf_put_string(m, item->to_handle.id,
	    item->to_handle.len)) != 0 ||
	    (r = sshbuf_put_u64(m, a->off)) != 0 ||
	    (r = sshbuf_put_string(m, p, n)) != 0)
		fatal_fr(r, "compose");
	xlink_end(t->to);
}

static void
relay(struct xtree *t, struct xitem *item, const struct xs_action *a,
    struct xreply *reply, uint32_t *len)
{
	struct xlink *from = t->link;
	struct xs_action next;
	const u_char *p;
	size_t n;
	int r;

	xget_data(t, a, reply, &p, &n);
	*len = n;
	if (n == 0)
		return;
	t->link = t->to;
	while ((r = xs_relay(t->s, a->job, a->off, *len, &next)) == 1 &&
	    next.op == XS_CLEAR)
		cross_send(t, item, &next);
	if (r == -1)
		fatal_f("out of memory");
	if (r == 1)
		send_write(t, item, &next, p, n);
	t->link = from;
}

static enum xs_result
take_stat(struct xtree *t, struct xitem *item, struct xreply *reply)
{
	Attrib found;

	xitem_attrs(t, reply, &found);
	if (S_ISDIR(found.perm))
		return XS_OK;
	SAY(item, "\"%s\" exists but is not a directory", item->dst);
	item->failed = 1;
	return XS_FAILED;
}

static enum xs_result
cross_reply(struct xtree *t, struct xitem *item, const struct xs_action *a,
    struct xreply *reply, uint32_t *len)
{
	switch (a->op) {
	case XS_OPEN:
		xitem_handle(t, item, reply, &item->handle);
		if (interrupted)
			xs_fail(a->job);	/* as if it had not begun */
		return XS_OK;
	case XS_READ:
		relay(t, item, a, reply, len);
		return XS_OK;
	case XS_OPEN_TO:
	case XS_EMPTY:
		xitem_handle(t, item, reply, &item->to_handle);
		return XS_OK;
	case XS_STAT_TO:
		return take_stat(t, item, reply);
	case XS_FSTAT:
		return xitem_is_other(t, reply);
	case XS_MKDIR:
		item->is_new = 1;
		return XS_OK;
	default:
		return xcross_is_to(a->op) ? XS_OK :
		    xget_side.reply(t, item, a, reply, len);
	}
}

static void
cross_fail(struct xtree *t, struct xitem *item, const struct xs_action *a,
    u_int status)
{
	const char *why = fx2txt(status);

	if (!xcross_is_to(a->op)) {
		xget_side.fail(t, item, a, status);
		return;
	}
	if (a->op == XS_STAT_TO)
		SAY(item, "stat remote: %s", why);
	else if (a->op == XS_OPEN_TO || a->op == XS_EMPTY)
		SAY(item, "dest open \"%s\": %s", item->dst, why);
	else if (a->op == XS_ATTRS)
		SAY(item, "remote fsetstat: %s", why);
	else if (a->op == XS_CLOSE_TO)
		SAY(item, "close remote: %s", why);
	else if (a->op == XS_SETSTAT)
		xitem_say(item, 1, SYSLOG_LEVEL_ERROR,
		    "remote setstat \"%s\": %s", item->dst, why);
	else if (a->op == XS_WRITE && item->to_status == SSH2_FX_OK)
		item->to_status = status;
	if (a->op == XS_EMPTY)
		SAY(item, "dest truncate \"%s\" failed", item->dst);
	/* Upstream ignores what happens after the last WRITE. */
	if (a->op == XS_STAT_TO || a->op == XS_OPEN_TO || a->op == XS_WRITE)
		item->failed = 1;
}

/* Local work */

static void
cross_begin(struct xtree *t, struct xitem *item, struct xs_job *j)
{
	if (xs_kind(j) == XS_FILE)
		debug2_f("crossload \"%s\" to \"%s\"", item->src, item->dst);
	if (xs_kind(j) == XS_FILE)
		item->clears = !item->is_new && xs_clear(t->s, j);
	if (xs_kind(j) == XS_DIR && xget_enter(t, item) != 0) {
		item->failed = 1;
		xs_fail(j);
	}
}

static void
cross_settle(struct xtree *t, struct xitem *item, const struct xs_action *a)
{
	(void)t;
	(void)item;
	(void)a;
}

static void
cross_end(struct xtree *t, struct xitem *item, struct xs_job *j)
{
	if (xs_kind(j) == XS_DIR)
		xget_side.end(t, item, j);
	if (xs_kind(j) != XS_FILE)
		return;
	if (item->status != SSH2_FX_OK)
		SAY(item, "read origin \"%s\": %s", item->src,
		    fx2txt(item->status));
	else if (item->to_status != SSH2_FX_OK)
		SAY(item, "write dest \"%s\": %s", item->dst,
		    fx2txt(item->to_status));
	if (!xs_is_whole(j))
		item->failed = 1;
	xitem_close(t, item);
	if (item->failed && item->depth > 0)
		SAY(item, "crossload \"%s\" to \"%s\" failed", item->src,
		    item->dst);
}

static void
cross_add(struct xtree *t, struct xitem *dir, struct xs_job *job,
    const struct xname *name)
{
	xget_side.add(t, dir, job, name);
}

const struct xside xcross_side = { "origin", "origin", cross_send, cross_reply,
    cross_fail, cross_begin, cross_settle, cross_end, cross_add };
