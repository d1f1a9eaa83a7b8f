/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * See directions-hook.h. These are crossload_dir_internal() and
 * sftp_crossload() of upstream, in steps.
 */

#include "includes.h"

#include <sys/types.h>
#include <sys/stat.h>

#include <signal.h>
#include <string.h>

#include "log.h"

#include "directions-hook.h"
#include "file-hook.h"

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
attrs_for(const struct request *r)
{
	Attrib a = r->file->a;

	a.flags &= PASSED_ON;
	if (sched_info(r->a.entry).kind == KIND_FILE) {
		if (!r->t->preserve)
			a.flags &= ~SSH2_FILEXFER_ATTR_ACMODTIME;
		a.perm &= 0777;
		return a;
	}
	if ((a.flags & SSH2_FILEXFER_ATTR_PERMISSIONS) == 0)
		a.perm = S_IWUSR | S_IXUSR;
	a.flags |= SSH2_FILEXFER_ATTR_PERMISSIONS;
	a.perm &= 01777;
	/* A new one is writable for the time of the transfer. */
	if (r->a.op == OP_MKDIR)
		a.perm |= S_IWUSR | S_IXUSR;
	return a;
}

static void
send_attrs(struct request *r)
{
	Attrib attrs = attrs_for(r);

	file_send_attrs(r, &attrs);
}

static void
send_open_dest(struct request *r)
{
	struct file *file = r->file;
	Attrib attrs = attrs_for(r);

	if (r->a.op == OP_OPEN_DEST_TRUNC)
		debug("truncating \"%s\" at 0", file->dst);
	file_send_open(r, file->dst, SSH2_FXF_WRITE | SSH2_FXF_CREAT |
	    (r->a.op == OP_OPEN_DEST && (file->truncate_late ||
	    file->possible_source) ? 0 : SSH2_FXF_TRUNC), &attrs);
}

/* Replies */

/* The bytes that came with a READ go on to the target. */
static void
relay_data(struct request *r, const u_char *p)
{
	struct transfer *t = r->t;
	struct request next = { .t = t, .file = r->file,
	    .sink = stream_sink(t->dest_stream) };
	int sends;

	if (r->said.len == 0)
		return;
	while ((sends = sched_relay(t->sched, r->a.entry, r->a.off,
	    r->said.len, &next.a)) == 1 && next.a.op == OP_SETSIZE_0)
		file_send_size(&next);
	if (sends == -1)
		fatal_f("out of memory");
	if (sends == 1)
		request_write(next.sink, next.a.id, file_handle_of(&next),
		    next.a.off, p, r->said.len);
}

static void
take_stat(struct request *r)
{
	Attrib found;

	if (sched_info(r->a.entry).kind != KIND_FILE) {
		file_take_dir(r);
		return;
	}
	file_parse_attrs(r, &found);
	file_note_possible_source(r, &found);
}

/* Errors */

static void
fail_truncate(struct request *r)
{
	file_error(r->file, "dest truncate \"%s\" failed", r->file->dst);
}

/* Upstream ignores what happens after the last WRITE, but not a CLOSE. */
static const struct op_handler cross_handlers[] = {
	[OP_MKDIR] = { send_attrs, file_take_new_dir },
	[OP_STAT_DEST] = { file_send, take_stat, NULL, 0,
	    file_fail_stat },
	[OP_SETSTAT] = { send_attrs, NULL, "remote setstat",
	    NAMES_PATH | IS_LAST },

	[OP_OPEN_DEST] = { send_open_dest, file_take_handle, "dest open",
	    NAMES_PATH | FAILS },
	[OP_SETSIZE_0] = { file_send_size },
	[OP_FSTAT_TYPE] = { file_send, file_take_type },
	[OP_WRITE] = { NULL /* relay_data() */, NULL, NULL, IS_DATA | FAILS },
	[OP_FSETSTAT] = { send_attrs, NULL, "remote fsetstat" },
	[OP_CLOSE_DEST] = { file_send, NULL, "close remote", FAILS },
	[OP_OPEN_DEST_TRUNC] = { send_open_dest, file_take_handle, "dest open",
	    NAMES_PATH, fail_truncate },
};

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

const struct direction_ops cross_ops = { 0, "origin", "origin", cross_handlers,
    cross_begin, cross_data_done, cross_end, get_add, relay_data,
    NULL };
