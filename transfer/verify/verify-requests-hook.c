/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See verify-requests-hook.h. */

#include "includes.h"

#include <sys/types.h>
#include <sys/stat.h>

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "log.h"
#include "misc.h"

#include "file-hook.h"
#include "op-table.h"
#include "server-hook.h"
#include "temp-name-hook.h"
#include "verify-requests-hook.h"
#include "verify-run-hook.h"
#include "verify-sched.h"

#define PIECE		(32 * 1024)

/*
 * The file that requests are about: the server's, or a temporary one beside it
 */
static const char *
verified_path(const struct transfer *t, const struct file *file)
{
	if (file->verification->compares_temp)
		return file->verification->temp_name;
	return t->ops->is_put ? file->dst : file->src;
}

/* Requests */

/*
 * About a temporary file, or for the user's number there, his directory. The
 * next one need not wait for the reply.
 */
static void
send_stale_request(struct transfer *t, struct file *file,
    const struct sched_action *a)
{
	if (a->off == STALE_TEMP_NAMES) {
		file_send_path(t, a, SSH2_FXP_STAT, ".", NULL);
		verify_sched_defer(t->sched, a->entry);
		return;
	}
	temp_name_set_number(file->verification->temp_name,
	    (unsigned int)a->off);
	if (a->op != OP_STALE_RENAME) {
		file_send_path(t, a, a->op == OP_STALE_LSTAT ? SSH2_FXP_LSTAT :
		    SSH2_FXP_REMOVE, file->verification->temp_name, NULL);
		verify_sched_defer(t->sched, a->entry);
		return;
	}
	request_rename(stream_sink(t->stream), a->id,
	    file->verification->temp_name, file->dst);
}

void
verify_requests_send(struct transfer *t, struct file *file,
    const struct sched_action *a)
{
	switch (a->op) {
	case OP_VERIFY_STAT:
		file_send_path(t, a, SSH2_FXP_STAT, verified_path(t, file),
		    NULL);
		break;
	case OP_VERIFY_FSTAT:
	case OP_SETSTAT_FSTAT:
		file_send_handle(t, a, file_handle_for(file, a->conn),
		    SSH2_FXP_FSTAT, NULL);
		break;
	case OP_VERIFY_HASH:
		request_hashes(stream_sink(t->stream), a->id,
		    verified_path(t, file), a->off, a->len, VERIFY_BLOCK);
		verify_run_hash_slice(t, file, a->entry);
		break;
	case OP_VERIFY_SETSIZE:
		request_setsize(stream_sink(t->stream), a->id,
		    verified_path(t, file), a->off);
		break;
	case OP_STALE_LSTAT:
	case OP_STALE_RENAME:
	case OP_STALE_REMOVE:
		send_stale_request(t, file, a);
		break;
	case OP_SETSTAT_OPEN:
		file_send_open(t, a, file->dst, file->verification->flags,
		    NULL);
		break;
	case OP_VERIFY_SETSTAT:
		file_send_handle(t, a, file_handle_for(file, a->conn),
		    SSH2_FXP_FSETSTAT, &file->a);
		break;
	case OP_READBACK_OPEN:
		file_send_open(t, a, verified_path(t, file), SSH2_FXF_READ,
		    NULL);
		break;
	case OP_READBACK_READ:
		file_send_read(t, file, a);
		break;
	default:
		file_send_handle(t, a, file_handle_for(file, a->conn),
		    SSH2_FXP_CLOSE, NULL);
	}
}

/* Replies */

static void
take_hashes(struct transfer *t, struct verification *c,
    const struct sched_action *a, struct reply *reply)
{
	c->has_their_hashes = 1;
	c->ntheir_hashes = -1;
	if (reply->type == SSH2_FXP_EXTENDED_REPLY) {
		c->ntheir_hashes = reply_get_hashes(reply->m, c->their_hashes,
		    (a->len + VERIFY_BLOCK - 1) / VERIFY_BLOCK);
		return;
	}
	verbose("server cannot hash this range: %s", fx2txt(reply->status));
	if (reply->status == SSH2_FX_OP_UNSUPPORTED)
		server_lacks_hashes(t->server);
}

static int
equals_local(int fd, uint64_t off, const u_char *theirs, size_t len)
{
	unsigned char ours[PIECE] = { 0 };
	size_t done = 0;
	ssize_t n;

	while (done < len) {
		n = pread(fd, ours + done, len - done, (off_t)(off + done));
		if (n == -1 && errno == EINTR)
			continue;
		if (n <= 0)
			return 0;
		done += n;
	}
	return memcmp(ours, theirs, len) == 0;
}

/* Takes what was read back, in any order. */
static void
compare_readback(struct transfer *t, struct file *file,
    const struct sched_action *a, const u_char *theirs, size_t len)
{
	struct verification *c = file->verification;
	uint64_t off = a->off;
	size_t n;

	for (; len > 0; off += n, theirs += n, len -= n) {
		n = MINIMUM(len, PIECE);
		if (equals_local(c->fd, off, theirs, n))
			continue;
		c->first_difference = MINIMUM(c->first_difference, off);
		verify_sched_stop_readback(a->entry);
		break;
	}
	verify_run_show_progress(t, file, off);
}

/* Ends */

/* The server's end. "a": NULL: it is not there. */
static void
take_stat(struct transfer *t, struct file *file, struct sched_entry *j,
    const Attrib *a)
{
	struct verification *c = file->verification;
	struct verify_end end = { 0 };

	if (a != NULL)
		end = verify_run_end_of_attrib(a);
	verify_fsm_stat(verify_run_fsm(c), !t->ops->is_put, &end);
	if (t->ops->is_put && a != NULL && !c->compares_temp)
		c->target = *a;
	if (t->ops->is_put || a == NULL || c->copy_done)
		return;
	file->a = *a;
	file->size = end.size;
	sched_set_size(t->sched, j, file->size);
}

/* The source as the copy finds it. */
static void
note_opened_source(struct file *file, const Attrib *a)
{
	struct verify_end end = verify_run_end_of_attrib(a);

	verify_fsm_source_opened(&file->verification->fsm, &end);
	if (file->start_off == 0)
		file->a = *a;
}

/* Returns NULL for an error. */
static const Attrib *
parse_attrs(struct transfer *t, struct reply *reply, Attrib *room)
{
	if (reply->type == SSH2_FXP_STATUS)
		return NULL;
	file_parse_attrs(t, reply, room);
	return room;
}

static void
take_stat_reply(struct transfer *t, struct file *file,
    const struct sched_action *a, struct reply *reply)
{
	struct verification *c = file->verification;
	struct stale_temp_file left = { .is = STALE_TEMP_ABSENT };
	Attrib room;
	const Attrib *found = parse_attrs(t, reply, &room);

	c->status = reply->status;
	if (a->op == OP_VERIFY_STAT)
		take_stat(t, file, a->entry, found);
	else if (a->op == OP_STALE_LSTAT) {
		if (found != NULL)
			left = temp_name_stale_file(found);
		if (a->off == STALE_TEMP_NAMES && (found == NULL ||
		    (found->flags & SSH2_FILEXFER_ATTR_UIDGID) == 0))
			left.is = STALE_TEMP_ABSENT;
		stale_temp_found(&c->stale, (unsigned int)a->off, &left);
	} else if (found != NULL)
		note_opened_source(file, found);
}

/* What changes something. Returns 1 if that was done. */
static void
take_status(struct file *file, const struct sched_action *a,
    const struct reply *reply)
{
	struct verification *c = file->verification;
	int ok = reply->status == SSH2_FX_OK;

	if (a->op == OP_VERIFY_SETSIZE)
		verify_fsm_truncated(verify_run_fsm(c), ok);
	else if (a->op == OP_STALE_RENAME) {
		c->compares_temp = 0;
		if (ok) {
			stale_temp_adopted(&c->stale, c->temp_number);
			verify_fsm_adopt(&c->fsm, &c->temp_fsm);
		}
	}
}

/* Returns the operation that follows this reply; see setstat_op. */
static enum sched_op
take_setstat_reply(struct transfer *t, struct file *file,
    const struct sched_action *a, struct reply *reply)
{
	struct verification *c = file->verification;
	int ok = reply->status == SSH2_FX_OK;
	Attrib found;

	if (a->op == OP_SETSTAT_CLOSE)
		return OP_SETSTAT_OPEN;
	c->status = reply->status;
	if (a->op == OP_SETSTAT_OPEN && ok) {
		file_parse_handle(t, file, reply, file_handle_for(file,
		    a->conn));
		return OP_SETSTAT_FSTAT;
	}
	if (a->op == OP_SETSTAT_FSTAT && ok) {
		file_parse_attrs(t, reply, &found);
		if (verify_run_attrs_match(file, &found))
			return OP_VERIFY_SETSTAT;
		file_error(file, "\"%s\" has changed since it was "
		    "compared", file->dst);
		file->failed = 1;
	}
	c->flags = ok || c->flags == SSH2_FXF_WRITE ? 0 : SSH2_FXF_WRITE;
	return a->op == OP_SETSTAT_OPEN ? OP_SETSTAT_OPEN : OP_SETSTAT_CLOSE;
}

/* It belongs to the OP_VERIFY_SETSTAT of a file. */
static int
is_for_setstat(enum sched_op op)
{
	return op >= OP_SETSTAT_OPEN && op <= OP_SETSTAT_CLOSE;
}

enum sched_result
verify_requests_reply(struct transfer *t, struct file *file,
    const struct sched_action *a, struct reply *reply,
    struct sched_reply *told)
{
	int ok = reply->status == SSH2_FX_OK;
	const u_char *p;
	size_t n = 0;

	if (is_for_setstat(a->op))
		file->verification->setstat_op = take_setstat_reply(t, file, a,
		    reply);
	else if (op_info(a->op)->reply == SSH2_FXP_ATTRS)
		take_stat_reply(t, file, a, reply);
	else if (op_info(a->op)->reply == SSH2_FXP_STATUS)
		take_status(file, a, reply);
	else if (a->op == OP_VERIFY_HASH)
		take_hashes(t, file->verification, a, reply);
	else if (a->op == OP_READBACK_READ && reply->status == SSH2_FX_EOF)
		file->verification->has_ended = 1;
	else if (a->op == OP_READBACK_READ && ok) {
		file_parse_data(t, a, reply, &p, &n);
		compare_readback(t, file, a, p, n);
	} else if (a->op == OP_READBACK_OPEN && ok)
		file_parse_handle(t, file, reply, file_handle_for(file,
		    a->conn));
	else if (a->op == OP_READBACK_OPEN)
		verbose("cannot open \"%s\" for verification: %s",
		    verified_path(t, file), fx2txt(reply->status));
	told->len = n;
	return ok ? RESULT_OK : RESULT_FAILED;
}
