/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See tempfile-hook.h. Errors have the texts of upstream's sftp_upload(). */

#include "includes.h"

#include <sys/types.h>
#include <sys/stat.h>

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "log.h"
#include "misc.h"
#include "xmalloc.h"

#include "conn-count.h"
#include "deferred-signals-hook.h"
#include "file-hook.h"
#include "rendezvous.h"
#include "server-hook.h"
#include "stale-temp.h"
#include "temp-name-hook.h"
#include "tempfile.h"
#include "tempfile-hook.h"

/* A server that takes less at once is not for this: each WRITE costs work. */
#define UNIT_MIN	(32 * 1024)

/*
 * How many files use several connections at once, unless the user wants a
 * number of connections: then one less than that. More would wait for each
 * other on the first one.
 */
#define STRIPED_FILES_MAX	4

#define SAME_NEEDS	(SSH2_FILEXFER_ATTR_SIZE | \
	SSH2_FILEXFER_ATTR_UIDGID | SSH2_FILEXFER_ATTR_PERMISSIONS | \
	SSH2_FILEXFER_ATTR_ACMODTIME)

/* A mark, in seconds: days from now, among so many */
#define TAG_AHEAD	(2 * 24 * 3600)
#define TAG_RANGE_MIN	(1 << 24)

/*
 * A time that nobody knows, as a file's time of access: writing does not change
 * it. It is days ahead, so that reading does not either, where that is set only
 * if it was less than the other times.
 */
static uint32_t
new_tag(void)
{
	const uint32_t first = (uint32_t)time(NULL) + TAG_AHEAD;

	return first + arc4random_uniform(first < INT32_MAX - TAG_RANGE_MIN ?
	    INT32_MAX - first : TAG_RANGE_MIN);
}

int
tempfile_may_begin(const struct transfer *t, uint64_t size)
{
	return t->ops->is_put && size >= STRIPE_MIN_FILE && !t->sync &&
	    !t->keeps_target && server_can_stripe(t->server, UNIT_MIN);
}

void
tempfile_want(struct transfer *t, struct file *file, struct sched_entry *j,
    struct tempfile_conf *conf, struct sched_begin *begin)
{
	int streams;

	begin->removes_stale = !t->keeps_target && file->size >=
	    STRIPE_MIN_FILE && server_is_tuned(t->server);
	if (!tempfile_may_begin(t, file->size) || file->sparse ||
	    file->never_striped || sched_info(j).must_open_trunc)
		return;
	streams = rendezvous_offered_conns(t->conns.main_fd);
	*conf = (struct tempfile_conf){ .size = file->size,
	    .in_place = t->in_place, .preserve = t->preserve,
	    .is_readonly = (file->a.perm & S_IWUSR) == 0,
	    .number = arc4random_uniform(STALE_TEMP_NAMES) };
	begin->tempfile = conf;
	begin->max_tempfiles = streams > 1 ? streams - 1 : STRIPED_FILES_MAX;
}

void
tempfile_begun(struct file *file)
{
	file->temp_name = temp_name_new(file->dst);
	file->temp_tag = new_tag();
	file->temp_attrs.flags = 0;
	signals_catch();
}

int
tempfile_server_caps(int told)
{
	const int needs = SFTP_CAP_LIMITS | SFTP_CAP_COPY_DATA |
	    SFTP_CAP_FSTATVFS;

	return (told & needs) == needs ? TEMPFILE_HAS_COPY : 0;
}

int
tempfile_wants_conns(const struct transfer *t)
{
	return t->conns.kind == CONNS_CHANNELS || (t->conns.may_use_channels &&
	    rendezvous_offered_conns(t->conns.main_fd) == 1) ?
	    conn_count_may_be_limited(&t->channel_count) :
	    rendezvous_offered_conns(t->conns.main_fd) != 1;
}

int
tempfile_is_same(const struct file *file, const Attrib *found)
{
	const Attrib *known = &file->temp_attrs;

	return (known->flags & found->flags & SAME_NEEDS) == SAME_NEEDS &&
	    S_ISREG(found->perm) && S_ISREG(known->perm) &&
	    found->uid == known->uid && found->gid == known->gid &&
	    found->atime == known->atime && (known->atime == file->temp_tag ||
	    (found->mtime == known->mtime && found->size == known->size));
}

/* Requests */

static void
send_open_staging(struct transfer *t, struct file *file,
    const struct sched_action *a)
{
	Attrib attrs;

	attrib_clear(&attrs);
	attrs.flags = SSH2_FILEXFER_ATTR_PERMISSIONS;
	attrs.perm = 0600;
	file_send_open(t, a, file->temp_name, SSH2_FXF_WRITE | SSH2_FXF_READ |
	    SSH2_FXF_CREAT | SSH2_FXF_EXCL, &attrs);
}

/* The directory of the file, and not a link to it */
static void
send_lstat_dir(struct transfer *t, const struct file *file,
    const struct sched_action *a)
{
	const char *slash = strrchr(file->dst, '/');
	char *path;

	xasprintf(&path, "%.*s.", slash == NULL ? 0 :
	    (int)(slash - file->dst) + 1, file->dst);
	file_send_path(t, a, SSH2_FXP_LSTAT, path, NULL);
	free(path);
}

/*
 * Of the times that a temporary file gets at the end, that of its last WRITE is
 * not known, but how far the clocks are apart.
 */
static void
send_fsetstat(struct transfer *t, const struct file *file,
    const struct sched_action *a, const struct handle *h)
{
	Attrib attrs = file->a;

	if (a->temp_request.op == TEMPFILE_SET_TAG)
		attrs.atime = attrs.mtime = file->temp_tag;
	else if (!t->preserve)
		attrs.atime = attrs.mtime = (uint32_t)(time(NULL) +
		    file->clock_offset);
	if (a->temp_request.op == TEMPFILE_SET_TAG || !t->preserve)
		attrs.flags = SSH2_FILEXFER_ATTR_ACMODTIME;
	file_send_handle(t, a, h, SSH2_FXP_FSETSTAT, &attrs);
}

/* What is under a temporary name, also of another copy */
static void
send_stale_name(struct transfer *t, const struct file *file,
    const struct sched_action *a)
{
	char *name = temp_name_new(file->dst);

	temp_name_set_number(name, a->temp_request.number);
	if (a->temp_request.op == TEMPFILE_REMOVE_STALE)
		debug("removing stale temporary file \"%s\"", name);
	file_send_path(t, a, a->temp_request.op == TEMPFILE_REMOVE_STALE ?
	    SSH2_FXP_REMOVE : SSH2_FXP_LSTAT, name, NULL);
	free(name);
}

/* What has to do with a name, and not with an open file */
static void
send_name_request(struct transfer *t, struct file *file,
    const struct sched_action *a)
{
	switch (a->temp_request.op) {
	case TEMPFILE_LSTAT_TARGET:
	case TEMPFILE_LSTAT_RENAMED:
		file_send_path(t, a, SSH2_FXP_LSTAT, file->dst, NULL);
		break;
	case TEMPFILE_LSTAT_DIR:
		send_lstat_dir(t, file, a);
		break;
	case TEMPFILE_RENAME:
		request_rename(stream_sink(t->stream), a->id, file->temp_name,
		    file->dst);
		break;
	case TEMPFILE_OPEN_STAGING:
		send_open_staging(t, file, a);
		break;
	case TEMPFILE_REMOVE:
	case TEMPFILE_REMOVE_STAGING:
		file_send_path(t, a, SSH2_FXP_REMOVE, file->temp_name, NULL);
		break;
	default:
		send_stale_name(t, file, a);
	}
}

void
tempfile_send(struct transfer *t, struct file *file,
    const struct sched_action *a)
{
	const struct handle *h = file_handle_for(file, 0), *marked =
	    tempfile_has_staging(sched_info(a->entry).tempfile_requester) ?
	    &file->dest_handle : h;
	struct request_sink *sink = stream_sink(t->stream);

	if (a->temp_request.op == TEMPFILE_OPEN_STAGING)
		temp_name_set_number(file->temp_name, a->temp_request.number);
	switch (a->temp_request.op) {
	case TEMPFILE_FSTAT_OLD:
		file_send_handle(t, a, h, SSH2_FXP_FSTAT, NULL);
		break;
	case TEMPFILE_STATVFS:
		request_extended(sink, a->id, "fstatvfs@openssh.com",
		    &file->dest_handle);
		break;
	case TEMPFILE_COPY_BACK:
		request_copy_data(sink, a->id, &file->dest_handle,
		    a->temp_request.at, a->temp_request.len, h,
		    a->temp_request.off);
		break;
	case TEMPFILE_SETSIZE:
		file_send_size(t, a, h);
		break;
	case TEMPFILE_SET_TAG:
		send_fsetstat(t, file, a, marked);
		break;
	case TEMPFILE_FSTAT_TAG:
		file_send_handle(t, a, marked, SSH2_FXP_FSTAT, NULL);
		break;
	case TEMPFILE_FSETSTAT:
		send_fsetstat(t, file, a, h);
		break;
	case TEMPFILE_CLOSE_STAGING:
		file_send_handle(t, a, &file->dest_handle, SSH2_FXP_CLOSE,
		    NULL);
		break;
	case TEMPFILE_CLOSE:
		file_send_handle(t, a, h, SSH2_FXP_CLOSE, NULL);
		break;
	default:
		send_name_request(t, file, a);
	}
}

/* Replies */

u_char
tempfile_reply_type(const struct sched_action *a)
{
	switch (a->temp_request.op) {
	case TEMPFILE_OPEN_STAGING:
		return SSH2_FXP_HANDLE;
	case TEMPFILE_LSTAT_TARGET:
	case TEMPFILE_LSTAT_DIR:
	case TEMPFILE_FSTAT_OLD:
	case TEMPFILE_LSTAT_STALE:
	case TEMPFILE_FSTAT_TAG:
	case TEMPFILE_LSTAT_TEMP:
	case TEMPFILE_LSTAT_RENAMED:
		return SSH2_FXP_ATTRS;
	case TEMPFILE_STATVFS:
		return SSH2_FXP_EXTENDED_REPLY;
	default:
		return SSH2_FXP_STATUS;
	}
}

/*
 * Nobody else may give names to other files there, and the server tells what
 * tempfile_is_same() looks at.
 */
static int
dir_is_safe(const Attrib *dir)
{
	return (dir->flags & SAME_NEEDS) == SAME_NEEDS &&
	    S_ISDIR(dir->perm) && ((dir->perm & S_ISVTX) != 0 ||
	    (dir->perm & (S_IWGRP | S_IWOTH)) == 0);
}

/* The temporary file, as its handle has it */
static void
note_temp_attrs(struct file *file, struct tempfile *temp, const Attrib *now)
{
	int is_marked = (now->flags & SSH2_FILEXFER_ATTR_ACMODTIME) != 0 &&
	    now->atime == file->temp_tag;

	file->temp_attrs = *now;
	if (is_marked && now->mtime != file->temp_tag)
		file->clock_offset = (int64_t)now->mtime - time(NULL);
	tempfile_set_tagged(temp, is_marked && tempfile_is_same(file, now));
}

static void
check_name_identity(struct file *file, struct tempfile *temp,
    enum tempfile_op op, const Attrib *now)
{
	int is_same = tempfile_is_same(file, now);

	if (!is_same && op == TEMPFILE_LSTAT_TEMP)
		file_error(file, "\"%s\" is not the file that was uploaded",
		    file->temp_name);
	else if (!is_same && tempfile_is_renamed(temp))
		file_error(file, "\"%s\" is not the file that was uploaded",
		    file->dst);
	else if (!is_same)
		file_error(file, "\"%s\" was created by another program during "
		    "the upload", file->dst);
	tempfile_saw_name(temp, op, is_same);
}

static void
take_attrs_reply(struct transfer *t, struct file *file,
    const struct sched_action *a, struct reply *reply)
{
	struct tempfile *temp = sched_info(a->entry).tempfile_requester;
	struct stale_temp_file stale;
	Attrib now;

	file_parse_attrs(t, reply, &now);
	if (a->temp_request.op == TEMPFILE_LSTAT_DIR)
		tempfile_set_dir_safe(temp, dir_is_safe(&now));
	else if (a->temp_request.op == TEMPFILE_LSTAT_STALE) {
		stale = temp_name_stale_file(&now);
		tempfile_found_stale(temp, a->temp_request.number, &stale);
	} else if (a->temp_request.op == TEMPFILE_LSTAT_TEMP ||
	    a->temp_request.op == TEMPFILE_LSTAT_RENAMED)
		check_name_identity(file, temp, a->temp_request.op, &now);
	else if (a->temp_request.op == TEMPFILE_FSTAT_OLD)
		tempfile_set_old(temp,
		    (now.flags & SSH2_FILEXFER_ATTR_PERMISSIONS) != 0 &&
		    (now.flags & SSH2_FILEXFER_ATTR_SIZE) != 0 &&
		    S_ISREG(now.perm), now.size);
	else if (a->temp_request.op == TEMPFILE_FSTAT_TAG)
		note_temp_attrs(file, temp, &now);
	if ((a->temp_request.op == TEMPFILE_FSTAT_OLD || a->temp_request.op ==
	    TEMPFILE_FSTAT_TAG) && (now.flags & SSH2_FILEXFER_ATTR_UIDGID) != 0)
		tempfile_set_owner(temp, now.uid);
}

void
tempfile_take_reply(struct transfer *t, struct file *file,
    const struct sched_action *a, struct reply *reply, struct sched_reply *told)
{
	uint64_t space;

	switch (tempfile_reply_type(a)) {
	case SSH2_FXP_HANDLE:
		file_parse_handle(t, file, reply, &file->dest_handle);
		break;
	case SSH2_FXP_ATTRS:
		take_attrs_reply(t, file, a, reply);
		break;
	case SSH2_FXP_EXTENDED_REPLY:
		stream_check_reply(t->stream, reply_get_free_space(reply->m,
		    &space), "statvfs");
		told->free_space = MINIMUM(space, UINT64_MAX - 1);
		break;
	default:
		break;
	}
}

void
tempfile_report_error(struct file *file, const struct sched_action *a,
    u_int status)
{
	const char *why = fx2txt(status);

	switch (a->temp_request.op) {
	case TEMPFILE_COPY_BACK:
		if (file->status == SSH2_FX_OK)
			file->status = status;
		break;
	case TEMPFILE_RENAME:
		file_error(file, "remote rename \"%s\" to \"%s\": %s",
		    file->temp_name, file->dst, why);
		break;
	case TEMPFILE_LSTAT_TEMP:
		file_error(file, "remote lstat \"%s\": %s", file->temp_name,
		    why);
		break;
	case TEMPFILE_LSTAT_RENAMED:
		file_error(file, "remote lstat \"%s\": %s", file->dst, why);
		break;
	case TEMPFILE_REMOVE:
		/* Reported although the file is uploaded again. */
		file_message(file, 1, SYSLOG_LEVEL_ERROR,
		    "remote delete \"%s\": %s", file->temp_name, why);
		break;
	case TEMPFILE_REMOVE_STAGING:
		file_error(file, "remote delete \"%s\": %s", file->temp_name,
		    why);
		break;
	case TEMPFILE_CLOSE:
		file_error(file, "close remote: %s", why);
		break;
	default:
		file_error(file, "remote fsetstat: %s", why);
	}
}

char *
tempfile_describe_leftover(const struct file *file, const struct sched_entry *j)
{
	char *text = NULL;

	switch (sched_info(j).tempfile == NULL ? TEMPFILE_LEAVES_NOTHING :
	    tempfile_leftover(sched_info(j).tempfile)) {
	case TEMPFILE_LEAVES_TEMP:
		xasprintf(&text, "partial upload of \"%s\" remains in \"%s\"",
		    file->dst, file->temp_name);
		break;
	case TEMPFILE_MAY_LEAVE_TEMP:
		xasprintf(&text, "partial upload of \"%s\" may remain in "
		    "\"%s\"", file->dst, file->temp_name);
		break;
	case TEMPFILE_LEAVES_STAGING:
		xasprintf(&text, "temporary file \"%s\" of \"%s\" was left "
		    "behind and can be removed", file->temp_name, file->dst);
		break;
	default:
		break;
	}
	return text;
}
