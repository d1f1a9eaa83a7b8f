/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * See directions-hook.h. These are upload_dir_internal() and sftp_upload() of
 * upstream, in steps.
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
#include "xmalloc.h"

#include "bottleneck-hook.h"
#include "clock.h"
#include "deferred-signals-hook.h"
#include "directions-hook.h"
#include "file-hook.h"
#include "files-from-hook.h"
#include "fs-identity-hook.h"
#include "server-hook.h"
#include "sparse-hook.h"
#include "temp-name-hook.h"
#include "tempfile-hook.h"
#include "verify-run-hook.h"

/*
 * Returns 1 if a file is looked at before it is opened: see
 * decide_truncation().
 */
static int
stats_first(const struct transfer *t)
{
	const struct server_info *server = server_info(t->server);

	return t->in_place && server->handles == 0 && !server->limits_in_flight;
}

/* Requests */

/* Leaves out a hole. Returns how many bytes are to be sent, at "*off". */
static size_t
skip_hole(struct request *r, off_t *off)
{
	size_t len = r->a.len;

	*off = r->a.off;
	if (!r->file->sparse)
		return len;
	len = sparse_next(r->file->fd, off, len);
	r->t->count.bytes += *off - r->a.off;
	r->file->skipped += *off - r->a.off;
	return len;
}

/* One file alone ends the process, as in upstream, when it is in order. */
static void
report_read_error(struct request *r)
{
	if (r->t->single_file)
		r->t->read_errno = errno;
	else
		file_error(r->file, "read local \"%s\": %s", r->file->src,
		    strerror(errno));
	r->file->failed = 1;
	sched_fail(r->a.entry);
}

/*
 * Less than "len" is the end of the file, or what was read before an error:
 * then the file fails. A file system may give less before the end, which would
 * be taken for it.
 */
static size_t
read_local(struct request *r, u_char *p, size_t len, off_t off)
{
	const struct file *file = r->file;
	uint64_t begun_us = clock_us();
	size_t done = 0;
	ssize_t n = 0;

	do {
		n = pread(file->fd, p + done, len - done, off + done);
		if (n > 0)
			done += n;
	} while ((n > 0 && done < len && off + done < file->size) ||
	    (n == -1 && errno == EINTR));
	if (n == -1)
		report_read_error(r);
	bottleneck_count_read(r->t, begun_us);
	return done;
}

/* Reads into the message; without data there is no message. */
static void
send_local_write(struct request *r)
{
	struct sftp_stream *stream = r->t->stream;
	const struct handle *h = r->a.staging && r->a.conn ==
	    sched_info(r->a.entry).owner ?
	    &r->file->dest_handle : file_handle_of(r);
	off_t off;
	size_t n, len = skip_hole(r, &off);

	request_begin_write(r->sink, r->a.id, h, r->a.at + (off - r->a.off));
	n = read_local(r, stream_data(stream, len), len, off);
	if (n == 0)
		stream_cancel(stream);
	else {
		debug3("Sent message SSH2_FXP_WRITE I:%u O:%llu S:%zu", r->a.id,
		    (unsigned long long)off, n);
		stream_end_data(stream, len, n);
	}
	sched_sent(r->t->sched, r->a.id, off, n);
}

/* A directory is writable for the time of the transfer. */
static void
send_mkdir(struct request *r)
{
	Attrib attrs = r->file->a;

	attrs.perm |= S_IWUSR | S_IXUSR;
	file_send_attrs(r, &attrs);
}

static void
send_fsync(struct request *r)
{
	debug2("Sending SSH2_FXP_EXTENDED(fsync@openssh.com)");
	request_extended(r->sink, r->a.id, "fsync@openssh.com",
	    file_handle_of(r));
}

/* Returns 1 if the file of the server has its old bytes when it is open. */
static int
opens_untruncated(const struct request *r)
{
	const struct file *file = r->file;

	return file->truncate_late || file->no_truncate ||
	    file->possible_source || file->start_off > 0 ||
	    (r->t->in_place && !file->sparse && !file->open_truncates &&
	    !sched_info(r->a.entry).must_open_trunc);
}

static void
send_open(struct request *r)
{
	struct file *file = r->file;

	file_send_open(r, file->dst, SSH2_FXF_WRITE |
	    (file->start_off > 0 ? 0 : SSH2_FXF_CREAT) |
	    (opens_untruncated(r) ? 0 : SSH2_FXF_TRUNC), &file->a);
}

/* A new file, under its name or a temporary one */
static void
send_open_excl(struct request *r)
{
	struct file *file = r->file;
	const struct tempfile_info info =
	    tempfile_info(sched_info(r->a.entry).tempfile);
	int is_temp = info.open == TEMPFILE_OPEN_TEMP;

	if (is_temp)
		temp_name_set_number(file->temp_name, info.number);
	file_send_open(r, is_temp ? file->temp_name : file->dst,
	    SSH2_FXF_WRITE | SSH2_FXF_CREAT | SSH2_FXF_EXCL, &file->a);
}

/* Another connection opens it, which may be under its temporary name yet. */
static void
send_reopen(struct request *r)
{
	file_send_open(r, r->a.op == OP_HELPER_OPEN ? r->file->temp_name :
	    r->file->dst, SSH2_FXF_WRITE, NULL);
}

/* Replies */

/*
 * A file without bytes loses none. One that is copied over in place may be the
 * source itself, by another name or host.
 */
static int
may_truncate(const struct transfer *t, const struct file *file,
    const Attrib *found)
{
	return (!t->in_place && !file->no_truncate) ||
	    ((found->flags & SSH2_FILEXFER_ATTR_SIZE) != 0 && found->size == 0);
}

/*
 * What was found where a file is put in place, at a server that may not be able
 * to cut it: paramiko's empties it, and then makes it as long. A longer one is
 * emptied when it is opened, unless it may be the source, which grows.
 */
static void
decide_truncation(struct request *r, const Attrib *found)
{
	struct file *file = r->file;
	struct stat sb;

	if (!stats_first(r->t))
		return;
	if ((found->flags & SSH2_FILEXFER_ATTR_PERMISSIONS) != 0 &&
	    !S_ISREG(found->perm))
		r->said.old_size = 0;	/* Nothing can be cut. */
	else if ((found->flags & SSH2_FILEXFER_ATTR_SIZE) == 0)
		return;
	else if (found->size <= file->size)
		r->said.old_size = found->size;
	else if (file->no_truncate)
		r->said.needs_main_conn = 1;
	else
		file->open_truncates = fstat(file->fd, &sb) == 0 &&
		    (uint64_t)sb.st_size == file->size;
}

/* What may be the source is written over, as scp does it with any file. */
static void
note_possible_source(struct request *r, const Attrib *found)
{
	struct file *file = r->file;
	struct stat sb;
	Attrib a;

	if (r->t->in_place || fstat(file->fd, &sb) == -1)
		return;
	stat_to_attrib(&sb, &a);
	if (!file_is_same(found, &a))
		return;
	file->possible_source = 1;
	file->sparse = 0;
	file->source_ctime = sb.st_ctim;
	r->said.possible_source = 1;
}

/* A server may keep times in steps of two seconds. */
#define TIME_STEP	2

/*
 * The server may execute writes of a lost connection after the mtime was set.
 */
static enum sched_result
check_mtime(const struct transfer *t, struct file *file, const Attrib *seen)
{
	int64_t diff = (int64_t)seen->mtime - (int64_t)file->a.mtime;

	if (!t->preserve || (seen->flags & SSH2_FILEXFER_ATTR_ACMODTIME) == 0 ||
	    (diff <= TIME_STEP && diff >= -TIME_STEP))
		return RESULT_OK;
	if (file->wrong_times++ == 0)
		return RESULT_EOF;
	file_error(file, "cannot set the modification time of \"%s\"",
	    file->dst);
	return RESULT_OK;
}

/*
 * Requests to a lost connection may have changed it since. A second attempt is
 * enough.
 */
static enum sched_result
check_late_target(struct request *r, const Attrib *seen)
{
	struct file *file = r->file;
	const uint64_t size = file->is_complete ? file->size : file->sent_size;

	if (!temp_name_is_file(seen))
		return RESULT_OK;
	if (seen->size == size)
		return check_mtime(r->t, file, seen);
	if (file->wrong_sizes++ > 0) {
		file_error(file, "size mismatch: \"%s\" has %llu bytes, \"%s\" "
		    "has %llu", file->dst, (unsigned long long)seen->size,
		    file->src, (unsigned long long)size);
		file->failed = 1;
		sched_fail(r->a.entry);
	}
	return RESULT_FAILED;
}

/* Compares the target as each involved host sees it. */
static void
check_seen_target(struct request *r)
{
	struct file *file = r->file;
	Attrib seen;

	file_parse_attrs(r, &seen);
	if (r->a.conn == r->t->conns.main &&
	    sched_info(r->a.entry).unconfirmed_writes &&
	    (r->said.result = check_late_target(r, &seen)) != RESULT_OK)
		return;
	if (file->seen_attrs.flags == 0)
		file->seen_attrs = seen;
	if (file_is_same(&seen, &file->seen_attrs))
		return;
	verbose("\"%s\" differs on another host; sending it again over the "
	    "first host", file->dst);
	r->said.result = RESULT_FAILED;
}

/*
 * Truncation failed. That is ignored for a device, or if the size is right
 * already. The message is dropped if the file restarts.
 */
static void
check_truncated_size(struct request *r)
{
	struct file *file = r->file;
	Attrib found;
	int has_size;

	file_parse_attrs(r, &found);
	has_size = (found.flags & SSH2_FILEXFER_ATTR_SIZE) != 0;
	if (((found.flags & SSH2_FILEXFER_ATTR_PERMISSIONS) != 0 &&
	    !S_ISREG(found.perm)) || (has_size && found.size == r->a.off))
		return;
	if (has_size)
		file_error(file, "server did not truncate \"%s\" (%llu bytes "
		    "instead of %llu)", file->dst,
		    (unsigned long long)found.size,
		    (unsigned long long)r->a.off);
	else
		file_error(file, "server did not truncate \"%s\", and does "
		    "not tell its size", file->dst);
	file->failed = 1;
	r->said.result = RESULT_FAILED;
}

/*
 * Returns 1 if it is the file that it should be: one that was opened without
 * its beginning being sent has to be what was compared; one that a helper has
 * opened, the file of the owner; and one that was opened again has to have all
 * that was acknowledged.
 */
static int
is_target(struct request *r, const Attrib *found)
{
	const struct sched_info info = sched_info(r->a.entry);

	if (r->a.conn == info.owner && info.identity_pending)
		return verify_run_is_unchanged(r->file, found);
	if (!temp_name_is_file(found))
		return 0;
	if (r->a.conn == info.owner)
		return found->size >= r->a.off;
	if (tempfile_is_same(r->file, found))
		return 1;
	verbose("an additional connection opened a different file as \"%s\"",
	    r->file->temp_name);
	return 0;
}

static void
check_target_identity(struct request *r)
{
	Attrib found;

	file_parse_attrs(r, &found);
	if (!is_target(r, &found))
		r->said.result = RESULT_FAILED;
}

static void
take_opened(struct request *r)
{
	struct file *file = r->file;

	file_take_handle(r);
	file->has_data = 1;
	verify_run_source_opened(file);
	if (r->a.op == OP_OPEN_EXCL || !opens_untruncated(r))
		r->said.old_size = 0;
}

/* A file was looked at before it is opened, or a directory is there. */
static void
take_stat(struct request *r)
{
	struct file *file = r->file;
	Attrib found;

	if (sched_info(r->a.entry).kind != KIND_FILE) {
		file_take_dir(r);
		return;
	}
	file_parse_attrs(r, &found);
	file->sparse &= S_ISREG(found.perm) && may_truncate(r->t, file, &found);
	decide_truncation(r, &found);
	note_possible_source(r, &found);
}

/* Errors */

static void
fail_seen_target(struct request *r)
{
	verbose("\"%s\" is not visible on every host: %s", r->file->dst,
	    fx2txt(r->status));
}

static void
fail_truncated_size(struct request *r)
{
	file_error(r->file, "server did not truncate \"%s\", and its size is "
	    "unknown: %s", r->file->dst, fx2txt(r->status));
}

/*
 * If a helper or an identity check fails, the file is sent over fewer
 * connections, or again. Upstream ignores attributes.
 */
static const struct op_handler put_handlers[] = {
	[OP_MKDIR] = { send_mkdir, file_take_new_dir },
	[OP_STAT] = { file_send, take_stat, NULL, 0, file_fail_stat },
	[OP_SETSTAT] = { file_send_own_attrs, NULL, "remote setstat",
	    NAMES_PATH | IS_LAST },

	[OP_REMOVE_OWN] = { file_send },
	[OP_OPEN] = { send_open, take_opened, "dest open", NAMES_PATH | FAILS },
	[OP_OPEN_EXCL] = { send_open_excl, take_opened },
	[OP_SETSIZE_0] = { file_send_size },
	[OP_FSTAT_TYPE] = { file_send, file_take_type },
	[OP_WRITE] = { send_local_write, NULL, NULL, IS_DATA | FAILS },
	[OP_SETSIZE_END] = { file_send_size },
	[OP_SETSIZE_FINAL] = { file_send_size, NULL, "remote fsetstat" },
	[OP_FSTAT_SIZE] = { file_send, check_truncated_size, NULL, FAILS,
	    fail_truncated_size },
	[OP_FSETSTAT] = { file_send_own_attrs, NULL, "remote fsetstat" },
	[OP_FSYNC] = { send_fsync, NULL, "remote fsync", FAILS },
	[OP_CLOSE] = { file_send, NULL, "close remote", FAILS },
	[OP_STAT_DEST_ON_HOST] = { file_send, check_seen_target, NULL, 0,
	    fail_seen_target },

	[OP_HELPER_OPEN] = { send_reopen, file_take_handle },
	[OP_FSTAT_IDENTITY] = { file_send, check_target_identity },
	[OP_HELPER_CLOSE] = { file_send, NULL, "close remote", FAILS },
	[OP_REOPEN] = { send_reopen, file_take_handle, "dest open",
	    NAMES_PATH | FAILS },
};

/* Local work */

/* Returns 0, or -1 with a text. */
static int
begin_local_dir(struct transfer *t, struct file *file)
{
	struct stat sb = { 0 };

	debug2_f("upload local dir \"%s\" to remote \"%s\"", file->src,
	    file->dst);
	if (file->depth < FILE_DEPTH_MAX && stat(file->src, &sb) == -1) {
		file_error(file, "stat local \"%s\": %s", file->src,
		    strerror(errno));
		return -1;
	}
	if (file_enter(t, file, S_ISDIR(sb.st_mode)) == -1)
		return -1;
	stat_to_attrib(&sb, &file->a);
	file->a.perm &= 01777;
	return 0;
}

/* Returns 0, or -1 with a text. */
static int
open_local_source(struct transfer *t, struct file *file, struct stat *sb)
{
	debug2_f("upload local \"%s\" to remote \"%s\"", file->src, file->dst);
	if ((file->fd = open(file->src, O_RDONLY)) == -1) {
		file_error(file, "open local \"%s\": %s", file->src,
		    strerror(errno));
		return -1;
	}
	if (fstat(file->fd, sb) == -1) {
		file_error(file, "fstat local \"%s\": %s", file->src,
		    strerror(errno));
		return -1;
	}
	if (!S_ISREG(sb->st_mode)) {
		file_error(file, "local \"%s\" is not a regular file",
		    file->src);
		return -1;
	}
	file->size = sb->st_size;
	stat_to_attrib(sb, &file->a);
	file->a.perm &= 0777;
	return 0;
}

static void
prepare_upload(struct transfer *t, struct file *file, struct sched_entry *j,
    const struct stat *sb)
{
	struct sched_begin begin = { .exists_ours = file->is_new,
	    .is_shared = verify_run_target_is_shared(t) };
	struct tempfile_conf conf;

	/* The rest of a file is sent whole, to where it belongs. */
	if (file->start_off > 0) {
		sched_begin(t->sched, j, &begin);
		file->no_truncate = begin.no_truncate;
		return;
	}
	/* What tells no limits may refuse a WRITE behind the end. */
	file->sparse = server_info(t->server)->handles != 0 &&
	    !sched_stats(t->sched).truncate_unreliable &&
	    sparse_is_worth(file->fd, sb, tempfile_may_begin(t, file->size),
	    t->single_file);
	tempfile_want(t, file, j, &conf, &begin);
	begin.truncate_late = !t->in_place && !t->single_file && !file->is_new;
	/* What was compared, and differs, is not the source. */
	begin.stat = file->sparse ? STAT_FIRST :
	    stats_first(t) ? STAT_UNLESS_OURS :
	    !t->in_place && !t->keeps_target && !file->is_new ?
	    STAT_WITHOUT_TEMPFILE : STAT_NOT;
	sched_begin(t->sched, j, &begin);
	if (begin.has_tempfile)
		tempfile_begun(file);
	file->no_truncate = begin.no_truncate;
	file->open_truncates = file->is_new && !file->no_truncate;
	file->possible_source = 0;
	file->truncate_late = begin.truncates_late;
}

void
put_go_on(struct transfer *t, struct file *file, struct sched_entry *j)
{
	struct stat sb;

	if (fstat(file->fd, &sb) == 0)
		prepare_upload(t, file, j, &sb);
}

static void
put_begin(struct transfer *t, struct file *file, struct sched_entry *j)
{
	struct stat sb;

	if ((file_is_dir(j) ? begin_local_dir(t, file) :
	    open_local_source(t, file, &sb)) != 0) {
		file->failed = 1;
		sched_fail(j);
		return;
	}
	sched_set_size(t->sched, j, file->size);
	file->a.flags &= ~SSH2_FILEXFER_ATTR_SIZE;
	file->a.flags &= ~SSH2_FILEXFER_ATTR_UIDGID;
	if (!t->preserve)
		file->a.flags &= ~SSH2_FILEXFER_ATTR_ACMODTIME;
	if (sched_info(j).kind == KIND_FILE && !verify_run_begin(t, file, j))
		prepare_upload(t, file, j, &sb);
}

static void
put_data_done(struct transfer *t, struct file *file,
    const struct sched_action *a)
{
	struct stat sb;

	(void)t;
	file->sent_size = a->off;
	if (file->possible_source && sched_info(a->entry).is_whole &&
	    (a->off < file->size || fstat(file->fd, &sb) == -1 ||
	    sb.st_ctim.tv_sec != file->source_ctime.tv_sec ||
	    sb.st_ctim.tv_nsec != file->source_ctime.tv_nsec))
		file_report_same_file(file);
	if (file->status != SSH2_FX_OK)
		file_error(file, "write remote \"%s\": %s", file->dst,
		    fx2txt(file->status));
	if (file->temp_name != NULL && sched_info(a->entry).has_failed)
		file->failed = 1;
	close(file->fd);
	file->fd = -1;
}

/* A server may not tell apart names that differ only in case. */
static void
add_local_entry(struct file *file, const char *name)
{
	file->fold_case = 1;
	if (dir_add_unique(file, name, NULL) == 0)
		return;
	dir_add(file, name, NULL);
	file->names[file->nnames - 1].case_clash = 1;
}

/* Names are read at once, so that no descriptor is held. */
static void
list_local_dir(struct file *file, struct sched_entry *j)
{
	struct dirent *dp;
	DIR *dirp = opendir(file->src);

	if (dirp == NULL) {
		file_error(file, "local opendir \"%s\": %s", file->src,
		    strerror(errno));
		file->failed = 1;
		sched_fail(j);
		return;
	}
	while ((errno = 0, dp = readdir(dirp)) != NULL) {
		if (dp->d_ino != 0 && strcmp(dp->d_name, ".") != 0 &&
		    strcmp(dp->d_name, "..") != 0)
			add_local_entry(file, dp->d_name);
	}
	if (errno != 0) {
		file_error(file, "local readdir \"%s\": %s", file->src,
		    strerror(errno));
		file->failed = 1;
	}
	closedir(dirp);
	dir_entries_complete(file);
}

static void
put_end(struct transfer *t, struct file *file, struct sched_entry *j)
{
	char *left;

	if (sched_info(j).kind == KIND_DIR && !file->failed &&
	    !files_from_is_root(file))
		list_local_dir(file, j);
	if (sched_info(j).kind != KIND_FILE)
		return;
	file_close(t, file);
	if (!file->failed && !sched_info(j).has_failed)
		file_forget_leftover(file);
	if ((left = tempfile_describe_leftover(file, j)) != NULL)
		file_error(file, "%s", left);
	free(left);
	if (file->failed && file->depth > 0)
		file_error(file, "upload \"%s\" to \"%s\" failed", file->src,
		    file->dst);
}

/* Sets what an entry is. Returns 0, or -1 with a text. */
static int
stat_local_entry(struct transfer *t, struct file *file, const char *name,
    struct stat *sb)
{
	if (lstat(file->src, sb) == -1) {
		file_info(file, "local lstat \"%s\": %s", name,
		    strerror(errno));
		file->failed = 1;
		t->ret = -1;
		return -1;
	}
	if (S_ISLNK(sb->st_mode) && t->follow && stat(file->src, sb) == -1) {
		file_info(file, "local stat \"%s\": %s", name, strerror(errno));
		file->failed = 1;
		t->ret = -1;
		return -1;
	}
	if (S_ISDIR(sb->st_mode) || S_ISREG(sb->st_mode))
		return 0;
	file_info(file, "%s: not a regular file", name);
	return -1;
}

static void
put_add(struct transfer *t, struct file *dir, struct sched_entry *entry,
    const struct dir_entry *name)
{
	struct file *file = file_new_child(dir, name->name);
	struct stat sb;
	enum sched_kind kind = KIND_MESSAGE;

	memset(&sb, 0, sizeof(sb));
	if (stat_local_entry(t, file, name->name, &sb) == 0)
		kind = S_ISDIR(sb.st_mode) ? KIND_DIR : KIND_FILE;
	file->is_new = dir->is_new && kind == KIND_FILE;
	file->case_clash = name->case_clash || (dir->case_clash &&
	    !dir->is_new);
	entry = file_add(t, entry, kind, file, sb.st_size);
	if (file->case_clash)
		sched_set_exclusive(entry);
	if (kind == KIND_FILE)
		files_from_serialize_case(file, entry);
}

/*
 * Other hosts have to see a temporary file in the directory that is the target,
 * or if none can be made there, in the one above. Signals are caught from here
 * on.
 */
static int
put_locate(void *transfer, unsigned int n, struct fs_location *location)
{
	struct transfer *t = transfer;
	const char *slash;

	if (t->root == NULL || n > (unsigned int)t->root_is_dir)
		return -1;
	slash = strrchr(t->root, '/');
	free(t->root_dir);
	if (n == 0 && t->root_is_dir)
		t->root_dir = xstrdup(t->root);
	else
		xasprintf(&t->root_dir, "%.*s", slash == NULL ? 0 :
		    (int)(slash - t->root + 1), t->root);
	signals_catch();
	location->dir = t->root_dir;
	return 0;
}

const struct direction_ops put_ops = { 1, .handlers = put_handlers,
    .begin = put_begin, .data_done = put_data_done, .end = put_end,
    .add = put_add, .locate = put_locate };
