/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * See put-hook.h: upload_dir_internal() and sftp_upload() of upstream, in
 * steps.
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
#include "file-hook.h"
#include "files-from-hook.h"
#include "put-hook.h"
#include "sequence.h"
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
	return t->in_place && !server_has_limits(t->server);
}

/* Requests */

/* Leaves out a hole. Returns how many bytes are to be sent, at "*off". */
static size_t
skip_hole(struct transfer *t, struct file *file, const struct sched_action *a,
    off_t *off)
{
	size_t len;

	*off = a->off;
	if (!file->sparse)
		return a->len;
	len = sparse_next(file->fd, off, a->len);
	if ((uint64_t)*off != a->off) {
		t->count.bytes += *off - a->off;
		file->skipped += *off - a->off;
	}
	return len;
}

/* One file alone ends the process, as in upstream, when it is in order. */
static void
report_read_error(struct transfer *t, struct file *file, struct sched_entry *j)
{
	if (t->single_file)
		t->read_errno = errno;
	else
		file_error(file, "read local \"%s\": %s", file->src,
		    strerror(errno));
	file->failed = 1;
	sched_fail(j);
}

/*
 * Less than "len" is the end of the file, or what was read before an error:
 * then the file fails. A file system may give less before the end, which would
 * be taken for it.
 */
static size_t
read_local(struct transfer *t, struct file *file, struct sched_entry *j,
    u_char *p, size_t len, off_t off)
{
	uint64_t begun_us = bottleneck_call_begin();
	size_t done = 0;
	ssize_t n = 0;

	do {
		n = pread(file->fd, p + done, len - done, off + done);
		if (n > 0)
			done += n;
	} while ((n > 0 && done < len && off + done < file->size) ||
	    (n == -1 && errno == EINTR));
	if (n == -1)
		report_read_error(t, file, j);
	bottleneck_count_read(t, begun_us);
	return done;
}

/* Reads into the message; without data there is no message. */
static void
send_local_write(struct transfer *t, struct file *file,
    const struct sched_action *a)
{
	const struct handle *h = a->staging && a->conn == 0 ?
	    &file->dest_handle : file_handle_for(file, a->conn);
	off_t off;
	size_t n, len = skip_hole(t, file, a, &off);

	request_begin_write(stream_sink(t->stream), a->id, h,
	    a->at + (off - a->off));
	n = read_local(t, file, a->entry, stream_data(t->stream, len), len,
	    off);
	if (n == 0)
		stream_cancel(t->stream);
	else {
		debug3("Sent message SSH2_FXP_WRITE I:%u O:%llu S:%zu", a->id,
		    (unsigned long long)off, n);
		stream_end_data(t->stream, len, n);
	}
	sched_sent(t->sched, a->id, off, n);
}

/* A directory is writable for the time of the transfer. */
static void
send_path_request(struct transfer *t, struct file *file,
    const struct sched_action *a)
{
	Attrib attrs = file->a;

	if (a->op == OP_MKDIR)
		attrs.perm |= S_IWUSR | S_IXUSR;
	file_send_path(t, a, a->op == OP_MKDIR ? SSH2_FXP_MKDIR :
	    a->op == OP_SETSTAT ? SSH2_FXP_SETSTAT :
	    a->op == OP_REMOVE_OWN ? SSH2_FXP_REMOVE : SSH2_FXP_STAT, file->dst,
	    a->op == OP_MKDIR || a->op == OP_SETSTAT ? &attrs : NULL);
	if (a->op == OP_SETSTAT)
		file->seen_attrs.flags = 0;
}

/* Returns 1 if the file of the server has its old bytes when it is open. */
static int
opens_untruncated(const struct transfer *t, const struct file *file,
    const struct sched_entry *j)
{
	return file->truncate_late || file->no_truncate ||
	    file->possible_source || file->start_off > 0 ||
	    (t->in_place && !file->sparse && !file->open_truncates &&
	    !sched_info(j).must_open_trunc);
}

/* What opens a file of the server */
static void
send_open_target(struct transfer *t, struct file *file,
    const struct sched_action *a)
{
	unsigned int number;

	if (a->op == OP_OPEN_EXCL && sched_info(a->entry).tempfile != NULL &&
	    tempfile_open_mode(sched_info(a->entry).tempfile, &number) ==
	    TEMPFILE_OPEN_TEMP) {
		temp_name_set_number(file->temp_name, number);
		file_send_open(t, a, file->temp_name, SSH2_FXF_WRITE |
		    SSH2_FXF_CREAT | SSH2_FXF_EXCL, &file->a);
	} else if (a->op == OP_HELPER_OPEN)
		file_send_open(t, a, file->temp_name, SSH2_FXF_WRITE, NULL);
	else if (a->op == OP_REOPEN)
		file_send_open(t, a, file->dst, SSH2_FXF_WRITE, NULL);
	else
		file_send_open(t, a, file->dst, SSH2_FXF_WRITE |
		    (file->start_off > 0 ? 0 : SSH2_FXF_CREAT) |
		    (a->op == OP_OPEN_EXCL ? SSH2_FXF_EXCL :
		    opens_untruncated(t, file, a->entry) ? 0 : SSH2_FXF_TRUNC),
		    &file->a);
}

static void
put_send(struct transfer *t, struct file *file, const struct sched_action *a)
{
	const struct handle *h = file_handle_for(file, a->conn);

	switch (a->op) {
	case OP_MKDIR:
	case OP_STAT:
	case OP_STAT_DEST_ON_HOST:
	case OP_REMOVE_OWN:
	case OP_SETSTAT:
		send_path_request(t, file, a);
		break;
	case OP_OPEN:
	case OP_OPEN_EXCL:
	case OP_HELPER_OPEN:
	case OP_REOPEN:
		send_open_target(t, file, a);
		break;
	case OP_TEMPFILE:
		tempfile_send(t, file, a);
		break;
	case OP_WRITE:
		send_local_write(t, file, a);
		break;
	case OP_SETSIZE_0:
	case OP_SETSIZE_END:
	case OP_SETSIZE_FINAL:
		file_send_size(t, a, h);
		break;
	case OP_FSYNC:
		debug2("Sending SSH2_FXP_EXTENDED(fsync@openssh.com)");
		request_extended(stream_sink(t->stream), a->id,
		    "fsync@openssh.com", h);
		break;
	case OP_FSETSTAT:
		file_send_handle(t, a, h, SSH2_FXP_FSETSTAT, &file->a);
		break;
	default:
		file_send_handle(t, a, h, a->op == OP_FSTAT_TYPE ||
		    a->op == OP_FSTAT_SIZE || a->op == OP_FSTAT_IDENTITY ?
		    SSH2_FXP_FSTAT : SSH2_FXP_CLOSE, NULL);
	}
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
decide_truncation(const struct transfer *t, struct file *file,
    struct sched_reply *told, const Attrib *found)
{
	struct stat sb;

	if (!stats_first(t))
		return;
	if ((found->flags & SSH2_FILEXFER_ATTR_PERMISSIONS) != 0 &&
	    !S_ISREG(found->perm))
		told->old_size = 0;	/* Nothing can be cut. */
	else if ((found->flags & SSH2_FILEXFER_ATTR_SIZE) == 0)
		return;
	else if (found->size <= file->size)
		told->old_size = found->size;
	else if (file->no_truncate)
		told->needs_conn_0 = 1;
	else
		file->open_truncates = fstat(file->fd, &sb) == 0 &&
		    (uint64_t)sb.st_size == file->size;
}

/* What may be the source is written over, as scp does it with any file. */
static void
note_possible_source(const struct transfer *t, struct file *file,
    struct sched_reply *told, const Attrib *found)
{
	struct stat sb;
	Attrib a;

	if (t->in_place || fstat(file->fd, &sb) == -1)
		return;
	stat_to_attrib(&sb, &a);
	if (!file_is_same(found, &a))
		return;
	file->possible_source = 1;
	file->sparse = 0;
	file->source_ctime = sb.st_ctim;
	told->possible_source = 1;
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
	if (file->verify_attempts++ == 0)
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
check_late_target(const struct transfer *t, struct file *file,
    const struct sched_action *a, const Attrib *seen)
{
	const uint64_t size = file->is_complete ? file->size : file->sent_size;

	if (!temp_name_is_file(seen))
		return RESULT_OK;
	if (seen->size == size)
		return check_mtime(t, file, seen);
	if (file->verify_attempts++ > 0) {
		file_error(file, "size mismatch: \"%s\" has %llu bytes, \"%s\" "
		    "has %llu", file->dst, (unsigned long long)seen->size,
		    file->src, (unsigned long long)size);
		file->failed = 1;
		sched_fail(a->entry);
	}
	return RESULT_FAILED;
}

/* Compares the target as each involved host sees it. */
static enum sched_result
check_seen_target(struct transfer *t, struct file *file,
    const struct sched_action *a, struct reply *reply)
{
	Attrib seen;
	enum sched_result result;

	file_parse_attrs(t, reply, &seen);
	if (a->conn == 0 && sched_info(a->entry).unconfirmed_writes &&
	    (result = check_late_target(t, file, a, &seen)) != RESULT_OK)
		return result;
	if (file->seen_attrs.flags == 0)
		file->seen_attrs = seen;
	if (file_is_same(&seen, &file->seen_attrs))
		return RESULT_OK;
	verbose("\"%s\" differs on another host; sending it again over the "
	    "first host", file->dst);
	return RESULT_FAILED;
}

/*
 * Truncation failed. That is ignored for a device, or if the size is right
 * already. The message is dropped if the file restarts.
 */
static enum sched_result
check_truncated_size(struct transfer *t, struct file *file,
    const struct sched_action *a, struct reply *reply)
{
	Attrib found;

	if (file_reply_not_regular(t, reply, &found) == RESULT_OK ||
	    ((found.flags & SSH2_FILEXFER_ATTR_SIZE) != 0 &&
	    found.size == a->off))
		return RESULT_OK;
	if ((found.flags & SSH2_FILEXFER_ATTR_SIZE) != 0)
		file_error(file, "server did not truncate \"%s\" (%llu bytes "
		    "instead of %llu)", file->dst,
		    (unsigned long long)found.size,
		    (unsigned long long)a->off);
	else
		file_error(file, "server did not truncate \"%s\", and does "
		    "not tell its size", file->dst);
	file->failed = 1;
	return RESULT_FAILED;
}

/*
 * What was opened without its beginning being sent has to be what was compared,
 * what a further connection has opened the file of the first, and what was
 * opened again has to have all that was acknowledged.
 */
static enum sched_result
check_target_identity(struct transfer *t, struct file *file,
    const struct sched_action *a, struct reply *reply)
{
	Attrib found;

	file_parse_attrs(t, reply, &found);
	if (a->conn == sched_info(a->entry).owner &&
	    sched_info(a->entry).identity_pending)
		return verify_run_is_unchanged(file, &found) ? RESULT_OK :
		    RESULT_FAILED;
	if (!temp_name_is_file(&found))
		return RESULT_FAILED;
	if (a->conn != sched_info(a->entry).owner) {
		if (tempfile_is_same(file, &found))
			return RESULT_OK;
		verbose("an additional connection opened a different file as "
		    "\"%s\"", file->temp_name);
		return RESULT_FAILED;
	}
	return found.size >= a->off ? RESULT_OK : RESULT_FAILED;
}

static enum sched_result
put_reply(struct transfer *t, struct file *file, const struct sched_action *a,
    struct reply *reply, struct sched_reply *told)
{
	Attrib found;

	if (a->op == OP_OPEN || a->op == OP_OPEN_EXCL ||
	    a->op == OP_REOPEN || a->op == OP_HELPER_OPEN) {
		file_parse_handle(t, file, reply, file_handle_for(file,
		    a->conn));
		file->has_data = 1;
		if (a->op == OP_OPEN || a->op == OP_OPEN_EXCL)
			verify_run_source_opened(file);
		if (a->op == OP_OPEN_EXCL || (a->op == OP_OPEN &&
		    !opens_untruncated(t, file, a->entry)))
			told->old_size = 0;
	} else if (a->op == OP_TEMPFILE) {
		tempfile_take_reply(t, file, a, reply, told);
	} else if (a->op == OP_STAT_DEST_ON_HOST) {
		return check_seen_target(t, file, a, reply);
	} else if (a->op == OP_FSTAT_IDENTITY) {
		return check_target_identity(t, file, a, reply);
	} else if (a->op == OP_FSTAT_TYPE) {
		return file_reply_not_regular(t, reply, &found);
	} else if (a->op == OP_FSTAT_SIZE) {
		return check_truncated_size(t, file, a, reply);
	} else if (a->op == OP_MKDIR) {
		file->is_new = 1;
	} else if (a->op == OP_STAT && sched_info(a->entry).kind == KIND_FILE) {
		file_parse_attrs(t, reply, &found);
		file->sparse &= S_ISREG(found.perm) &&
		    may_truncate(t, file, &found);
		decide_truncation(t, file, told, &found);
		note_possible_source(t, file, told, &found);
	} else if (a->op == OP_STAT)
		return file_check_is_dir(t, file, reply);
	return RESULT_OK;
}

/* A file was looked at, and is not there, or nothing is known of it. */
static void
note_absent(struct file *file, int is_absent)
{
	file->sparse &= is_absent;
	file->open_truncates |= is_absent;
}

static void
put_fail(struct transfer *t, struct file *file, const struct sched_action *a,
    u_int status)
{
	const char *why = fx2txt(status);

	(void)t;
	if (a->op == OP_STAT_DEST_ON_HOST)
		verbose("\"%s\" is not visible on every host: %s", file->dst,
		    why);
	if (a->op == OP_HELPER_OPEN || a->op == OP_STAT_DEST_ON_HOST || a->op ==
	    OP_REMOVE_OWN || a->op == OP_FSTAT_IDENTITY)
		return;	/* It is sent over fewer connections, or again. */
	if (a->op == OP_TEMPFILE)
		tempfile_report_error(file, a, status);
	else if (a->op == OP_STAT && sched_info(a->entry).kind == KIND_FILE) {
		note_absent(file, status == SSH2_FX_NO_SUCH_FILE);
		return;
	} else if (a->op == OP_STAT)
		file_error(file, "stat remote: %s", why);
	else if (a->op == OP_OPEN || a->op == OP_REOPEN)
		file_error(file, "dest open \"%s\": %s", file->dst, why);
	else if (a->op == OP_CLOSE || a->op == OP_HELPER_CLOSE)
		file_error(file, "close remote: %s", why);
	else if (a->op == OP_FSYNC)
		file_error(file, "remote fsync: %s", why);
	else if (a->op == OP_SETSIZE_FINAL || a->op == OP_FSETSTAT)
		file_error(file, "remote fsetstat: %s", why);
	else if (a->op == OP_SETSTAT)
		file_message(file, 1, SYSLOG_LEVEL_ERROR,
		    "remote setstat \"%s\": %s", file->dst, why);
	else if (a->op == OP_WRITE && file->status == SSH2_FX_OK)
		file->status = status;
	else if (a->op == OP_FSTAT_SIZE)
		file_error(file, "server did not truncate \"%s\", and its size "
		    "is unknown: %s", file->dst, why);
	/* Upstream ignores attributes. */
	if (a->op == OP_STAT || a->op == OP_OPEN || a->op == OP_CLOSE ||
	    a->op == OP_REOPEN || a->op == OP_HELPER_CLOSE || a->op ==
	    OP_WRITE || a->op == OP_FSTAT_SIZE || a->op == OP_FSYNC)
		file->failed = 1;
}

/* Local work */

/* Returns 0, or -1 with a text. */
static int
begin_local_dir(struct transfer *t, struct file *file)
{
	struct stat sb;

	debug2_f("upload local dir \"%s\" to remote \"%s\"", file->src,
	    file->dst);
	if (file->depth >= FILE_DEPTH_MAX) {
		file_error(file, "Maximum directory depth exceeded: %d levels",
		    file->depth);
		return -1;
	}
	if (stat(file->src, &sb) == -1) {
		file_error(file, "stat local \"%s\": %s", file->src,
		    strerror(errno));
		return -1;
	}
	if (!S_ISDIR(sb.st_mode)) {
		file_error(file, "\"%s\" is not a directory", file->src);
		return -1;
	}
	if (t->print && t->print != SFTP_PROGRESS_ONLY)
		file_message(file, 0, MESSAGE_STDOUT, "Entering %s\n",
		    file->src);
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
	file->sparse = server_handle_limit(t->server) != 0 &&
	    !sched_stats(t->sched).truncate_unreliable && sparse_is_worth(sb,
	    tempfile_may_begin(t, file->size), t->single_file) &&
	    sparse_has_hole(file->fd, sb);
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
	struct file *file = file_new(sftp_path_append(dir->src, name->name),
	    sftp_path_append(dir->dst, name->name), dir->depth + 1);
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

const struct direction_ops put_ops = { 1, NULL, NULL, put_send, put_reply,
    put_fail, put_begin, put_data_done, put_end, put_add };
