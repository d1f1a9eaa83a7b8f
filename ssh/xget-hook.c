/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * The side of a tree that comes from the server: download_dir_internal(),
 * sftp_lsreaddir() and sftp_download() of upstream, in steps. See xitem-hook.h.
 *
 * A name from the server becomes part of a local path. So one with a slash, and
 * "." and "..", are refused, as is a second entry of the same name: two jobs
 * never write the same path. Links that lie here may lead two paths to one
 * file. Then the one that was opened later waits until the other is whole.
 */

#include "includes.h"

#include <sys/types.h>
#include <sys/stat.h>
#include <sys/time.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log.h"
#include "sshbuf.h"
#include "ssherr.h"
#include "xmalloc.h"

#include "xitem-hook.h"
#include "xsparse-hook.h"

extern volatile sig_atomic_t interrupted;

/* Requests */

static void
send_read(struct xtree *t, struct xitem *item, const struct xs_action *a)
{
	struct sshbuf *m = xlink_begin(t->link, SSH2_FXP_READ, a->id);
	int r;

	if ((r = sshbuf_put_string(m, item->handle.id,
	    item->handle.len)) != 0 ||
	    (r = sshbuf_put_u64(m, a->off)) != 0 ||
	    (r = sshbuf_put_u32(m, a->len)) != 0)
		fatal_fr(r, "compose");
	xlink_end(t->link);
}

static void
get_send(struct xtree *t, struct xitem *item, const struct xs_action *a)
{
	Attrib none;

	switch (a->op) {
	case XS_STAT:
		xitem_send_path(t, a, SSH2_FXP_STAT, item->src, NULL);
		break;
	case XS_OPENDIR:
		xitem_send_path(t, a, SSH2_FXP_OPENDIR, item->src, NULL);
		break;
	case XS_OPEN:
		attrib_clear(&none);
		xitem_send_open(t, a, item->src, SSH2_FXF_READ, &none);
		break;
	case XS_READDIR:
		xitem_send_handle(t, a, &item->handle, SSH2_FXP_READDIR, NULL);
		break;
	case XS_READ:
		send_read(t, item, a);
		break;
	default:
		xitem_send_handle(t, a, &item->handle, SSH2_FXP_CLOSE, NULL);
	}
}

/* Replies */

/* Sets what a link leads to. */
static void
follow(struct xtree *t, struct xitem *item, struct xs_job *j,
    struct xreply *reply)
{
	enum xs_kind kind = XS_NOTE;

	xitem_attrs(t, reply, &item->a);
	if (S_ISDIR(item->a.perm))
		kind = XS_DIR;
	else if (S_ISREG(item->a.perm))
		kind = XS_FILE;
	else
		NOTE(item, "%s \"%s\": not a regular file", t->side->what,
		    item->src);
	item->size = (item->a.flags & SSH2_FILEXFER_ATTR_SIZE) != 0 ?
	    item->a.size : 0;
	t->count.unread -= kind != XS_DIR;
	if (kind == XS_FILE)
		xitem_count(t, item);
	if (xs_become(t->s, j, kind, item->size) != 0)
		fatal_f("out of memory");
}

/* Returns 1 if another job writes this file now. */
static int
is_being_written(struct xtree *t, const struct stat *sb)
{
	size_t i;

	for (i = 0; i < t->nopen; i++) {
		if (t->open[i]->ino == sb->st_ino &&
		    t->open[i]->dev == sb->st_dev)
			return 1;
	}
	return 0;
}

static u_int
mode_of(const struct xitem *item)
{
	return (item->a.flags & SSH2_FILEXFER_ATTR_PERMISSIONS) != 0 ?
	    item->a.perm & 0777 : 0666;
}

/*
 * Opens the local file. It is emptied with the first data, so that a lost link
 * or an interrupt finds few files empty or in part, and after it is known that
 * no other job writes it.
 */
static void
open_local(struct xtree *t, struct xitem *item, struct xs_job *j)
{
	struct stat sb;

	item->fd = open(item->dst, O_WRONLY | O_CREAT, mode_of(item) | S_IWUSR);
	if (item->fd == -1 || fstat(item->fd, &sb) == -1) {
		SAY(item, "open local \"%s\": %s", item->dst, strerror(errno));
		item->failed = 1;
		xs_fail(j);
		return;
	}
	if (S_ISREG(sb.st_mode) && is_being_written(t, &sb)) {
		xs_defer(j);
		return;
	}
	item->emptied = t->in_place || !S_ISREG(sb.st_mode) || sb.st_size == 0;
	item->dev = sb.st_dev;
	item->ino = sb.st_ino;
	t->open[t->nopen++] = item;
	item->has_data = 1;
}

/* Returns 1 if the bytes are in the file, with no old ones behind them. */
static int
write_local(struct xitem *item, const u_char *p, size_t n, uint64_t off)
{
	if (!item->emptied && ftruncate(item->fd, 0) == -1)
		return 0;
	item->emptied = 1;
	return xsparse_write(item->fd, p, n, off) == n;
}

void
xget_data(struct xtree *t, const struct xs_action *a, struct xreply *reply,
    const u_char **p, size_t *n)
{
	int r;

	if ((r = sshbuf_get_string_direct(reply->m, p, n)) != 0)
		xlink_fatal(t->link, "parse data: %s", ssh_err(r));
	if (*n > a->len)
		xlink_fatal(t->link, "Received more data than asked for "
		    "%zu > %u", *n, a->len);
}

static enum xs_result
take_data(struct xtree *t, struct xitem *item, const struct xs_action *a,
    struct xreply *reply, uint32_t *len)
{
	const u_char *p;
	size_t n;

	xget_data(t, a, reply, &p, &n);
	*len = n;
	if (item->write_errno != 0 || write_local(item, p, n, a->off))
		return item->write_errno == 0 ? XS_OK : XS_FAILED;
	item->write_errno = errno;
	item->failed = 1;
	xs_fail(a->job);
	return XS_FAILED;
}

/* Returns 1 if a name of the server may be part of a local path. */
static int
is_good_name(const char *name, const Attrib *a)
{
	if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return S_ISDIR(a->perm);	/* to be left out */
	return *name != '\0' && strpbrk(name, "/") == NULL;
}

static void
take_name(struct xtree *t, struct xitem *item, struct sshbuf *m)
{
	char *name = NULL;
	const u_char *skipped;
	size_t n;
	Attrib a;
	int r;

	if ((r = sshbuf_get_cstring(m, &name, NULL)) != 0 ||
	    (r = sshbuf_get_string_direct(m, &skipped, &n)) != 0 ||
	    (r = decode_attrib(m, &a)) != 0)
		xlink_fatal(t->link, "Server sent a malformed name during "
		    "readdir of \"%s\": %s", item->src, ssh_err(r));
	if (!is_good_name(name, &a))
		SAY(item, "Server sent suspect path \"%s\" during readdir "
		    "of \"%s\"", name, item->src);
	else if (t->dots)
		xitem_name(item, name, &a);
	else if (strcmp(name, ".") != 0 && strcmp(name, "..") != 0) {
		if (xitem_new_name(item, name, &a) == 0)
			xitem_count_name(t, &a, 1);
		else
			debug_f("\"%s\" is listed twice", name);
	}
	free(name);
}

static enum xs_result
take_names(struct xtree *t, struct xitem *item, struct xreply *reply)
{
	uint32_t count, i;
	int r;

	if ((r = sshbuf_get_u32(reply->m, &count)) != 0)
		xlink_fatal(t->link, "parse count: %s", ssh_err(r));
	for (i = 0; i < count; i++)
		take_name(t, item, reply->m);
	return count == 0 ? XS_EOF : XS_OK;
}

static enum xs_result
get_reply(struct xtree *t, struct xitem *item, const struct xs_action *a,
    struct xreply *reply, uint32_t *len)
{
	if (a->op == XS_READ)
		return take_data(t, item, a, reply, len);
	if (a->op == XS_READDIR)
		return take_names(t, item, reply);
	if (a->op == XS_STAT)
		follow(t, item, a->job, reply);
	if (a->op == XS_OPEN || a->op == XS_OPENDIR)
		xitem_handle(t, item, reply, &item->handle);
	if (a->op == XS_OPEN && interrupted)
		xs_fail(a->job);	/* as if it had not begun */
	else if (a->op == XS_OPEN)
		open_local(t, item, a->job);
	return XS_OK;
}

static void
get_fail(struct xtree *t, struct xitem *item, const struct xs_action *a,
    u_int status)
{
	const char *why = fx2txt(status);

	item->failed |= a->op != XS_CLOSE || xs_kind(a->job) == XS_FILE;
	if (a->op == XS_CLOSE)
		SAY(item, "close remote: %s", why);
	else if (a->op == XS_STAT)
		NOTE(item, "remote stat \"%s\" failed", item->src);
	else if (a->op == XS_OPEN)
		SAY(item, "%s open \"%s\": %s", t->side->where, item->src,
		    why);
	else if (item->status == SSH2_FX_OK) {
		item->status = status == SSH2_FX_OK ? SSH2_FX_FAILURE : status;
		if (a->op == XS_OPENDIR)
			SAY(item, "remote readdir(\"%s\"): %s", item->src, why);
		else if (a->op == XS_READDIR)
			SAY(item, "Couldn't read directory: %s", why);
	}
}

/* Local work */

int
xget_enter(struct xtree *t, struct xitem *item)
{
	debug2_f("%s dir \"%s\" to \"%s\"", t->side->what, item->src,
	    item->dst);
	if (item->depth >= XITEM_DEPTH_MAX) {
		SAY(item, "Maximum directory depth exceeded: %d levels",
		    item->depth);
		return -1;
	}
	if (!S_ISDIR(item->a.perm)) {
		SAY(item, "\"%s\" is not a directory", item->src);
		return -1;
	}
	if (t->print && t->print != SFTP_PROGRESS_ONLY)
		xitem_say(item, 0, XTEXT_OUT, "Retrieving %s\n", item->src);
	return 0;
}

/* Returns 0, or -1 with a text. */
static int
make_local_dir(struct xitem *item)
{
	mode_t mode = 0777;

	if ((item->a.flags & SSH2_FILEXFER_ATTR_PERMISSIONS) != 0)
		mode = (item->a.perm & 01777) | S_IWUSR | S_IXUSR;
	if (mkdir(item->dst, mode) == -1 && errno != EEXIST) {
		SAY(item, "mkdir %s: %s", item->dst, strerror(errno));
		return -1;
	}
	return 0;
}

static void
get_begin(struct xtree *t, struct xitem *item, struct xs_job *j)
{
	if (xs_kind(j) == XS_DIR &&
	    (xget_enter(t, item) != 0 || make_local_dir(item) != 0)) {
		item->failed = 1;
		xs_fail(j);
	}
}

/*
 * Cuts what may be longer than what came. A file that was not emptied is empty
 * at the server, or of it nothing came: then it stays as it was.
 */
static void
cut_local(struct xtree *t, struct xitem *item, uint64_t off, int whole)
{
	if (!t->in_place && whole == item->emptied)
		return;
	debug("truncating at %llu", (unsigned long long)off);
	if (ftruncate(item->fd, off) == 0)
		return;
	SAY(item, "local ftruncate \"%s\": %s", item->dst, strerror(errno));
	item->failed |= !item->emptied;
}

static void
get_settle(struct xtree *t, struct xitem *item, const struct xs_action *a)
{
	int whole = xs_is_whole(a->job);

	cut_local(t, item, a->off, whole);
	if (item->status != SSH2_FX_OK)
		SAY(item, "read remote \"%s\" : %s", item->src,
		    fx2txt(item->status));
	else if (item->write_errno != 0)
		SAY(item, "write local \"%s\": %s", item->dst,
		    strerror(item->write_errno));
	if (!whole)
		item->failed = 1;
}

static void
set_times(const char *path, const Attrib *a, struct xitem *item, int after,
    const char *what)
{
	struct timeval tv[2];

	memset(tv, 0, sizeof(tv));
	tv[0].tv_sec = a->atime;
	tv[1].tv_sec = a->mtime;
	if (utimes(path, tv) == -1)
		xitem_say(item, after, SYSLOG_LEVEL_ERROR,
		    "local set times %s\"%s\": %s", what, path,
		    strerror(errno));
}

/*
 * A file system may say only when it is closed that there is no room. The times
 * are set after that, and only then: a file that has them is believed to be
 * whole.
 */
static void
end_file(struct xtree *t, struct xitem *item, int whole)
{
	int preserves = item->has_data && t->preserve && whole;

	if (preserves && fchmod(item->fd, mode_of(item)) == -1)
		SAY(item, "local chmod \"%s\": %s", item->dst,
		    strerror(errno));
	if (xitem_close(t, item) == -1 && item->write_errno == 0) {
		SAY(item, "close local \"%s\": %s", item->dst,
		    strerror(errno));
		item->failed = 1;
	} else if (preserves &&
	    (item->a.flags & SSH2_FILEXFER_ATTR_ACMODTIME) != 0)
		set_times(item->dst, &item->a, item, 0, "");
	if (item->failed && item->depth > 0)
		SAY(item, "Download of file %s to %s failed", item->src,
		    item->dst);
}

static void
leave_dir(struct xtree *t, struct xitem *item)
{
	mode_t mode = item->a.perm & 01777;

	if (t->preserve &&
	    (item->a.flags & SSH2_FILEXFER_ATTR_ACMODTIME) != 0)
		set_times(item->dst, &item->a, item, 1, "on ");
	if ((item->a.flags & SSH2_FILEXFER_ATTR_PERMISSIONS) != 0 &&
	    (mode & (S_IWUSR | S_IXUSR)) != (S_IWUSR | S_IXUSR) &&
	    chmod(item->dst, mode) == -1)
		xitem_say(item, 1, SYSLOG_LEVEL_ERROR,
		    "local chmod directory \"%s\": %s", item->dst,
		    strerror(errno));
}

static void
get_end(struct xtree *t, struct xitem *item, struct xs_job *j)
{
	if (xs_kind(j) == XS_FILE)
		end_file(t, item, xs_is_whole(j));
	else if (xs_kind(j) == XS_LEAVE && !item->failed)
		leave_dir(t, item);
	else if (xs_kind(j) == XS_DIR) {
		xitem_close(t, item);
		xitem_last_name(item);
		if (item->status != SSH2_FX_OK)
			SAY(item, "%s readdir \"%s\" failed", t->side->where,
			    item->src);
	}
}

static void
get_add(struct xtree *t, struct xitem *dir, struct xs_job *job,
    const struct xname *name)
{
	struct xitem *item;
	enum xs_kind kind = XS_NOTE;

	item = xitem_new(sftp_path_append(dir->src, name->name),
	    sftp_path_append(dir->dst, name->name), dir->depth + 1);
	item->a = name->a;
	if (S_ISLNK(item->a.perm) && t->follow)
		kind = XS_LINK;
	else if (S_ISDIR(item->a.perm))
		kind = XS_DIR;
	else if (S_ISREG(item->a.perm))
		kind = XS_FILE;
	else
		NOTE(item, "%s \"%s\": not a regular file", t->side->what,
		    item->src);
	item->is_new = dir->is_new && kind == XS_FILE;
	xitem_add(t, job, kind, item,
	    (item->a.flags & SSH2_FILEXFER_ATTR_SIZE) != 0 ? item->a.size : 0);
}

const struct xside xget_side = { "download", "remote", get_send,
    get_reply, get_fail, get_begin, get_settle, get_end, get_add };
