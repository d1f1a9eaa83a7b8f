/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * See directions-hook.h. These are download_dir_internal(), sftp_lsreaddir()
 * and sftp_download() of upstream, in steps.
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
#include "clock.h"
#include "directions-hook.h"
#include "file-hook.h"
#include "files-from-hook.h"
#include "fs-identity-hook.h"
#include "sparse-hook.h"
#include "verify-run-hook.h"

extern volatile sig_atomic_t interrupted;

/* Requests */

static void
send_sample(struct request *r)
{
	struct request probe = *r;

	probe.a.len = SCHED_SAMPLE_LEN;
	file_send_read(&probe);
}

/* Replies */

/* Sets what a link leads to. */
static void
set_link_target(struct request *r)
{
	struct transfer *t = r->t;
	struct file *file = r->file;
	enum sched_kind kind = KIND_MESSAGE;

	file_parse_attrs(r, &file->a);
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
	r->said.kind = kind;
	r->said.size = file->size;
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
open_local_target(struct request *r)
{
	struct transfer *t = r->t;
	struct file *file = r->file;
	struct stat sb;
	Attrib found;

	file->fd = open(file->dst, O_WRONLY | O_CREAT, mode_of(file) | S_IWUSR);
	if (file->fd == -1 || fstat(file->fd, &sb) == -1) {
		file_error(file, "open local \"%s\": %s", file->dst,
		    strerror(errno));
		file->failed = 1;
		sched_fail(r->a.entry);
		return;
	}
	if ((S_ISREG(sb.st_mode) && is_being_written(t, &sb)) ||
	    (file->start_off > 0 && !verify_run_is_same(file, &sb))) {
		r->said.local_conflict = 1;
		return;
	}
	file->possible_source = 0;
	stat_to_attrib(&sb, &found);
	if (!t->in_place && S_ISREG(sb.st_mode) && file->start_off == 0)
		file_note_possible_source(r, &found);
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
	uint64_t begun_us = clock_us();
	int ok;

	if (!file->old_bytes_gone && ftruncate(file->fd, 0) == -1)
		return 0;
	file->old_bytes_gone = 1;
	ok = sparse_write(file->fd, w->data, w->len, w->off) == w->len;
	bottleneck_count_written(t, begun_us);
	return ok;
}

/* Writes what can be written: this, and what has waited for it. */
static void
write_data(struct request *r, const u_char *p)
{
	struct file *file = r->file;
	struct sched *sched = r->t->sched;
	struct sched_bytes w;
	int more, ok;

	more = sched_data_in(sched, r->a.id, p, r->said.len, &w);
	while (more == 1) {
		ok = write_local(r->t, file, &w);
		if (!ok)
			file->write_errno = errno;
		more = sched_data_written(sched, r->a.entry, ok, &w);
	}
	if (more == -1)
		fatal_f("out of memory");
	if (file->write_errno == 0)
		return;
	file->failed = 1;
	sched_fail(r->a.entry);
	r->said.result = RESULT_FAILED;
}

static void
take_data(struct request *r)
{
	const u_char *p;
	size_t n;

	file_parse_data(r, r->a.len, &p, &n);
	r->said.len = n;
	r->t->ops->take_data(r, p);
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
	else if (t->keep_dots || (strcmp(name, ".") != 0 &&
	    strcmp(name, "..") != 0)) {
		/* After a loss it is listed again. */
		if (dir_add_unique(file, name, &a) != 0)
			debug_f("\"%s\" is listed twice", name);
		else if (!t->keep_dots)
			file_count_listed(t, &a, 1);
	}
	free(name);
}

static void
take_listing(struct request *r)
{
	uint32_t count, i;

	stream_check_reply(r->t->stream, sshbuf_get_u32(r->m, &count),
	    "listing");
	for (i = 0; i < count; i++)
		take_listed_name(r->t, r->file, r->m);
	if (count == 0)
		r->said.result = RESULT_EOF;
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
static void
check_source_identity(struct request *r)
{
	struct file *file = r->file;
	Attrib now;

	file_parse_attrs(r, &now);
	if (file_is_same(&now, &file->a) && has_same_mode_and_owner(&now,
	    &file->a))
		return;
	if (r->a.conn != sched_info(r->a.entry).owner ||
	    sched_info(r->a.entry).identity_pending) {
		verbose("connection %u sees a different \"%s\" and is not used "
		    "for it", r->a.conn + 1, file->src);
		r->said.result = RESULT_FAILED;
		return;
	}
	file_error(file, "remote \"%s\" was replaced while a connection was "
	    "lost", file->src);
	file->failed = 1;
	r->said.result = RESULT_FAILED;
}

/*
 * The reply to OP_SAMPLE_OWNER or OP_SAMPLE_HELPER: the second one is compared.
 */
static void
compare_sample(struct request *r)
{
	struct sample **place = &r->file->samples, *other;
	const u_char *p;
	size_t n;
	int same;

	file_parse_data(r, SCHED_SAMPLE_LEN, &p, &n);
	while (*place != NULL && (*place)->off != r->a.off)
		place = &(*place)->next;
	if ((other = *place) == NULL) {
		*place = other = xcalloc(1, sizeof(*other) + n);
		other->off = r->a.off;
		other->len = n;
		memcpy(other->data, p, n);
		return;
	}
	*place = other->next;
	n = MINIMUM(n, other->len);
	same = n > 0 && memcmp(p, other->data, n) == 0;
	free(other);
	if (same)
		return;
	verbose("an additional connection reads different data of \"%s\" and "
	    "is not used for it", r->file->src);
	r->said.result = RESULT_FAILED;
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
static void
compare_reopened_sample(struct request *r)
{
	struct file *file = r->file;
	u_char ours[SCHED_SAMPLE_LEN];
	const u_char *p;
	size_t n;
	ssize_t len;

	file_parse_data(r, SCHED_SAMPLE_LEN, &p, &n);
	len = read_local_target(file, ours, n, r->a.off);
	if (len == -1 || (len > 0 && memcmp(p, ours, len) == 0))
		return;
	file_error(file, "remote \"%s\" was replaced while a connection was "
	    "lost", file->src);
	file->failed = 1;
	r->said.result = RESULT_FAILED;
}

static void
take_opened(struct request *r)
{
	file_take_handle(r);
	if (interrupted)
		sched_fail(r->a.entry);	/* as if it had not begun */
	else if (r->t->dest_stream == NULL)
		open_local_target(r);
}

/* Errors */

static void
fail_stat(struct request *r)
{
	struct file *file = r->file;

	if (file->role == FILE_OF_TREE)
		file_info(file, "remote stat \"%s\" failed", file->src);
	else if (file->role == FILE_NAMED)
		file_error(file, "stat remote \"%s\": %s", file->src,
		    fx2txt(r->status));
}

static void
fail_open(struct request *r)
{
	file_error(r->file, "%s open \"%s\": %s", r->t->ops->place_text,
	    r->file->src, fx2txt(r->status));
}

/* Of a directory that is not a failure. */
static void
fail_close(struct request *r)
{
	r->file->failed |= sched_info(r->a.entry).kind == KIND_FILE;
}

static void
fail_listing(struct request *r)
{
	const char *why = fx2txt(r->status);

	if (!file_note_status(r))
		return;
	if (r->a.op == OP_OPENDIR)
		file_error(r->file, "remote readdir(\"%s\"): %s",
		    r->file->src, why);
	else
		file_error(r->file, "Couldn't read directory: %s", why);
}

/* The file goes over fewer connections if another one cannot read it. */
static void
fail_identity(struct request *r)
{
	if (r->a.conn != sched_info(r->a.entry).owner)
		return;
	(void)file_note_status(r);
	r->file->failed = 1;
}

const struct op_handler get_handlers[] = {
	[OP_STAT] = { file_send, set_link_target, NULL, FAILS, fail_stat },
	[OP_OPENDIR] = { file_send, file_take_handle, NULL, FAILS,
	    fail_listing },
	[OP_READDIR] = { file_send, take_listing, NULL, FAILS, fail_listing },

	[OP_OPEN] = { file_send_open_read, take_opened, NULL, FAILS,
	    fail_open },
	[OP_READ] = { file_send_read, take_data, NULL, IS_DATA | FAILS },
	[OP_FSTAT_SOURCE] = { file_send, file_take_source },
	[OP_CLOSE] = { file_send, NULL, "close remote", 0, fail_close },

	[OP_HELPER_OPEN] = { file_send_open_read, file_take_handle },
	[OP_FSTAT_IDENTITY] = { file_send, check_source_identity, NULL, 0,
	    fail_identity },
	[OP_SAMPLE_OWNER] = { send_sample, compare_sample },
	[OP_SAMPLE_HELPER] = { send_sample, compare_sample },
	[OP_HELPER_CLOSE] = { file_send },
	[OP_REOPEN] = { file_send_open_read, file_take_handle, NULL, FAILS,
	    fail_open },
	[OP_SAMPLE_REOPENED] = { send_sample, compare_reopened_sample, NULL,
	    IS_DATA | FAILS },
};

/* Local work */

int
get_enter(struct transfer *t, struct file *file)
{
	debug2_f("%s dir \"%s\" to \"%s\"", t->ops->kind_text, file->src,
	    file->dst);
	return file_enter(t, file, S_ISDIR(file->a.perm));
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
	uint64_t begun_us = clock_us();

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
	struct file *file = file_new_child(dir, name->name);
	enum sched_kind kind = KIND_MESSAGE;

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

/* Of the files in flight, so many are considered. */
#define CANDIDATES_MAX	256

/* Other hosts have to see the n-th file in flight that is not empty. */
static int
get_locate(void *transfer, unsigned int n, struct fs_location *location)
{
	const struct transfer *t = transfer;
	struct sched_entry *j = sched_next_in_order(t->sched, NULL);
	const struct file *file;
	unsigned int i;

	for (i = 0; j != NULL && i < CANDIDATES_MAX; i++) {
		file = sched_info(j).user;
		if (sched_info(j).kind == KIND_FILE && file->size > 0 && n-- ==
		    0) {
			location->file = file->src;
			location->size = file->size;
			return 0;
		}
		j = sched_next_in_order(t->sched, j);
	}
	return -1;
}

const struct direction_ops get_ops = { 0, "download", "remote", get_handlers,
    get_begin, get_data_done, get_end, get_add, write_data, get_locate };
