/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * The side of a tree that goes to the server: upload_dir_internal() and
 * sftp_upload() of upstream, in steps. See xitem-hook.h.
 */

#include "includes.h"

#include <sys/types.h>
#include <sys/stat.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log.h"
#include "sshbuf.h"
#include "ssherr.h"
#include "xmalloc.h"

#include "sftpq-hook.h"
#include "xitem-hook.h"
#include "xsparse-hook.h"

/* Requests */

/* Leaves out a hole. Returns how many bytes are to be sent, at "*off". */
static size_t
skip_hole(struct xtree *t, struct xitem *item, const struct xs_action *a,
    off_t *off)
{
	size_t len;

	*off = a->off;
	if (!item->sparse)
		return a->len;
	len = xsparse_next(item->fd, off, a->len);
	if ((uint64_t)*off != a->off) {
		t->count.bytes += *off - a->off;
		item->skipped += *off - a->off;
		xs_skip(t->s, a->id, *off);
	}
	return len;
}

/* Reads into the message; without data there is no message. */
static void
send_write(struct xtree *t, struct xitem *item, const struct xs_action *a)
{
	struct sshbuf *m = xlink_begin(t->link, SSH2_FXP_WRITE, a->id);
	off_t off;
	size_t at, len = skip_hole(t, item, a, &off);
	u_char *p;
	ssize_t n;
	int r;

	if ((r = sshbuf_put_string(m, item->handle.id,
	    item->handle.len)) != 0 ||
	    (r = sshbuf_put_u64(m, off)) != 0)
		fatal_fr(r, "compose");
	at = sshbuf_len(m);
	if ((r = sshbuf_put_u32(m, 0)) != 0 ||
	    (r = sshbuf_reserve(m, len, &p)) != 0)
		fatal_fr(r, "compose");
	while ((n = read(item->fd, p, len)) == -1 && errno == EINTR)
		;
	if (n == -1) {
		SAY(item, "read local \"%s\": %s", item->src,
		    strerror(errno));
		item->failed = 1;
		xs_fail(a->job);
		n = 0;
	}
	if ((r = sshbuf_consume_end(m, len - n)) != 0 ||
	    (r = sshbuf_poke_u32(m, at, n)) != 0)
		fatal_fr(r, "compose");
	item->ends_in_hole = n == 0 && (uint64_t)off != a->off;
	if (n == 0)
		xlink_cancel(t->link);
	else
		xlink_end(t->link);
	xs_sent(t->s, a->id, n);
}

static void
send_mkdir(struct xtree *t, struct xitem *item, const struct xs_action *a)
{
	Attrib writable = item->a;

	/* for the time of the transfer */
	writable.perm |= S_IWUSR | S_IXUSR;
	xitem_send_path(t, a, SSH2_FXP_MKDIR, item->dst, &writable);
}

static void
put_send(struct xtree *t, struct xitem *item, const struct xs_action *a)
{
	switch (a->op) {
	case XS_MKDIR:
		send_mkdir(t, item, a);
		break;
	case XS_STAT:
		xitem_send_path(t, a, SSH2_FXP_STAT, item->dst, NULL);
		break;
	case XS_SETSTAT:
		xitem_send_path(t, a, SSH2_FXP_SETSTAT, item->dst, &item->a);
		break;
	case XS_OPEN:
		xitem_send_open(t, a, item->dst,
		    SSH2_FXF_WRITE | SSH2_FXF_CREAT |
		    ((t->in_place && !item->sparse) || item->clears ? 0 :
		    SSH2_FXF_TRUNC), &item->a);
		break;
	case XS_WRITE:
		send_write(t, item, a);
		break;
	case XS_CLEAR:
	case XS_CUT:
	case XS_TRUNCATE:
		xitem_send_size(t, a, &item->handle);
		break;
	case XS_FSTAT:
		xitem_send_handle(t, a, &item->handle, SSH2_FXP_FSTAT, NULL);
		break;
	case XS_ATTRS:
		xitem_send_handle(t, a, &item->handle, SSH2_FXP_FSETSTAT,
		    &item->a);
		break;
	default:
		xitem_send_handle(t, a, &item->handle, SSH2_FXP_CLOSE, NULL);
	}
}

/* Replies */

/*
 * A file without bytes loses none. One that is copied over in place may be the
 * source itself, by another name or host.
 */
static int
may_empty(const struct xtree *t, const Attrib *found)
{
	return !t->in_place || ((found->flags & SSH2_FILEXFER_ATTR_SIZE) != 0 &&
	    found->size == 0);
}

static enum xs_result
put_reply(struct xtree *t, struct xitem *item, const struct xs_action *a,
    struct xreply *reply, uint32_t *len)
{
	Attrib found;

	(void)len;
	if (a->op == XS_OPEN) {
		xitem_handle(t, item, reply, &item->handle);
		item->has_data = 1;
	} else if (a->op == XS_FSTAT) {
		return xitem_is_other(t, reply);
	} else if (a->op == XS_MKDIR) {
		item->is_new = 1;
	} else if (a->op == XS_STAT && xs_kind(a->job) == XS_FILE) {
		xitem_attrs(t, reply, &found);
		item->sparse = S_ISREG(found.perm) &&
		    may_empty(t, &found);
	} else if (a->op == XS_STAT) {
		xitem_attrs(t, reply, &found);
		if (!S_ISDIR(found.perm)) {
			SAY(item, "\"%s\" exists but is not a directory",
			    item->dst);
			item->failed = 1;
			return XS_FAILED;
		}
	}
	return XS_OK;
}

static void
put_fail(struct xtree *t, struct xitem *item, const struct xs_action *a,
    u_int status)
{
	const char *why = fx2txt(status);

	(void)t;
	if (a->op == XS_STAT && xs_kind(a->job) == XS_FILE) {
		item->sparse = status == SSH2_FX_NO_SUCH_FILE;
		return;
	}
	if (a->op == XS_STAT)
		SAY(item, "stat remote: %s", why);
	else if (a->op == XS_OPEN)
		SAY(item, "dest open \"%s\": %s", item->dst, why);
	else if (a->op == XS_CLOSE)
		SAY(item, "close remote: %s", why);
	else if (a->op == XS_TRUNCATE || a->op == XS_ATTRS)
		SAY(item, "remote fsetstat: %s", why);
	else if (a->op == XS_SETSTAT)
		xitem_say(item, 1, SYSLOG_LEVEL_ERROR,
		    "remote setstat \"%s\": %s", item->dst, why);
	else if (a->op == XS_WRITE && item->status == SSH2_FX_OK)
		item->status = status;
	/*
	 * Upstream ignores it if attributes cannot be set. But a hole at the
	 * end is only there if the size is set.
	 */
	if (a->op == XS_STAT || a->op == XS_OPEN || a->op == XS_CLOSE ||
	    a->op == XS_WRITE || (a->op == XS_TRUNCATE && item->ends_in_hole))
		item->failed = 1;
}

/* Local work */

/* Returns 0, or -1 with a text. */
static int
begin_dir(struct xtree *t, struct xitem *item)
{
	struct stat sb;

	debug2_f("upload local dir \"%s\" to remote \"%s\"", item->src,
	    item->dst);
	if (item->depth >= XITEM_DEPTH_MAX) {
		SAY(item, "Maximum directory depth exceeded: %d levels",
		    item->depth);
		return -1;
	}
	if (stat(item->src, &sb) == -1) {
		SAY(item, "stat local \"%s\": %s", item->src, strerror(errno));
		return -1;
	}
	if (!S_ISDIR(sb.st_mode)) {
		SAY(item, "\"%s\" is not a directory", item->src);
		return -1;
	}
	if (t->print && t->print != SFTP_PROGRESS_ONLY)
		xitem_say(item, 0, XTEXT_OUT, "Entering %s\n", item->src);
	stat_to_attrib(&sb, &item->a);
	item->a.perm &= 01777;
	return 0;
}

/* Returns 0, or -1 with a text. */
static int
begin_file(struct xtree *t, struct xitem *item, struct xs_job *j)
{
	struct stat sb;

	debug2_f("upload local \"%s\" to remote \"%s\"", item->src, item->dst);
	if ((item->fd = open(item->src, O_RDONLY)) == -1) {
		SAY(item, "open local \"%s\": %s", item->src, strerror(errno));
		return -1;
	}
	if (fstat(item->fd, &sb) == -1) {
		SAY(item, "fstat local \"%s\": %s", item->src,
		    strerror(errno));
		return -1;
	}
	if (!S_ISREG(sb.st_mode)) {
		SAY(item, "local \"%s\" is not a regular file", item->src);
		return -1;
	}
	item->size = sb.st_size;
	stat_to_attrib(&sb, &item->a);
	item->a.perm &= 0777;
	/* What tells no limits may refuse a WRITE behind the end. */
	item->sparse = sftpq_handles(t->conn) != 0 &&
	    xsparse_has_hole(item->fd, &sb);
	if (item->sparse)
		xs_look(j);
	item->clears = !t->in_place && !t->alone && !item->is_new &&
	    xs_clear(t->s, j);
	return 0;
}

static void
put_begin(struct xtree *t, struct xitem *item, struct xs_job *j)
{
	if ((xs_kind(j) == XS_DIR ? begin_dir(t, item) :
	    begin_file(t, item, j)) != 0) {
		item->failed = 1;
		xs_fail(j);
		return;
	}
	xs_set_size(t->s, j, item->size);
	item->a.flags &= ~SSH2_FILEXFER_ATTR_SIZE;
	item->a.flags &= ~SSH2_FILEXFER_ATTR_UIDGID;
	if (!t->preserve)
		item->a.flags &= ~SSH2_FILEXFER_ATTR_ACMODTIME;
}

static void
put_settle(struct xtree *t, struct xitem *item, const struct xs_action *a)
{
	(void)t;
	(void)a;
	if (item->status != SSH2_FX_OK)
		SAY(item, "write remote \"%s\": %s", item->dst,
		    fx2txt(item->status));
	close(item->fd);
	item->fd = -1;
}

/* Names are read at once, so that no descriptor is held. */
static void
list_dir(struct xitem *item, struct xs_job *j)
{
	struct dirent *dp;
	DIR *dirp = opendir(item->src);

	if (dirp == NULL) {
		SAY(item, "local opendir \"%s\": %s", item->src,
		    strerror(errno));
		item->failed = 1;
		xs_fail(j);
		return;
	}
	while ((dp = readdir(dirp)) != NULL) {
		if (dp->d_ino != 0 && strcmp(dp->d_name, ".") != 0 &&
		    strcmp(dp->d_name, "..") != 0)
			xitem_name(item, dp->d_name, NULL);
	}
	closedir(dirp);
	xitem_last_name(item);
}

static void
put_end(struct xtree *t, struct xitem *item, struct xs_job *j)
{
	if (xs_kind(j) == XS_DIR && !item->failed)
		list_dir(item, j);
	if (xs_kind(j) != XS_FILE)
		return;
	xitem_close(t, item);
	if (item->failed && item->depth > 0)
		SAY(item, "upload \"%s\" to \"%s\" failed", item->src,
		    item->dst);
}

/* Sets what an entry is. Returns 0, or -1 with a text. */
static int
look_up(struct xtree *t, struct xitem *item, const char *name,
    struct stat *sb)
{
	if (lstat(item->src, sb) == -1) {
		NOTE(item, "local lstat \"%s\": %s", name, strerror(errno));
		t->ret = -1;
		return -1;
	}
	if (S_ISLNK(sb->st_mode) && t->follow && stat(item->src, sb) == -1) {
		NOTE(item, "local stat \"%s\": %s", name, strerror(errno));
		t->ret = -1;
		return -1;
	}
	if (S_ISDIR(sb->st_mode) || S_ISREG(sb->st_mode))
		return 0;
	NOTE(item, "%s: not a regular file", name);
	return -1;
}

static void
put_add(struct xtree *t, struct xitem *dir, struct xs_job *job,
    const struct xname *name)
{
	struct xitem *item = xitem_new(sftp_path_append(dir->src, name->name),
	    sftp_path_append(dir->dst, name->name), dir->depth + 1);
	struct stat sb;
	enum xs_kind kind = XS_NOTE;

	memset(&sb, 0, sizeof(sb));
	if (look_up(t, item, name->name, &sb) == 0)
		kind = S_ISDIR(sb.st_mode) ? XS_DIR : XS_FILE;
	item->is_new = dir->is_new && kind == XS_FILE;
	xitem_add(t, job, kind, item, sb.st_size);
}

const struct xside xput_side = { NULL, NULL, put_send, put_reply,
    put_fail, put_begin, put_settle, put_end, put_add };
