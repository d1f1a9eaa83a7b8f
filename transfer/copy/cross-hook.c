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

#include "cross-hook.h"
#include "file-hook.h"
#include "get-hook.h"
#include "op-table.h"

extern volatile sig_atomic_t interrupted;

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
attrs_of_file(const struct transfer *t, const struct file *file)
{
	Attrib a = file->a;

	a.flags &= PASSED_ON;
	if (!t->preserve)
		a.flags &= ~SSH2_FILEXFER_ATTR_ACMODTIME;
	a.perm &= 0777;
	return a;
}

static void
send_open_dest(struct transfer *t, struct file *file,
    const struct sched_action *a)
{
	Attrib attrs = attrs_of_file(t, file);

	if (a->op == OP_OPEN_DEST_TRUNC)
		debug("truncating \"%s\" at 0", file->dst);
	file_send_open(t, a, file->dst, SSH2_FXF_WRITE | SSH2_FXF_CREAT |
	    (a->op == OP_OPEN_DEST && (file->truncate_late ||
	    file->possible_source) ? 0 : SSH2_FXF_TRUNC), &attrs);
}

static void
cross_send(struct transfer *t, struct file *file, const struct sched_action *a)
{
	Attrib attrs;

	switch (a->op) {
	case OP_MKDIR:
		/* writable for the time of the transfer */
		attrs = attrs_of_dir(file, S_IWUSR | S_IXUSR);
		file_send_path(t, a, SSH2_FXP_MKDIR, file->dst, &attrs);
		break;
	case OP_STAT_DEST:
		file_send_path(t, a, SSH2_FXP_STAT, file->dst, NULL);
		break;
	case OP_SETSTAT:
		attrs = attrs_of_dir(file, 0);
		file_send_path(t, a, SSH2_FXP_SETSTAT, file->dst, &attrs);
		break;
	case OP_OPEN_DEST_TRUNC:
	case OP_OPEN_DEST:
		send_open_dest(t, file, a);
		break;
	case OP_SETSIZE_0:
		file_send_size(t, a, &file->dest_handle);
		break;
	case OP_FSTAT_TYPE:
		file_send_handle(t, a, &file->dest_handle, SSH2_FXP_FSTAT,
		    NULL);
		break;
	case OP_FSETSTAT:
		attrs = attrs_of_file(t, file);
		file_send_handle(t, a, &file->dest_handle, SSH2_FXP_FSETSTAT,
		    &attrs);
		break;
	case OP_CLOSE_DEST:
		file_send_handle(t, a, &file->dest_handle, SSH2_FXP_CLOSE,
		    NULL);
		break;
	default:
		get_ops.send(t, file, a);
	}
}

/* Replies */

/* The bytes that came with a READ go on to the target. */
static void
relay_data(struct transfer *t, struct file *file, const struct sched_action *a,
    struct reply *reply, struct sched_reply *told)
{
	struct sftp_stream *from = t->stream;
	struct sched_action next;
	const u_char *p;
	size_t n;
	int r;

	file_parse_data(t, a, reply, &p, &n);
	told->len = n;
	if (n == 0)
		return;
	t->stream = t->dest_stream;
	while ((r = sched_relay(t->sched, a->entry, a->off, told->len,
	    &next)) == 1 && next.op == OP_SETSIZE_0)
		cross_send(t, file, &next);
	if (r == -1)
		fatal_f("out of memory");
	if (r == 1)
		request_write(stream_sink(t->stream), next.id,
		    &file->dest_handle, next.off, p, n);
	t->stream = from;
}

static enum sched_result
cross_reply(struct transfer *t, struct file *file, const struct sched_action *a,
    struct reply *reply, struct sched_reply *told)
{
	Attrib found;

	switch (a->op) {
	case OP_OPEN:
		file_parse_handle(t, file, reply, file_handle_for(file,
		    a->conn));
		if (interrupted)
			sched_fail(a->entry);	/* as if it had not begun */
		return RESULT_OK;
	case OP_READ:
		relay_data(t, file, a, reply, told);
		return RESULT_OK;
	case OP_OPEN_DEST:
	case OP_OPEN_DEST_TRUNC:
		file_parse_handle(t, file, reply, &file->dest_handle);
		return RESULT_OK;
	case OP_STAT_DEST:
		if (sched_info(a->entry).kind == KIND_FILE) {
			file_parse_attrs(t, reply, &found);
			file_note_possible_source(file, told, &found);
			return RESULT_OK;
		}
		return file_check_is_dir(t, file, reply);
	case OP_FSTAT_TYPE:
		return file_reply_not_regular(t, reply, &found);
	case OP_MKDIR:
		file->is_new = 1;
		return RESULT_OK;
	default:
		return op_info(a->op)->to_dest ? RESULT_OK :
		    get_ops.reply(t, file, a, reply, told);
	}
}

static void
cross_fail(struct transfer *t, struct file *file, const struct sched_action *a,
    u_int status)
{
	const char *why = fx2txt(status);

	if (!op_info(a->op)->to_dest) {
		get_ops.fail(t, file, a, status);
		return;
	}
	if (a->op == OP_STAT_DEST && sched_info(a->entry).kind == KIND_FILE)
		return;
	if (a->op == OP_STAT_DEST)
		file_error(file, "stat remote: %s", why);
	else if (a->op == OP_OPEN_DEST || a->op == OP_OPEN_DEST_TRUNC)
		file_error(file, "dest open \"%s\": %s", file->dst, why);
	else if (a->op == OP_FSETSTAT)
		file_error(file, "remote fsetstat: %s", why);
	else if (a->op == OP_CLOSE_DEST)
		file_error(file, "close remote: %s", why);
	else if (a->op == OP_SETSTAT)
		file_message(file, 1, SYSLOG_LEVEL_ERROR,
		    "remote setstat \"%s\": %s", file->dst, why);
	else if (a->op == OP_WRITE && file->dest_status == SSH2_FX_OK)
		file->dest_status = status;
	if (a->op == OP_OPEN_DEST_TRUNC)
		file_error(file, "dest truncate \"%s\" failed", file->dst);
	/* Upstream ignores what happens after the last WRITE, also a CLOSE. */
	if (a->op == OP_STAT_DEST || a->op == OP_OPEN_DEST ||
	    a->op == OP_WRITE || a->op == OP_CLOSE_DEST)
		file->failed = 1;
}

/* Local work */

static void
cross_begin(struct transfer *t, struct file *file, struct sched_entry *j)
{
	struct sched_begin begin = { .truncate_late = 1, .stat = STAT_FIRST };

	if (sched_info(j).kind == KIND_FILE)
		debug2_f("crossload \"%s\" to \"%s\"", file->src, file->dst);
	if (sched_info(j).kind == KIND_FILE && !file->is_new) {
		sched_begin(t->sched, j, &begin);
		file->truncate_late = begin.truncates_late;
		file->possible_source = 0;
	}
	if (file_is_dir(j) && get_enter(t, file) != 0) {
		file->failed = 1;
		sched_fail(j);
	}
}

static void
cross_data_done(struct transfer *t, struct file *file,
    const struct sched_action *a)
{
	(void)t;
	if (file->possible_source && sched_info(a->entry).is_whole && a->off <
	    file->a.size)
		file_report_same_file(file);
}

static void
cross_end(struct transfer *t, struct file *file, struct sched_entry *j)
{
	if (sched_info(j).kind == KIND_DIR)
		get_ops.end(t, file, j);
	if (sched_info(j).kind != KIND_FILE)
		return;
	if (file->status != SSH2_FX_OK)
		file_error(file, "read origin \"%s\": %s", file->src,
		    fx2txt(file->status));
	else if (file->dest_status != SSH2_FX_OK)
		file_error(file, "write dest \"%s\": %s", file->dst,
		    fx2txt(file->dest_status));
	if (!sched_info(j).is_whole)
		file->failed = 1;
	file_close(t, file);
	if (file->failed && file->depth > 0)
		file_error(file, "crossload \"%s\" to \"%s\" failed", file->src,
		    file->dst);
}

const struct direction_ops cross_ops = { 0, "origin", "origin", cross_send,
    cross_reply, cross_fail, cross_begin, cross_data_done, cross_end, get_add };
