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
#include "conns-hook.h"
#include "deferred-signals-hook.h"
#include "file-hook.h"
#include "op-table.h"
#include "rendezvous.h"
#include "server-hook.h"
#include "temp-name-hook.h"
#include "tempfile.h"
#include "tempfile-hook.h"
#include "verify-run-hook.h"

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
	const struct server_info *server = server_info(t->server);

	return t->ops->is_put && size >= STRIPE_MIN_FILE && !t->sync &&
	    !t->keeps_target && server->upload >= UNIT_MIN &&
	    rendezvous_offered_conns(server->conn.fd_in) != -1;
}

void
tempfile_want(struct transfer *t, struct file *file, struct sched_entry *j,
    struct tempfile_conf *conf, struct sched_begin *begin)
{
	int streams;

	begin->removes_stale = verify_run_search(file) == NULL &&
	    !t->keeps_target && file->size >= STRIPE_MIN_FILE &&
	    server_info(t->server)->is_tuned;
	if (!tempfile_may_begin(t, file->size) || file->sparse ||
	    file->never_striped || sched_info(j).must_open_trunc)
		return;
	streams = rendezvous_offered_conns(t->conns.main_fd);
	*conf = (struct tempfile_conf){ .size = file->size,
	    .in_place = t->in_place, .preserve = t->preserve,
	    .is_readonly = (file->a.perm & S_IWUSR) == 0,
	    .number = arc4random_uniform(STALE_TEMP_NAMES),
	    .searched = verify_run_search(file) };
	begin->tempfile = conf;
	begin->max_tempfiles = streams > 1 ? streams - 1 : STRIPED_FILES_MAX;
}

void
tempfile_begun(struct file *file)
{
	file->temp_name = temp_name_new(file->dst);
	file->temp_tag = new_tag();
	file->temp_attrs.flags = 0;
	verify_run_end_search(file);
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
send_open_staging(struct request *r)
{
	Attrib attrs;

	attrib_clear(&attrs);
	attrs.flags = SSH2_FILEXFER_ATTR_PERMISSIONS;
	attrs.perm = 0600;
	temp_name_set_number(r->file->temp_name, r->a.temp_request.number);
	file_send_open(r, r->file->temp_name, SSH2_FXF_WRITE | SSH2_FXF_READ |
	    SSH2_FXF_CREAT | SSH2_FXF_EXCL, &attrs);
}

/* The directory of the file, and not a link to it */
static void
send_lstat_dir(struct request *r)
{
	struct file *file = r->file;
	const char *slash = strrchr(file->dst, '/');
	char *path;

	xasprintf(&path, "%.*s.", slash == NULL ? 0 :
	    (int)(slash - file->dst) + 1, file->dst);
	request_path(r->sink, r->a.id, SSH2_FXP_LSTAT, path, NULL);
	free(path);
}

/* The handle of the staging file if there is one, or else of the file */
static const struct handle *
tagged_handle(struct file *file, const struct sched_action *a)
{
	return tempfile_info(sched_info(a->entry).tempfile).has_staging ?
	    &file->dest_handle : file_handle_for(file, a->conn);
}

static void
send_set_tag(struct request *r)
{
	struct file *file = r->file;
	Attrib attrs = file->a;

	attrs.atime = attrs.mtime = file->temp_tag;
	attrs.flags = SSH2_FILEXFER_ATTR_ACMODTIME;
	request_handle(r->sink, r->a.id, SSH2_FXP_FSETSTAT,
	    tagged_handle(file, &r->a), &attrs);
}

static void
send_fstat_tag(struct request *r)
{
	request_handle(r->sink, r->a.id, SSH2_FXP_FSTAT,
	    tagged_handle(r->file, &r->a), NULL);
}

/*
 * Of the times that a temporary file gets at the end, that of its last WRITE is
 * not known, but how far the clocks are apart.
 */
static void
send_fsetstat(struct request *r)
{
	Attrib attrs = r->file->a;

	if (!r->t->preserve) {
		attrs.atime = attrs.mtime = (uint32_t)(time(NULL) +
		    r->file->clock_offset);
		attrs.flags = SSH2_FILEXFER_ATTR_ACMODTIME;
	}
	file_send_attrs(r, &attrs);
}

static void
send_statvfs(struct request *r)
{
	request_extended(r->sink, r->a.id, "fstatvfs@openssh.com",
	    file_handle_of(r));
}

static void
send_copy_back(struct request *r)
{
	const struct tempfile_request *a = &r->a.temp_request;

	request_copy_data(r->sink, r->a.id, &r->file->dest_handle, a->at,
	    a->len, file_handle_of(r), a->off);
}

static void
send_rename(struct request *r)
{
	request_rename(r->sink, r->a.id, r->file->temp_name, r->file->dst);
}

static void
send_stale(struct request *r)
{
	file_send_stale(r, r->a.temp_request.number);
}

/* Replies */

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

static void
take_dir(struct request *r)
{
	Attrib now;

	file_parse_attrs(r, &now);
	r->said.temp.confirmed = dir_is_safe(&now);
}

static void
take_stale(struct request *r)
{
	Attrib now;

	file_parse_attrs(r, &now);
	r->said.temp.file = temp_name_stale_file(&now);
}

/* The file that is open, as the server or its handle has it */
static void
parse_fstat(struct request *r, Attrib *now)
{
	file_parse_attrs(r, now);
	r->said.temp.file = temp_name_stale_file(now);
	r->said.temp.has_owner = (now->flags & SSH2_FILEXFER_ATTR_UIDGID) != 0;
}

static void
take_fstat_old(struct request *r)
{
	Attrib now;

	parse_fstat(r, &now);
	r->said.temp.confirmed =
	    (now.flags & SSH2_FILEXFER_ATTR_PERMISSIONS) != 0 &&
	    (now.flags & SSH2_FILEXFER_ATTR_SIZE) != 0 && S_ISREG(now.perm);
}

static void
take_fstat_tag(struct request *r)
{
	struct file *file = r->file;
	Attrib *now = &file->temp_attrs;
	int is_tagged;

	parse_fstat(r, now);
	is_tagged = (now->flags & SSH2_FILEXFER_ATTR_ACMODTIME) != 0 &&
	    now->atime == file->temp_tag;
	if (is_tagged && now->mtime != file->temp_tag)
		file->clock_offset = (int64_t)now->mtime - time(NULL);
	r->said.temp.confirmed = is_tagged && tempfile_is_same(file, now);
}

/* What has the temporary name, or the name: is it the file? */
static void
take_name(struct request *r)
{
	struct file *file = r->file;
	Attrib now;

	file_parse_attrs(r, &now);
	r->said.temp.confirmed = tempfile_is_same(file, &now);
	if (r->said.temp.confirmed)
		return;
	if (op_info_of(&r->a)->temp_name ||
	    tempfile_info(sched_info(r->a.entry).tempfile).is_renamed)
		file_error(file, "\"%s\" is not the file that was uploaded",
		    file_path_of(r));
	else
		file_error(file, "\"%s\" was created by another program during "
		    "the upload", file->dst);
}

static void
take_statvfs(struct request *r)
{
	stream_check_reply(r->t->stream, reply_get_free_space(r->m,
	    &r->said.temp.free_space), "statvfs");
}

static void
fail_rename(struct request *r)
{
	struct file *file = r->file;

	file_error(file, "remote rename \"%s\" to \"%s\": %s",
	    file->temp_name, file->dst, fx2txt(r->status));
}

/* An error of TEMPFILE_REMOVE is reported also if the file is sent again. */
const struct op_handler tempfile_handlers[] = {
	[TEMPFILE_LSTAT_TARGET] = { file_send },
	[TEMPFILE_LSTAT_DIR] = { send_lstat_dir, take_dir },
	[TEMPFILE_LSTAT_STALE] = { send_stale, take_stale },
	[TEMPFILE_REMOVE_STALE] = { send_stale },
	[TEMPFILE_FSTAT_OLD] = { file_send, take_fstat_old },

	[TEMPFILE_OPEN_STAGING] = { send_open_staging, file_take_handle },
	[TEMPFILE_SET_TAG] = { send_set_tag },
	[TEMPFILE_FSTAT_TAG] = { send_fstat_tag, take_fstat_tag },
	[TEMPFILE_STATVFS] = { send_statvfs, take_statvfs },
	[TEMPFILE_COPY_BACK] = { send_copy_back },

	[TEMPFILE_LSTAT_TEMP] = { file_send, take_name, "remote lstat",
	    NAMES_PATH },
	[TEMPFILE_SETSIZE] = { file_send_size, NULL, "remote fsetstat" },
	[TEMPFILE_RENAME] = { send_rename, NULL, NULL, 0, fail_rename },
	[TEMPFILE_LSTAT_RENAMED] = { file_send, take_name, "remote lstat",
	    NAMES_PATH },
	[TEMPFILE_FSETSTAT] = { send_fsetstat, NULL, "remote fsetstat" },
	[TEMPFILE_CLOSE_STAGING] = { file_send },
	[TEMPFILE_REMOVE_STAGING] = { file_send, NULL, "remote delete",
	    NAMES_PATH },
	[TEMPFILE_CLOSE] = { file_send, NULL, "close remote" },
	[TEMPFILE_REMOVE] = { file_send, NULL, "remote delete",
	    NAMES_PATH | IS_LAST },
};

char *
tempfile_describe_leftover(const struct file *file, const struct sched_entry *j)
{
	char *text = NULL;

	switch (tempfile_info(sched_info(j).tempfile).leftover) {
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
		if (file->leftover != NULL)
			text = xstrdup(file->leftover);
	}
	return text;
}

void
tempfile_keep_leftovers(struct transfer *t)
{
	struct sched_entry *j;
	struct file *file;
	char *text;

	for (j = sched_next_in_order(t->sched, NULL); j != NULL; j =
	    sched_next_in_order(t->sched, j)) {
		file = sched_info(j).user;
		if ((text = tempfile_describe_leftover(file, j)) == NULL)
			continue;
		free(file->leftover);
		file->leftover = text;
	}
}

void
tempfile_report_leftover(const struct file *file, const struct sched_entry *j)
{
	char *text = tempfile_describe_leftover(file, j);

	if (text != NULL)
		error("%s", text);
	free(text);
}

/* What a proof keeps there for a moment */
#define PROOF_TEXT	"temporary file \"%s\" may remain on the server"

void
tempfile_report_proof(const struct transfer *t)
{
	if (conns_fs_temp_file(&t->conns) != NULL)
		error(PROOF_TEXT, conns_fs_temp_file(&t->conns));
}

/* Adds a line to the text, and frees both. */
static char *
append_line(char *text, char *line)
{
	char *all;

	xasprintf(&all, "%s%s\r\n", text != NULL ? text : "", line);
	free(text);
	free(line);
	return all;
}

char *
tempfile_describe_all(const struct transfer *t)
{
	const char *proof = conns_fs_temp_file(&t->conns);
	char *all = NULL, *line;
	struct sched_entry *j;

	if (proof != NULL) {
		xasprintf(&line, PROOF_TEXT, proof);
		all = append_line(all, line);
	}
	for (j = sched_next_in_order(t->sched, NULL); j != NULL; j =
	    sched_next_in_order(t->sched, j)) {
		line = tempfile_describe_leftover(sched_info(j).user, j);
		if (line != NULL)
			all = append_line(all, line);
	}
	/* A server has named the files. */
	if (all != NULL) {
		if (stravis(&line, all, VIS_SAFE | VIS_OCTAL) == -1)
			fatal_f("out of memory");
		free(all);
		all = line;
	}
	return all;
}
