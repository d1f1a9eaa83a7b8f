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
#include "xmalloc.h"

#include "bottleneck-hook.h"
#include "file-hook.h"
#include "files-from-hook.h"
#include "get-hook.h"
#include "sparse-hook.h"
#include "verify-run-hook.h"

extern volatile sig_atomic_t interrupted;

/* Requests */

static void
get_send(struct transfer *t, struct file *file, const struct sched_action *a)
{
	struct sched_action probe;

	switch (a->op) {
	case OP_STAT:
		file_send_path(t, a, SSH2_FXP_STAT, file->src, NULL);
		break;
	case OP_OPENDIR:
		file_send_path(t, a, SSH2_FXP_OPENDIR, file->src, NULL);
		break;
	case OP_OPEN:
	case OP_HELPER_OPEN:
	case OP_REOPEN:
		file_send_open(t, a, file->src, SSH2_FXF_READ, NULL);
		break;
	case OP_READDIR:
		file_send_handle(t, a, file_handle_for(file, a->conn),
		    SSH2_FXP_READDIR, NULL);
		break;
	case OP_FSTAT_IDENTITY:
	case OP_FSTAT_SOURCE:
		file_send_handle(t, a, file_handle_for(file, a->conn),
		    SSH2_FXP_FSTAT, NULL);
		break;
	case OP_READ:
		file_send_read(t, file, a);
		break;
	case OP_SAMPLE_OWNER:
	case OP_SAMPLE_HELPER:
	case OP_SAMPLE_REOPENED:
		probe = *a;
		probe.len = SCHED_SAMPLE_LEN;
		file_send_read(t, file, &probe);
		break;
	default:
		file_send_handle(t, a, file_handle_for(file, a->conn),
		    SSH2_FXP_CLOSE, NULL);
	}
}

/* Replies */

/* Sets what a link leads to. */
static void
set_link_target(struct transfer *t, struct file *file, struct reply *reply,
    struct sched_reply *told)
{
	enum sched_kind kind = KIND_MESSAGE;

	file_parse_attrs(t, reply, &file->a);
	if (S_ISDIR(file->a.perm))
		kind = KIND_DIR;
	else if (S_ISREG(file->a.perm))
		kind = KIND_FILE;
	else if (file->role == FILE_OF_TREE)
		file_info(file, "%s \"%s\": not a regular file",
		    t->ops->kind_text, file->src);
	kind = files_from_kind(file, kind);
	file->size = (file->a.flags & SSH2_FILEXFER_ATTR_SIZE) != 0 ?
	    file->a.size : 0;
	t->count.unlisted -= kind != KIND_DIR;
	if (kind == KIND_FILE)
		file_count(t, file);
	told->kind = kind;
	told->size = file->size;
}

/* Returns 1 if another entry writes this file now. */
static int
is_being_written(struct transfer *t, const struct stat *sb)
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
 * Opens the local file. It is emptied with the first data, so that a lost
 * connection or an interrupt finds few files empty or in part, and after it is
 * known that no other entry writes it.
 */
static void
open_local_target(struct transfer *t, struct file *file, struct sched_entry *j,
    struct sched_reply *told)
{
	struct stat sb;
	Attrib found;

	file->fd = open(file->dst, O_WRONLY | O_CREAT, mode_of(file) | S_IWUSR);
	if (file->fd == -1 || fstat(file->fd, &sb) == -1) {
		file_error(file, "open local \"%s\": %s", file->dst,
		    strerror(errno));
		file->failed = 1;
		sched_fail(j);
		return;
	}
	if ((S_ISREG(sb.st_mode) && is_being_written(t, &sb)) ||
	    (file->start_off > 0 && !verify_run_is_same(file, &sb))) {
		told->local_conflict = 1;
		return;
	}
	file->possible_source = 0;
	stat_to_attrib(&sb, &found);
	if (!t->in_place && S_ISREG(sb.st_mode) && file->start_off == 0)
		file_note_possible_source(file, told, &found);
	file->old_bytes_gone = t->in_place || !S_ISREG(sb.st_mode) ||
	    sb.st_size == 0 || file->start_off > 0 || file->possible_source;
	file->dev = sb.st_dev;
	file->ino = sb.st_ino;
	t->open[t->nopen++] = file;
	file->has_data = 1;
}

/* Returns 1 if the bytes are in the file, with no old ones behind them. */
static int
write_local(struct transfer *t, struct file *file, const struct sched_bytes *w)
{
	uint64_t begun_us = bottleneck_call_begin();
	int ok;

	if (!file->old_bytes_gone && ftruncate(file->fd, 0) == -1)
		return 0;
	file->old_bytes_gone = 1;
	ok = sparse_write(file->fd, w->data, w->len, w->off) == w->len;
	bottleneck_count_written(t, begun_us);
	return ok;
}

/* Writes what can be written: this, and what has waited for it. */
static enum sched_result
take_read_data(struct transfer *t, struct file *file,
    const struct sched_action *a, struct reply *reply,
    struct sched_reply *told)
{
	struct sched_bytes w;
	const u_char *p;
	size_t n;
	int r, ok;

	file_parse_data(t, a, reply, &p, &n);
	told->len = n;
	r = sched_data_in(t->sched, a->id, p, n, &w);
	while (r == 1) {
		ok = write_local(t, file, &w);
		if (!ok)
			file->write_errno = errno;
		r = sched_data_written(t->sched, a->entry, ok, &w);
	}
	if (r == -1)
		fatal_f("out of memory");
	if (file->write_errno == 0)
		return RESULT_OK;
	file->failed = 1;
	sched_fail(a->entry);
	return RESULT_FAILED;
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
take_listed_name(struct transfer *t, struct file *file, struct sshbuf *m)
{
	char *name;
	Attrib a;

	stream_check_reply(t->stream, reply_get_name(m, &name, &a),
	    "name of a listing");
	if (!is_good_name(name, &a))
		file_error(file,
		    "Server sent suspect path \"%s\" during readdir "
		    "of \"%s\"", name, file->src);
	else if (t->keep_dots)
		dir_add(file, name, &a);
	else if (strcmp(name, ".") != 0 && strcmp(name, "..") != 0) {
		if (dir_add_unique(file, name, &a) == 0)
			file_count_listed(t, &a, 1);
		else
			debug_f("\"%s\" is listed twice", name);
	}
	free(name);
}

static enum sched_result
take_listing(struct transfer *t, struct file *file, struct reply *reply)
{
	uint32_t count, i;

	stream_check_reply(t->stream, sshbuf_get_u32(reply->m, &count),
	    "listing");
	for (i = 0; i < count; i++)
		take_listed_name(t, file, reply->m);
	return count == 0 ? RESULT_EOF : RESULT_OK;
}

/* Returns 1 if mode and owner are the same, as far as both are told. */
static int
has_same_mode_and_owner(const Attrib *a, const Attrib *b)
{
	u_int both = a->flags & b->flags;

	return ((both & SSH2_FILEXFER_ATTR_PERMISSIONS) == 0 ||
	    a->perm == b->perm) && ((both & SSH2_FILEXFER_ATTR_UIDGID) == 0 ||
	    (a->uid == b->uid && a->gid == b->gid));
}

/*
 * The reply to OP_FSTAT_IDENTITY. A file that has taken the place of the first
 * is not the one that is read. Without another connection that has it the copy
 * fails.
 */
static enum sched_result
check_source_identity(struct transfer *t, struct file *file,
    const struct sched_action *a, struct reply *reply)
{
	Attrib now;

	file_parse_attrs(t, reply, &now);
	if (file_is_same(&now, &file->a) && has_same_mode_and_owner(&now,
	    &file->a))
		return RESULT_OK;
	if (a->conn != sched_info(a->entry).owner ||
	    sched_info(a->entry).identity_pending) {
		verbose("connection %u sees a different \"%s\" and is not used "
		    "for it", a->conn + 1, file->src);
		return RESULT_FAILED;
	}
	file_error(file, "remote \"%s\" was replaced while a connection was "
	    "lost", file->src);
	file->failed = 1;
	return RESULT_FAILED;
}

static void
parse_sample(struct transfer *t, const struct sched_action *a,
    struct reply *reply, const u_char **p, size_t *n)
{
	struct sched_action probe = *a;

	probe.len = SCHED_SAMPLE_LEN;
	file_parse_data(t, &probe, reply, p, n);
}

/*
 * The reply to OP_SAMPLE_OWNER or OP_SAMPLE_HELPER: the second one is compared.
 */
static enum sched_result
compare_sample(struct transfer *t, struct file *file,
    const struct sched_action *a, struct reply *reply)
{
	struct sample **place = &file->samples, *other;
	const u_char *p;
	size_t n;
	int same;

	parse_sample(t, a, reply, &p, &n);
	while (*place != NULL && (*place)->off != a->off)
		place = &(*place)->next;
	if ((other = *place) == NULL) {
		*place = other = xcalloc(1, sizeof(*other) + n);
		other->off = a->off;
		other->len = n;
		memcpy(other->data, p, n);
		return RESULT_OK;
	}
	*place = other->next;
	n = MINIMUM(n, other->len);
	same = n > 0 && memcmp(p, other->data, n) == 0;
	free(other);
	if (same)
		return RESULT_OK;
	verbose("an additional connection reads different data of \"%s\" and "
	    "is not used for it", file->src);
	return RESULT_FAILED;
}

/* Reads of what was got. Returns -1 if it cannot be read. */
static ssize_t
read_local_target(const struct file *file, void *p, size_t len, off_t off)
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

/* The reply to OP_SAMPLE_REOPENED: what has arrived is a part of it. */
static enum sched_result
compare_reopened_sample(struct transfer *t, struct file *file,
    const struct sched_action *a, struct reply *reply)
{
	u_char ours[SCHED_SAMPLE_LEN];
	const u_char *p;
	size_t n;
	ssize_t len;

	parse_sample(t, a, reply, &p, &n);
	len = read_local_target(file, ours, n, a->off);
	if (len == -1 || (len > 0 && memcmp(p, ours, len) == 0))
		return RESULT_OK;
	file_error(file, "remote \"%s\" was replaced while a connection was "
	    "lost", file->src);
	file->failed = 1;
	return RESULT_FAILED;
}

static enum sched_result
get_reply(struct transfer *t, struct file *file, const struct sched_action *a,
    struct reply *reply, struct sched_reply *told)
{
	if (a->op == OP_READ)
		return take_read_data(t, file, a, reply, told);
	if (a->op == OP_READDIR)
		return take_listing(t, file, reply);
	if (a->op == OP_FSTAT_IDENTITY)
		return check_source_identity(t, file, a, reply);
	if (a->op == OP_FSTAT_SOURCE)
		return file_check_source(t, file, reply);
	if (a->op == OP_SAMPLE_OWNER || a->op == OP_SAMPLE_HELPER)
		return compare_sample(t, file, a, reply);
	if (a->op == OP_SAMPLE_REOPENED)
		return compare_reopened_sample(t, file, a, reply);
	if (a->op == OP_STAT)
		set_link_target(t, file, reply, told);
	if (a->op == OP_OPEN || a->op == OP_OPENDIR ||
	    a->op == OP_HELPER_OPEN || a->op == OP_REOPEN)
		file_parse_handle(t, file, reply, file_handle_for(file,
		    a->conn));
	if (a->op == OP_OPEN && interrupted)
		sched_fail(a->entry);	/* as if it had not begun */
	else if (a->op == OP_OPEN)
		open_local_target(t, file, a->entry, told);
	return RESULT_OK;
}

static void
get_fail(struct transfer *t, struct file *file, const struct sched_action *a,
    u_int status)
{
	const char *why = fx2txt(status);

	/* The file goes over fewer connections. */
	if (a->op == OP_HELPER_OPEN || a->op == OP_HELPER_CLOSE || a->op ==
	    OP_FSTAT_SOURCE || a->op == OP_SAMPLE_OWNER || a->op ==
	    OP_SAMPLE_HELPER || (a->op == OP_FSTAT_IDENTITY && a->conn !=
	    sched_info(a->entry).owner))
		return;
	file->failed |= a->op != OP_CLOSE || sched_info(a->entry).kind ==
	    KIND_FILE;
	if (a->op == OP_CLOSE)
		file_error(file, "close remote: %s", why);
	else if (a->op == OP_STAT && file->role == FILE_OF_TREE)
		file_info(file, "remote stat \"%s\" failed", file->src);
	else if (a->op == OP_STAT && file->role == FILE_NAMED)
		file_error(file, "stat remote \"%s\": %s", file->src, why);
	else if (a->op == OP_OPEN || a->op == OP_REOPEN)
		file_error(file, "%s open \"%s\": %s", t->ops->place_text,
		    file->src, why);
	else if (file->status == SSH2_FX_OK) {
		file->status = status == SSH2_FX_OK ? SSH2_FX_FAILURE : status;
		if (a->op == OP_OPENDIR)
			file_error(file, "remote readdir(\"%s\"): %s",
			    file->src, why);
		else if (a->op == OP_READDIR)
			file_error(file, "Couldn't read directory: %s", why);
	}
}

/* Local work */

int
get_enter(struct transfer *t, struct file *file)
{
	debug2_f("%s dir \"%s\" to \"%s\"", t->ops->kind_text, file->src,
	    file->dst);
	if (file->depth >= FILE_DEPTH_MAX) {
		file_error(file, "Maximum directory depth exceeded: %d levels",
		    file->depth);
		return -1;
	}
	if (!S_ISDIR(file->a.perm)) {
		file_error(file, "\"%s\" is not a directory", file->src);
		return -1;
	}
	if (t->print && t->print != SFTP_PROGRESS_ONLY)
		file_message(file, 0, MESSAGE_STDOUT, "Retrieving %s\n",
		    file->src);
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
		file_error(file, "mkdir %s: %s", file->dst, strerror(errno));
		return -1;
	}
	return 0;
}

static void
get_begin(struct transfer *t, struct file *file, struct sched_entry *j)
{
	if (file_is_dir(j) &&
	    (get_enter(t, file) != 0 || make_local_dir(file) != 0)) {
		file->failed = 1;
		sched_fail(j);
	}
	if (sched_info(j).kind == KIND_FILE)
		verify_run_begin(t, file, j);
}

/*
 * Cuts what may be longer than what came. A file that was not emptied is empty
 * at the server, or of it nothing came: then it stays as it was, as does the
 * end of one that goes on. What is restarted in place may be its own source.
 */
static void
truncate_local(struct transfer *t, struct file *file,
    const struct sched_action *a)
{
	uint64_t off = a->off;
	int whole = sched_info(a->entry).is_whole;

	if (file->possible_source || (t->in_place ?
	    sched_info(a->entry).restarts && !interrupted :
	    file->start_off > 0 ?
	    !whole && off == file->start_off : whole == file->old_bytes_gone))
		return;
	debug("truncating at %llu", (unsigned long long)off);
	if (ftruncate(file->fd, off) == 0)
		return;
	file_error(file, "local ftruncate \"%s\": %s", file->dst,
	    strerror(errno));
	file->failed |= !file->old_bytes_gone;
}

static void
get_data_done(struct transfer *t, struct file *file,
    const struct sched_action *a)
{
	int whole = sched_info(a->entry).is_whole;

	truncate_local(t, file, a);
	if (file->possible_source && whole && a->off < file->a.size)
		file_report_same_file(file);
	if (file->status != SSH2_FX_OK)
		file_error(file, "read remote \"%s\" : %s", file->src,
		    fx2txt(file->status));
	else if (file->write_errno != 0)
		file_error(file, "write local \"%s\": %s", file->dst,
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
	file_error(file, "local sync \"%s\": %s", file->dst, strerror(errno));
	file->failed = 1;
}

/*
 * A file system may say only when it is closed that there is no room. The times
 * are set after that, and only then: a file that has them is believed to be
 * whole.
 */
static void
finish_local_file(struct transfer *t, struct file *file, int whole)
{
	int preserves = file->has_data && t->preserve && whole, closed;
	uint64_t begun_us = bottleneck_call_begin();

	if (preserves && fchmod(file->fd, mode_of(file)) == -1)
		file_error(file, "local chmod \"%s\": %s", file->dst,
		    strerror(errno));
	if (t->sync && file->has_data && whole)
		sync_local(file);
	closed = file_close(t, file);
	bottleneck_count_written(t, begun_us);
	if (closed == -1 && file->write_errno == 0) {
		file_error(file, "close local \"%s\": %s", file->dst,
		    strerror(errno));
		file->failed = 1;
	} else if (preserves)
		file_set_times(file, 0);
	if (file->failed && file->depth > 0)
		file_error(file, "Download of file %s to %s failed", file->src,
		    file->dst);
}

static void
finish_local_dir(struct transfer *t, struct file *file)
{
	mode_t mode = file->a.perm & 01777;

	if (t->preserve)
		file_set_times(file, 1);
	if ((file->a.flags & SSH2_FILEXFER_ATTR_PERMISSIONS) != 0 &&
	    (mode & (S_IWUSR | S_IXUSR)) != (S_IWUSR | S_IXUSR) &&
	    chmod(file->dst, mode) == -1)
		file_message(file, 1, SYSLOG_LEVEL_ERROR,
		    "local chmod directory \"%s\": %s", file->dst,
		    strerror(errno));
}

static void
get_end(struct transfer *t, struct file *file, struct sched_entry *j)
{
	if (sched_info(j).kind == KIND_FILE)
		finish_local_file(t, file, sched_info(j).is_whole);
	else if (sched_info(j).kind == KIND_DIR_END && !file->failed)
		finish_local_dir(t, file);
	else if (sched_info(j).kind == KIND_DIR) {
		file_close(t, file);
		dir_entries_complete(file);
		if (file->status != SSH2_FX_OK)
			file_error(file, "%s readdir \"%s\" failed",
			    t->ops->place_text, file->src);
	}
}

void
get_add(struct transfer *t, struct file *dir, struct sched_entry *entry,
    const struct dir_entry *name)
{
	struct file *file;
	enum sched_kind kind = KIND_MESSAGE;

	file = file_new(sftp_path_append(dir->src, name->name),
	    sftp_path_append(dir->dst, name->name), dir->depth + 1);
	file->a = name->a;
	if (S_ISLNK(file->a.perm) && t->follow)
		kind = KIND_LINK;
	else if (S_ISDIR(file->a.perm))
		kind = KIND_DIR;
	else if (S_ISREG(file->a.perm))
		kind = KIND_FILE;
	else
		file_info(file, "%s \"%s\": not a regular file",
		    t->ops->kind_text, file->src);
	file->is_new = dir->is_new && kind == KIND_FILE;
	file_add(t, entry, kind, file,
	    (file->a.flags & SSH2_FILEXFER_ATTR_SIZE) != 0 ? file->a.size : 0);
}

const struct direction_ops get_ops = { 0, "download", "remote", get_send,
    get_reply, get_fail, get_begin, get_data_done, get_end, get_add };
