/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * See get-hook.h: download_dir_internal(), sftp_lsreaddir() and sftp_download()
 * of upstream, in steps.
 */

#include "includes.h"

#include <sys/types.h>
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log.h"
#include "misc.h"
#include "sshbuf.h"
#include "ssherr.h"
#include "xmalloc.h"

#include "check-hook.h"
#include "file-hook.h"
#include "from-hook.h"
#include "get-hook.h"
#include "sparse-hook.h"
#include "verdict-hook.h"

extern volatile sig_atomic_t interrupted;

/* Requests */

static void
get_send(struct run *t, struct file *file, const struct plan_action *a)
{
	struct plan_action probe;

	switch (a->op) {
	case PLAN_STAT:
		file_send_path(t, a, SSH2_FXP_STAT, file->src, NULL);
		break;
	case PLAN_OPENDIR:
		file_send_path(t, a, SSH2_FXP_OPENDIR, file->src, NULL);
		break;
	case PLAN_OPEN:
	case PLAN_JOIN:
	case PLAN_REOPEN:
		file_send_open(t, a, file->src, SSH2_FXF_READ, NULL);
		break;
	case PLAN_READDIR:
		file_send_handle(t, a, file_on(file, a->lane),
		    SSH2_FXP_READDIR, NULL);
		break;
	case PLAN_SAME:
	case PLAN_PROVE:
		file_send_handle(t, a, file_on(file, a->lane),
		    SSH2_FXP_FSTAT, NULL);
		break;
	case PLAN_READ:
		file_send_read(t, file, a);
		break;
	case PLAN_REFER:
	case PLAN_PROBE:
	case PLAN_RECALL:
		probe = *a;
		probe.len = PLAN_PROBE_LEN;
		file_send_read(t, file, &probe);
		break;
	default:
		file_send_handle(t, a, file_on(file, a->lane),
		    SSH2_FXP_CLOSE, NULL);
	}
}

/* Replies */

/* Sets what a link leads to. */
static void
follow(struct run *t, struct file *file, struct job *j,
    struct reply *reply)
{
	enum plan_kind kind = PLAN_NOTE;

	file_attrs(t, reply, &file->a);
	if (S_ISDIR(file->a.perm))
		kind = PLAN_DIR;
	else if (S_ISREG(file->a.perm))
		kind = PLAN_FILE;
	else if (file->role == FILE_OF_TREE)
		NOTE(file, "%s \"%s\": not a regular file", t->side->what,
		    file->src);
	kind = from_kind(file, kind);
	file->size = (file->a.flags & SSH2_FILEXFER_ATTR_SIZE) != 0 ?
	    file->a.size : 0;
	t->count.unread -= kind != PLAN_DIR;
	if (kind == PLAN_FILE)
		file_count(t, file);
	if (plan_become(t->s, j, kind, file->size) != 0)
		fatal_f("out of memory");
}

/* Returns 1 if another job writes this file now. */
static int
is_being_written(struct run *t, const struct stat *sb)
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
mode_of(const struct file *file)
{
	return (file->a.flags & SSH2_FILEXFER_ATTR_PERMISSIONS) != 0 ?
	    file->a.perm & 0777 : 0666;
}

/*
 * Opens the local file. It is emptied with the first data, so that a lost link
 * or an interrupt finds few files empty or in part, and after it is known that
 * no other job writes it.
 */
static void
open_local(struct run *t, struct file *file, struct job *j)
{
	struct stat sb;
	Attrib found;

	file->fd = open(file->dst, O_WRONLY | O_CREAT, mode_of(file) | S_IWUSR);
	if (file->fd == -1 || fstat(file->fd, &sb) == -1) {
		SAY(file, "open local \"%s\": %s", file->dst, strerror(errno));
		file->failed = 1;
		plan_fail(j);
		return;
	}
	if ((S_ISREG(sb.st_mode) && is_being_written(t, &sb)) ||
	    (file->from > 0 && !check_is_same(file, &sb))) {
		plan_defer(j);
		return;
	}
	file->keeps = 0;
	stat_to_attrib(&sb, &found);
	if (!t->in_place && S_ISREG(sb.st_mode) && file->from == 0)
		file_keep(file, j, &found);
	file->emptied = t->in_place || !S_ISREG(sb.st_mode) ||
	    sb.st_size == 0 || file->from > 0 || file->keeps;
	file->dev = sb.st_dev;
	file->ino = sb.st_ino;
	t->open[t->nopen++] = file;
	file->has_data = 1;
}

/* Returns 1 if the bytes are in the file, with no old ones behind them. */
static int
write_local(struct run *t, struct file *file, const struct plan_bytes *w)
{
	uint64_t begun_us = verdict_call();
	int ok;

	if (!file->emptied && ftruncate(file->fd, 0) == -1)
		return 0;
	file->emptied = 1;
	ok = sparse_write(file->fd, w->data, w->len, w->off) == w->len;
	verdict_has_written(t, begun_us);
	return ok;
}

/* Writes what can be written: this, and what has waited for it. */
static enum plan_result
take_data(struct run *t, struct file *file, const struct plan_action *a,
    struct reply *reply, uint32_t *len)
{
	struct plan_bytes w;
	const u_char *p;
	size_t n;
	int r, ok;

	file_data(t, a, reply, &p, &n);
	*len = n;
	r = plan_data(t->s, a->id, p, n, &w);
	while (r == 1) {
		ok = write_local(t, file, &w);
		if (!ok)
			file->write_errno = errno;
		r = plan_written(t->s, a->job, ok, &w);
	}
	if (r == -1)
		fatal_f("out of memory");
	if (file->write_errno == 0)
		return PLAN_OK;
	file->failed = 1;
	plan_fail(a->job);
	return PLAN_FAILED;
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
take_name(struct run *t, struct file *file, struct sshbuf *m)
{
	char *name = NULL;
	const u_char *skipped;
	size_t n;
	Attrib a;
	int r;

	if ((r = sshbuf_get_cstring(m, &name, NULL)) != 0 ||
	    (r = sshbuf_get_string_direct(m, &skipped, &n)) != 0 ||
	    (r = decode_attrib(m, &a)) != 0)
		link_fatal(t->link, "Server sent a malformed name during "
		    "readdir of \"%s\": %s", file->src, ssh_err(r));
	if (!is_good_name(name, &a))
		SAY(file, "Server sent suspect path \"%s\" during readdir "
		    "of \"%s\"", name, file->src);
	else if (t->dots)
		file_name(file, name, &a);
	else if (strcmp(name, ".") != 0 && strcmp(name, "..") != 0) {
		if (file_new_name(file, name, &a) == 0)
			file_count_name(t, &a, 1);
		else
			debug_f("\"%s\" is listed twice", name);
	}
	free(name);
}

static enum plan_result
take_names(struct run *t, struct file *file, struct reply *reply)
{
	uint32_t count, i;
	int r;

	if ((r = sshbuf_get_u32(reply->m, &count)) != 0)
		link_fatal(t->link, "parse count: %s", ssh_err(r));
	for (i = 0; i < count; i++)
		take_name(t, file, reply->m);
	return count == 0 ? PLAN_EOF : PLAN_OK;
}

/* Returns 1 if mode and owner are the same, as far as both are told. */
static int
has_same_owner(const Attrib *a, const Attrib *b)
{
	u_int both = a->flags & b->flags;

	return ((both & SSH2_FILEXFER_ATTR_PERMISSIONS) == 0 ||
	    a->perm == b->perm) && ((both & SSH2_FILEXFER_ATTR_UIDGID) == 0 ||
	    (a->uid == b->uid && a->gid == b->gid));
}

/*
 * The reply to PLAN_SAME. A file that has taken the place of the first is not
 * the one that is read. Without another link that has it the copy fails.
 */
static enum plan_result
take_same(struct run *t, struct file *file, const struct plan_action *a,
    struct reply *reply)
{
	Attrib now;

	file_attrs(t, reply, &now);
	if (file_is_same(&now, &file->a) && has_same_owner(&now, &file->a))
		return PLAN_OK;
	if (a->lane != plan_lane(a->job) || plan_is_looked_at(a->job)) {
		verbose("\"%s\" is another file for connection %u, which is "
		    "not used", file->src, a->lane + 1);
		return PLAN_FAILED;
	}
	SAY(file, "remote \"%s\" is another file since a connection was lost",
	    file->src);
	file->failed = 1;
	return PLAN_FAILED;
}

static void
take_probe_data(struct run *t, const struct plan_action *a,
    struct reply *reply, const u_char **p, size_t *n)
{
	struct plan_action probe = *a;

	probe.len = PLAN_PROBE_LEN;
	file_data(t, &probe, reply, p, n);
}

/* The reply to PLAN_REFER or PLAN_PROBE: the second one is compared. */
static enum plan_result
take_probe(struct run *t, struct file *file, const struct plan_action *a,
    struct reply *reply)
{
	struct probe **place = &file->probes, *other;
	const u_char *p;
	size_t n;
	int same;

	take_probe_data(t, a, reply, &p, &n);
	while (*place != NULL && (*place)->off != a->off)
		place = &(*place)->next;
	if ((other = *place) == NULL) {
		*place = other = xcalloc(1, sizeof(*other) + n);
		other->off = a->off;
		other->len = n;
		memcpy(other->data, p, n);
		return PLAN_OK;
	}
	*place = other->next;
	n = MINIMUM(n, other->len);
	same = n > 0 && memcmp(p, other->data, n) == 0;
	free(other);
	if (same)
		return PLAN_OK;
	verbose("\"%s\" has other bytes for a further connection, which is not "
	    "used", file->src);
	return PLAN_FAILED;
}

/* Reads of what was got. Returns -1 if it cannot be read. */
static ssize_t
read_back(const struct file *file, void *p, size_t len, off_t off)
{
	int fd = open(file->dst, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct stat sb;
	ssize_t n = -1;

	if (fd != -1 && fstat(fd, &sb) == 0 && S_ISREG(sb.st_mode) &&
	    sb.st_ino == file->ino && sb.st_dev == file->dev)
		n = pread(fd, p, len, off);
	if (fd != -1)
		close(fd);
	return n;
}

/* The reply to PLAN_RECALL: what has come is a part of it. */
static enum plan_result
take_recall(struct run *t, struct file *file, const struct plan_action *a,
    struct reply *reply)
{
	u_char ours[PLAN_PROBE_LEN];
	const u_char *p;
	size_t n;
	ssize_t len;

	take_probe_data(t, a, reply, &p, &n);
	len = read_back(file, ours, n, a->off);
	if (len == -1 || (len > 0 && memcmp(p, ours, len) == 0))
		return PLAN_OK;
	SAY(file, "remote \"%s\" is another file since a connection was lost",
	    file->src);
	file->failed = 1;
	return PLAN_FAILED;
}

static enum plan_result
get_reply(struct run *t, struct file *file, const struct plan_action *a,
    struct reply *reply, uint32_t *len)
{
	if (a->op == PLAN_READ)
		return take_data(t, file, a, reply, len);
	if (a->op == PLAN_READDIR)
		return take_names(t, file, reply);
	if (a->op == PLAN_SAME)
		return take_same(t, file, a, reply);
	if (a->op == PLAN_PROVE)
		return file_proves(t, file, reply);
	if (a->op == PLAN_REFER || a->op == PLAN_PROBE)
		return take_probe(t, file, a, reply);
	if (a->op == PLAN_RECALL)
		return take_recall(t, file, a, reply);
	if (a->op == PLAN_STAT)
		follow(t, file, a->job, reply);
	if (a->op == PLAN_OPEN || a->op == PLAN_OPENDIR ||
	    a->op == PLAN_JOIN || a->op == PLAN_REOPEN)
		file_handle(t, file, reply, file_on(file, a->lane));
	if (a->op == PLAN_OPEN && interrupted)
		plan_fail(a->job);	/* as if it had not begun */
	else if (a->op == PLAN_OPEN)
		open_local(t, file, a->job);
	return PLAN_OK;
}

static void
get_fail(struct run *t, struct file *file, const struct plan_action *a,
    u_int status)
{
	const char *why = fx2txt(status);

	/* The file goes over fewer links. */
	if (a->op == PLAN_JOIN || a->op == PLAN_PART || a->op == PLAN_PROVE ||
	    a->op == PLAN_REFER || a->op == PLAN_PROBE ||
	    (a->op == PLAN_SAME && a->lane != plan_lane(a->job)))
		return;
	file->failed |= a->op != PLAN_CLOSE || plan_kind(a->job) == PLAN_FILE;
	if (a->op == PLAN_CLOSE)
		SAY(file, "close remote: %s", why);
	else if (a->op == PLAN_STAT && file->role == FILE_OF_TREE)
		NOTE(file, "remote stat \"%s\" failed", file->src);
	else if (a->op == PLAN_STAT && file->role == FILE_NAMED)
		SAY(file, "stat remote \"%s\": %s", file->src, why);
	else if (a->op == PLAN_OPEN || a->op == PLAN_REOPEN)
		SAY(file, "%s open \"%s\": %s", t->side->where, file->src,
		    why);
	else if (file->status == SSH2_FX_OK) {
		file->status = status == SSH2_FX_OK ? SSH2_FX_FAILURE : status;
		if (a->op == PLAN_OPENDIR)
			SAY(file, "remote readdir(\"%s\"): %s", file->src, why);
		else if (a->op == PLAN_READDIR)
			SAY(file, "Couldn't read directory: %s", why);
	}
}

/* Local work */

int
get_enter(struct run *t, struct file *file)
{
	debug2_f("%s dir \"%s\" to \"%s\"", t->side->what, file->src,
	    file->dst);
	if (file->depth >= FILE_DEPTH_MAX) {
		SAY(file, "Maximum directory depth exceeded: %d levels",
		    file->depth);
		return -1;
	}
	if (!S_ISDIR(file->a.perm)) {
		SAY(file, "\"%s\" is not a directory", file->src);
		return -1;
	}
	if (t->print && t->print != SFTP_PROGRESS_ONLY)
		file_say(file, 0, TEXT_OUT, "Retrieving %s\n", file->src);
	return 0;
}

/* Returns 0, or -1 with a text. */
static int
make_local_dir(struct file *file)
{
	mode_t mode = 0777;

	if ((file->a.flags & SSH2_FILEXFER_ATTR_PERMISSIONS) != 0)
		mode = (file->a.perm & 01777) | S_IWUSR | S_IXUSR;
	if (mkdir(file->dst, mode) == -1 && errno != EEXIST) {
		SAY(file, "mkdir %s: %s", file->dst, strerror(errno));
		return -1;
	}
	return 0;
}

static void
get_begin(struct run *t, struct file *file, struct job *j)
{
	if (file_is_dir(j) &&
	    (get_enter(t, file) != 0 || make_local_dir(file) != 0)) {
		file->failed = 1;
		plan_fail(j);
	}
	if (plan_kind(j) == PLAN_FILE)
		check_begin(t, file, j);
}

/*
 * Cuts what may be longer than what came. A file that was not emptied is empty
 * at the server, or of it nothing came: then it stays as it was, as does the
 * end of one that goes on. What is tried again in place may be its own source.
 */
static void
cut_local(struct run *t, struct file *file, const struct plan_action *a)
{
	uint64_t off = a->off;
	int whole = plan_is_whole(a->job);

	if (file->keeps || (t->in_place ?
	    plan_goes_again(a->job) && !interrupted : file->from > 0 ?
	    !whole && off == file->from : whole == file->emptied))
		return;
	debug("truncating at %llu", (unsigned long long)off);
	if (ftruncate(file->fd, off) == 0)
		return;
	SAY(file, "local ftruncate \"%s\": %s", file->dst, strerror(errno));
	file->failed |= !file->emptied;
}

static void
get_settle(struct run *t, struct file *file, const struct plan_action *a)
{
	int whole = plan_is_whole(a->job);

	cut_local(t, file, a);
	if (file->keeps && whole && a->off < file->a.size)
		file_is_own(file);
	if (file->status != SSH2_FX_OK)
		SAY(file, "read remote \"%s\" : %s", file->src,
		    fx2txt(file->status));
	else if (file->write_errno != 0)
		SAY(file, "write local \"%s\": %s", file->dst,
		    strerror(file->write_errno));
	if (!whole)
		file->failed = 1;
}

static void
sync_local(struct file *file)
{
	debug("syncing \"%s\"", file->dst);
	if (fsync(file->fd) == 0)
		return;
	SAY(file, "local sync \"%s\": %s", file->dst, strerror(errno));
	file->failed = 1;
}

/*
 * A file system may say only when it is closed that there is no room. The times
 * are set after that, and only then: a file that has them is believed to be
 * whole.
 */
static void
end_file(struct run *t, struct file *file, int whole)
{
	int preserves = file->has_data && t->preserve && whole, closed;
	uint64_t begun_us = verdict_call();

	if (preserves && fchmod(file->fd, mode_of(file)) == -1)
		SAY(file, "local chmod \"%s\": %s", file->dst,
		    strerror(errno));
	if (t->sync && file->has_data && whole)
		sync_local(file);
	closed = file_close(t, file);
	verdict_has_written(t, begun_us);
	if (closed == -1 && file->write_errno == 0) {
		SAY(file, "close local \"%s\": %s", file->dst,
		    strerror(errno));
		file->failed = 1;
	} else if (preserves)
		file_set_times(file, 0);
	if (file->failed && file->depth > 0)
		SAY(file, "Download of file %s to %s failed", file->src,
		    file->dst);
}

static void
leave_dir(struct run *t, struct file *file)
{
	mode_t mode = file->a.perm & 01777;

	if (t->preserve)
		file_set_times(file, 1);
	if ((file->a.flags & SSH2_FILEXFER_ATTR_PERMISSIONS) != 0 &&
	    (mode & (S_IWUSR | S_IXUSR)) != (S_IWUSR | S_IXUSR) &&
	    chmod(file->dst, mode) == -1)
		file_say(file, 1, SYSLOG_LEVEL_ERROR,
		    "local chmod directory \"%s\": %s", file->dst,
		    strerror(errno));
}

static void
get_end(struct run *t, struct file *file, struct job *j)
{
	if (plan_kind(j) == PLAN_FILE)
		end_file(t, file, plan_is_whole(j));
	else if (plan_kind(j) == PLAN_LEAVE && !file->failed)
		leave_dir(t, file);
	else if (plan_kind(j) == PLAN_DIR) {
		file_close(t, file);
		file_last_name(file);
		if (file->status != SSH2_FX_OK)
			SAY(file, "%s readdir \"%s\" failed", t->side->where,
			    file->src);
	}
}

void
get_add(struct run *t, struct file *dir, struct job *job,
    const struct name *name)
{
	struct file *file;
	enum plan_kind kind = PLAN_NOTE;

	file = file_new(sftp_path_append(dir->src, name->name),
	    sftp_path_append(dir->dst, name->name), dir->depth + 1);
	file->a = name->a;
	if (S_ISLNK(file->a.perm) && t->follow)
		kind = PLAN_LINK;
	else if (S_ISDIR(file->a.perm))
		kind = PLAN_DIR;
	else if (S_ISREG(file->a.perm))
		kind = PLAN_FILE;
	else
		NOTE(file, "%s \"%s\": not a regular file", t->side->what,
		    file->src);
	file->is_new = dir->is_new && kind == PLAN_FILE;
	file_add(t, job, kind, file,
	    (file->a.flags & SSH2_FILEXFER_ATTR_SIZE) != 0 ? file->a.size : 0);
}

const struct side get_side = { 0, "download", "remote", get_send,
    get_reply, get_fail, get_begin, get_settle, get_end, get_add };
