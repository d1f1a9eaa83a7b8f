/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * See cross-hook.h: crossload_dir_internal() and sftp_crossload() of upstream,
 * in steps.
 */

#include "includes.h"

#include <sys/types.h>
#include <sys/stat.h>

#include <signal.h>
#include <string.h>

#include "log.h"
#include "sshbuf.h"
#include "ssherr.h"

#include "cross-hook.h"
#include "file-hook.h"
#include "get-hook.h"

extern volatile sig_atomic_t interrupted;

int
cross_is_to(enum plan_op op)
{
	switch (op) {
	case PLAN_MKDIR:
	case PLAN_STAT_TO:
	case PLAN_OPEN_TO:
	case PLAN_WRITE:
	case PLAN_CLEAR:
	case PLAN_FSTAT:
	case PLAN_EMPTY:
	case PLAN_ATTRS:
	case PLAN_CLOSE_TO:
	case PLAN_SETSTAT:
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
attrs_of_dir(const struct file *file, u_int more)
{
	Attrib a = file->a;

	a.flags &= PASSED_ON;
	if ((a.flags & SSH2_FILEXFER_ATTR_PERMISSIONS) == 0)
		a.perm = S_IWUSR | S_IXUSR;
	a.flags |= SSH2_FILEXFER_ATTR_PERMISSIONS;
	a.perm = (a.perm & 01777) | more;
	return a;
}

static Attrib
attrs_of_file(const struct run *t, const struct file *file)
{
	Attrib a = file->a;

	a.flags &= PASSED_ON;
	if (!t->preserve)
		a.flags &= ~SSH2_FILEXFER_ATTR_ACMODTIME;
	a.perm &= 0777;
	return a;
}

static void
send_open_to(struct run *t, struct file *file, const struct plan_action *a)
{
	Attrib attrs = attrs_of_file(t, file);

	if (a->op == PLAN_EMPTY)
		debug("truncating \"%s\" at 0", file->dst);
	file_send_open(t, a, file->dst, SSH2_FXF_WRITE | SSH2_FXF_CREAT |
	    (a->op == PLAN_OPEN_TO && (file->clears || file->keeps) ? 0 :
	    SSH2_FXF_TRUNC),
	    &attrs);
}

static void
cross_send(struct run *t, struct file *file, const struct plan_action *a)
{
	Attrib attrs;

	switch (a->op) {
	case PLAN_MKDIR:
		/* writable for the time of the transfer */
		attrs = attrs_of_dir(file, S_IWUSR | S_IXUSR);
		file_send_path(t, a, SSH2_FXP_MKDIR, file->dst, &attrs);
		break;
	case PLAN_STAT_TO:
		file_send_path(t, a, SSH2_FXP_STAT, file->dst, NULL);
		break;
	case PLAN_SETSTAT:
		attrs = attrs_of_dir(file, 0);
		file_send_path(t, a, SSH2_FXP_SETSTAT, file->dst, &attrs);
		break;
	case PLAN_EMPTY:
	case PLAN_OPEN_TO:
		send_open_to(t, file, a);
		break;
	case PLAN_CLEAR:
		file_send_size(t, a, &file->to_handle);
		break;
	case PLAN_FSTAT:
		file_send_handle(t, a, &file->to_handle, SSH2_FXP_FSTAT, NULL);
		break;
	case PLAN_ATTRS:
		attrs = attrs_of_file(t, file);
		file_send_handle(t, a, &file->to_handle, SSH2_FXP_FSETSTAT,
		    &attrs);
		break;
	case PLAN_CLOSE_TO:
		file_send_handle(t, a, &file->to_handle, SSH2_FXP_CLOSE,
		    NULL);
		break;
	default:
		get_side.send(t, file, a);
	}
}

/* Replies */

/* The bytes that came with a READ go on to the target. */
static void
send_write(struct run *t, struct file *file, const struct plan_action *a,
    const u_char *p, size_t n)
{
	struct sshbuf *m = link_begin(t->to, SSH2_FXP_WRITE, a->id);
	int r;

	if ((r = sshbuf_put_string(m, file->to_handle.id,
	    file->to_handle.len)) != 0 ||
	    (r = sshbuf_put_u64(m, a->off)) != 0 ||
	    (r = sshbuf_put_string(m, p, n)) != 0)
		fatal_fr(r, "compose");
	link_end(t->to);
}

static void
relay(struct run *t, struct file *file, const struct plan_action *a,
    struct reply *reply, uint32_t *len)
{
	struct link *from = t->link;
	struct plan_action next;
	const u_char *p;
	size_t n;
	int r;

	file_data(t, a, reply, &p, &n);
	*len = n;
	if (n == 0)
		return;
	t->link = t->to;
	while ((r = plan_relay(t->s, a->job, a->off, *len, &next)) == 1 &&
	    next.op == PLAN_CLEAR)
		cross_send(t, file, &next);
	if (r == -1)
		fatal_f("out of memory");
	if (r == 1)
		send_write(t, file, &next, p, n);
	t->link = from;
}

static enum plan_result
cross_reply(struct run *t, struct file *file, const struct plan_action *a,
    struct reply *reply, uint32_t *len)
{
	Attrib found;

	switch (a->op) {
	case PLAN_OPEN:
		file_handle(t, file, reply, file_on(file, a->lane));
		if (interrupted)
			plan_fail(a->job);	/* as if it had not begun */
		return PLAN_OK;
	case PLAN_READ:
		relay(t, file, a, reply, len);
		return PLAN_OK;
	case PLAN_OPEN_TO:
	case PLAN_EMPTY:
		file_handle(t, file, reply, &file->to_handle);
		return PLAN_OK;
	case PLAN_STAT_TO:
		if (plan_kind(a->job) == PLAN_FILE) {
			file_attrs(t, reply, &found);
			file_keep(file, a->job, &found);
			return PLAN_OK;
		}
		return file_found_dir(t, file, reply);
	case PLAN_FSTAT:
		return file_is_other(t, reply, &found);
	case PLAN_MKDIR:
		file->is_new = 1;
		return PLAN_OK;
	default:
		return cross_is_to(a->op) ? PLAN_OK :
		    get_side.reply(t, file, a, reply, len);
	}
}

static void
cross_fail(struct run *t, struct file *file, const struct plan_action *a,
    u_int status)
{
	const char *why = fx2txt(status);

	if (!cross_is_to(a->op)) {
		get_side.fail(t, file, a, status);
		return;
	}
	if (a->op == PLAN_STAT_TO && plan_kind(a->job) == PLAN_FILE)
		return;
	if (a->op == PLAN_STAT_TO)
		SAY(file, "stat remote: %s", why);
	else if (a->op == PLAN_OPEN_TO || a->op == PLAN_EMPTY)
		SAY(file, "dest open \"%s\": %s", file->dst, why);
	else if (a->op == PLAN_ATTRS)
		SAY(file, "remote fsetstat: %s", why);
	else if (a->op == PLAN_CLOSE_TO)
		SAY(file, "close remote: %s", why);
	else if (a->op == PLAN_SETSTAT)
		file_say(file, 1, SYSLOG_LEVEL_ERROR,
		    "remote setstat \"%s\": %s", file->dst, why);
	else if (a->op == PLAN_WRITE && file->to_status == SSH2_FX_OK)
		file->to_status = status;
	if (a->op == PLAN_EMPTY)
		SAY(file, "dest truncate \"%s\" failed", file->dst);
	/* Upstream ignores what happens after the last WRITE, also a CLOSE. */
	if (a->op == PLAN_STAT_TO || a->op == PLAN_OPEN_TO ||
	    a->op == PLAN_WRITE || a->op == PLAN_CLOSE_TO)
		file->failed = 1;
}

/* Local work */

static void
cross_begin(struct run *t, struct file *file, struct job *j)
{
	if (plan_kind(j) == PLAN_FILE)
		debug2_f("crossload \"%s\" to \"%s\"", file->src, file->dst);
	if (plan_kind(j) == PLAN_FILE && !file->is_new) {
		file->clears = plan_clear(t->s, j);
		file->keeps = 0;
		plan_look(j);
	}
	if (file_is_dir(j) && get_enter(t, file) != 0) {
		file->failed = 1;
		plan_fail(j);
	}
}

static void
cross_settle(struct run *t, struct file *file, const struct plan_action *a)
{
	(void)t;
	if (file->keeps && plan_is_whole(a->job) && a->off < file->a.size)
		file_is_own(file);
}

static void
cross_end(struct run *t, struct file *file, struct job *j)
{
	if (plan_kind(j) == PLAN_DIR)
		get_side.end(t, file, j);
	if (plan_kind(j) != PLAN_FILE)
		return;
	if (file->status != SSH2_FX_OK)
		SAY(file, "read origin \"%s\": %s", file->src,
		    fx2txt(file->status));
	else if (file->to_status != SSH2_FX_OK)
		SAY(file, "write dest \"%s\": %s", file->dst,
		    fx2txt(file->to_status));
	if (!plan_is_whole(j))
		file->failed = 1;
	file_close(t, file);
	if (file->failed && file->depth > 0)
		SAY(file, "crossload \"%s\" to \"%s\" failed", file->src,
		    file->dst);
}

const struct side cross_side = { 0, "origin", "origin", cross_send, cross_reply,
    cross_fail, cross_begin, cross_settle, cross_end, get_add };
