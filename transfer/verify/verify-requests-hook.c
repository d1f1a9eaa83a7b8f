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

/* Requests */

static void
send_hash(struct request *r)
{
	request_hashes(r->sink, r->a.id, file_path_of(r), r->a.off, r->a.len,
	    VERIFY_BLOCK);
	verify_run_hash_slice(r->t, r->file, r->a.entry);
}

static void
send_setstat_open(struct request *r)
{
	file_send_open(r, r->file->dst, r->file->verification->flags, NULL);
}

/*
 * About a temporary file, or for the user's number there, his directory. The
 * next one need not wait for the reply.
 */
static void
send_stale(struct request *r)
{
	if (r->a.off == STALE_TEMP_NAMES)
		request_path(r->sink, r->a.id, SSH2_FXP_STAT, ".", NULL);
	else
		file_send_stale(r, (unsigned int)r->a.off);
	verify_sched_next(r->t->sched, r->a.entry,
	    &(struct verify_step){ .next = VERIFY_NEXT_LATER });
}

static void
send_stale_rename(struct request *r)
{
	request_rename(r->sink, r->a.id, file_path_of(r), r->file->dst);
}

/* Replies */

static void
take_hashes(struct request *r)
{
	struct verification *c = r->file->verification;

	c->has_their_hashes = 1;
	c->ntheir_hashes = -1;
	if (r->type == SSH2_FXP_EXTENDED_REPLY) {
		c->ntheir_hashes = reply_get_hashes(r->m, c->their_hashes,
		    (r->a.len + VERIFY_BLOCK - 1) / VERIFY_BLOCK);
		return;
	}
	verbose("server cannot hash this range: %s", fx2txt(r->status));
	if (r->status == SSH2_FX_OP_UNSUPPORTED)
		server_lacks_hashes(r->t->server);
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

/* Takes what was read back, in any order. Returns 1 if it differs. */
static int
compare_readback(struct request *r, const u_char *theirs, size_t len)
{
	struct verification *c = r->file->verification;
	uint64_t off = r->a.off;
	size_t n;

	for (; len > 0; off += n, theirs += n, len -= n) {
		n = MINIMUM(len, PIECE);
		if (equals_local(c->fd, off, theirs, n))
			continue;
		c->first_difference = MINIMUM(c->first_difference, off);
		break;
	}
	verify_run_show_progress(r->t, r->file, off);
	return len > 0;
}

static void
take_readback_open(struct request *r)
{
	if (r->status == SSH2_FX_OK)
		file_take_handle(r);
	else
		verbose("cannot open \"%s\" for verification: %s",
		    file_path_of(r), fx2txt(r->status));
}

static void
take_readback(struct request *r)
{
	const u_char *p;
	size_t n;

	r->file->verification->has_ended |= r->status == SSH2_FX_EOF;
	if (r->status != SSH2_FX_OK)
		return;
	file_parse_data(r, r->a.len, &p, &n);
	r->said.readback_differs = compare_readback(r, p, n);
	r->said.len = n;
}

/* Ends */

/* Returns NULL for an error. */
static const Attrib *
parse_attrs(struct request *r, Attrib *room)
{
	r->file->verification->status = r->status;
	if (r->type == SSH2_FXP_STATUS)
		return NULL;
	file_parse_attrs(r, room);
	return room;
}

/* The server's end: the target of an upload, or the source. */
static void
take_stat(struct request *r)
{
	struct file *file = r->file;
	struct verification *c = file->verification;
	struct verify_answer answer = { 0 };
	int is_put = r->t->ops->is_put;
	Attrib room;
	const Attrib *found = parse_attrs(r, &room);

	if (found != NULL)
		answer.end = verify_run_end_of_attrib(found);
	verify_answer(verify_run_current(c), &answer);
	if (is_put && found != NULL && !stale_temp_compares(&c->stale))
		c->target = *found;
	if (is_put || found == NULL || c->copy_done)
		return;
	file->a = *found;
	file->size = answer.end.size;
	sched_set_size(r->t->sched, r->a.entry, file->size);
}

/* The source as the copy finds it */
static void
take_fstat(struct request *r)
{
	struct verify_end end;
	Attrib room;
	const Attrib *found = parse_attrs(r, &room);

	if (found == NULL)
		return;
	end = verify_run_end_of_attrib(found);
	verify_source_opened(&r->file->verification->verify, &end);
	if (r->file->start_off == 0)
		r->file->a = *found;
}

static void
take_stale(struct request *r)
{
	struct stale_temp_file stale = { .is = STALE_TEMP_ABSENT };
	Attrib room;
	const Attrib *found = parse_attrs(r, &room);

	if (found != NULL && (r->a.off != STALE_TEMP_NAMES || (found->flags &
	    SSH2_FILEXFER_ATTR_UIDGID) != 0))
		stale = temp_name_stale_file(found);
	stale_temp_found(&r->file->verification->stale, (unsigned int)r->a.off,
	    &stale);
}

static void
take_setsize(struct request *r)
{
	const struct verify_answer answer = { .failed = r->status !=
	    SSH2_FX_OK };

	verify_answer(verify_run_current(r->file->verification), &answer);
}

static void
take_stale_rename(struct request *r)
{
	struct verification *c = r->file->verification;

	stale_temp_compared(&c->stale, r->status == SSH2_FX_OK);
	if (r->status == SSH2_FX_OK)
		verify_adopt(&c->verify, &c->temp_verify);
}

/* The attributes were set, or are with other flags of OPEN, if it has those. */
static void
end_setstat(struct verification *c, int ok, enum sched_op next)
{
	c->flags = ok || c->flags == SSH2_FXF_WRITE ? 0 : SSH2_FXF_WRITE;
	c->setstat_op = next;
}

static void
take_setstat_open(struct request *r)
{
	struct verification *c = r->file->verification;

	c->status = r->status;
	if (c->status == SSH2_FX_OK) {
		file_take_handle(r);
		c->setstat_conn = r->a.conn;
		c->setstat_op = OP_SETSTAT_FSTAT;
	} else
		end_setstat(c, 0, OP_SETSTAT_OPEN);
}

static void
take_setstat_fstat(struct request *r)
{
	struct file *file = r->file;
	struct verification *c = file->verification;
	int ok = r->status == SSH2_FX_OK;
	Attrib found;

	c->status = r->status;
	if (ok) {
		file_parse_attrs(r, &found);
		if (verify_run_attrs_match(file, &found)) {
			c->setstat_op = OP_VERIFY_SETSTAT;
			return;
		}
		file_error(file, "\"%s\" has changed since it was "
		    "compared", file->dst);
		file->failed = 1;
	}
	end_setstat(c, ok, OP_SETSTAT_CLOSE);
}

static void
take_setstat(struct request *r)
{
	r->file->verification->status = r->status;
	end_setstat(r->file->verification, r->status == SSH2_FX_OK,
	    OP_SETSTAT_CLOSE);
}

static void
take_setstat_close(struct request *r)
{
	r->file->verification->setstat_op = OP_SETSTAT_OPEN;
}

const struct op_handler verify_requests_handlers[] = {
	[OP_VERIFY_STAT] = { file_send, take_stat },
	[OP_VERIFY_FSTAT] = { file_send, take_fstat },
	[OP_VERIFY_HASH] = { send_hash, take_hashes },
	[OP_VERIFY_SETSIZE] = { file_send_size, take_setsize },

	[OP_SETSTAT_OPEN] = { send_setstat_open, take_setstat_open },
	[OP_SETSTAT_FSTAT] = { file_send, take_setstat_fstat },
	[OP_VERIFY_SETSTAT] = { file_send_own_attrs, take_setstat },
	[OP_SETSTAT_CLOSE] = { file_send, take_setstat_close },

	[OP_STALE_LSTAT] = { send_stale, take_stale },
	[OP_STALE_RENAME] = { send_stale_rename, take_stale_rename },
	[OP_STALE_REMOVE] = { send_stale },

	[OP_READBACK_OPEN] = { file_send_open_read, take_readback_open },
	[OP_READBACK_READ] = { file_send_read, take_readback },
	[OP_READBACK_CLOSE] = { file_send },
};
