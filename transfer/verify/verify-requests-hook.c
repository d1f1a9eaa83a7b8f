/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See verify-requests-hook.h. */

#include "includes.h"

#include <sys/types.h>
#include <sys/stat.h>

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "log.h"
#include "misc.h"
#include "progressmeter.h"
#include "xmalloc.h"

#include "blocksum-hook.h"
#include "clock.h"
#include "progress-hook.h"
#include "server-hook.h"
#include "temp-name-hook.h"
#include "verify-requests-hook.h"
#include "verify-sched.h"

/* Bytes of data that was read back, compared at once */
#define PIECE		(32 * 1024)

/* So much is hashed here before connections are served again, in bytes. */
#define SLICE		(4 * 1024 * 1024)

/* A comparison that takes longer than this is shown. */
#define SILENT_US	1000000

static const struct verify_step later = { .next = VERIFY_NEXT_LATER };

extern volatile sig_atomic_t interrupted;
extern int showprogress;

/* What both the requests and the steps need */

struct verify *
verify_current(struct verification *c)
{
	return stale_temp_compares(&c->stale) ? &c->temp_verify : &c->verify;
}

/* A server may tell neither the size nor the type. */
struct verify_end
verify_end_of_attrib(const Attrib *a)
{
	struct verify_end e = { .size = a->size, .mtime = a->mtime };

	e.is_there = (a->flags & SSH2_FILEXFER_ATTR_SIZE) != 0 &&
	    ((a->flags & SSH2_FILEXFER_ATTR_PERMISSIONS) == 0 ||
	    S_ISREG(a->perm));
	e.is_not_regular = (a->flags & SSH2_FILEXFER_ATTR_PERMISSIONS) != 0 &&
	    !S_ISREG(a->perm);
	e.has_time = (a->flags & SSH2_FILEXFER_ATTR_ACMODTIME) != 0;
	return e;
}

/* It has the size that was seen, and nobody has written to it since. */
int
verify_attrs_match(const struct file *file, const Attrib *found)
{
	const Attrib *was = &file->verification->target;
	u_int both = was->flags & found->flags;

	return (both & SSH2_FILEXFER_ATTR_SIZE) != 0 &&
	    found->size == was->size &&
	    ((found->flags & SSH2_FILEXFER_ATTR_PERMISSIONS) == 0 ||
	    S_ISREG(found->perm)) &&
	    ((both & SSH2_FILEXFER_ATTR_ACMODTIME) == 0 ||
	    found->mtime == was->mtime) &&
	    ((both & SSH2_FILEXFER_ATTR_UIDGID) == 0 ||
	    found->uid == was->uid);
}

/* It goes on behind "off". Draws the meter of a single file that takes long. */
void
verify_show_progress(struct transfer *t, struct file *file, uint64_t off)
{
	struct verification *c = file->verification;
	const struct verify *x = verify_current(c);
	const char *slash = strrchr(file->src, '/');
	uint64_t total = MINIMUM(x->source.size, x->target.size);

	c->progress_off = (off_t)off;
	if (c->progress_name != NULL)
		refresh_progress_meter(0);
	else if (t->single_file && showprogress && (total > VERIFY_RANGE ||
	    clock_us() - c->begun_us > SILENT_US)) {
		progress_finish(t);
		xasprintf(&c->progress_name, "%s: comparing",
		    slash != NULL ? slash + 1 : file->src);
		start_progress_meter(c->progress_name, (off_t)total,
		    &c->progress_off);
	}
}

/* Hashes some of ours. Both sides hash at the same time. */
void
verify_hash_slice(struct transfer *t, struct file *file,
    struct sched_entry *j)
{
	struct verification *c = file->verification;
	int64_t n = blocksum_add(c->our_hashes, c->fd, SLICE);

	if (n == -1)
		n = 0;		/* no hash, which is equal to none of theirs */
	t->hashed += n;
	c->comparison.off += n;
	if (n > 0)
		verify_show_progress(t, file, c->comparison.off);
	if (n == SLICE && !interrupted)
		verify_sched_next(t->sched, j, &later);
	else
		c->comparison.len = 0;
}

/* Requests */

/* The path of the server's file that is compared now */
static const char *
server_path(const struct request *r)
{
	const struct verification *c = r->file->verification;

	return stale_temp_compares(&c->stale) ? c->temp_name :
	    file_path_of(r);
}

static void
send_hash(struct request *r)
{
	request_hashes(r->sink, r->a.id, server_path(r), r->a.off, r->a.len,
	    VERIFY_BLOCK);
	verify_hash_slice(r->t, r->file, r->a.entry);
}

static void
send_stat(struct request *r)
{
	request_path(r->sink, r->a.id, SSH2_FXP_STAT, server_path(r), NULL);
}

static void
send_setsize(struct request *r)
{
	debug("truncating at %llu", (unsigned long long)r->a.off);
	request_setsize(r->sink, r->a.id, server_path(r), r->a.off);
}

/* To be read back, or to have its attributes set */
static void
send_open(struct request *r)
{
	u_int flags = r->file->verification->flags;

	file_send_open(r, server_path(r), flags != 0 ? flags : SSH2_FXF_READ,
	    NULL);
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
	verify_sched_next(r->t->sched, r->a.entry, &later);
}

static void
send_stale_rename(struct request *r)
{
	request_rename(r->sink, r->a.id, server_path(r), r->file->dst);
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
		server_info(r->t->server)->caps &= ~SFTP_CAP_HASHES;
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
	verify_show_progress(r->t, r->file, off);
	return len > 0;
}

static void
take_readback_open(struct request *r)
{
	const struct verify_action *a = &r->file->verification->comparison;
	const struct verify_step step = { .next = VERIFY_NEXT_READ,
	    .read = verify_request_info(VERIFY_ASK_READ),
	    .request = verify_request_info(VERIFY_ASK_CLOSE), .off = a->off,
	    .len = a->len };

	if (r->status != SSH2_FX_OK) {
		verbose("cannot open \"%s\" for verification: %s",
		    server_path(r), fx2txt(r->status));
		return;
	}
	file_take_handle(r);
	verify_sched_next(r->t->sched, r->a.entry, &step);
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
	r->said.stops_reading = compare_readback(r, p, n);
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
		answer.end = verify_end_of_attrib(found);
	verify_answer(verify_current(c), &answer);
	if (is_put && found != NULL && !stale_temp_compares(&c->stale))
		c->target = *found;
	if (is_put || found == NULL || c->copy_begun)
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
	end = verify_end_of_attrib(found);
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

	verify_answer(verify_current(r->file->verification), &answer);
}

static void
take_stale_rename(struct request *r)
{
	struct verification *c = r->file->verification;

	stale_temp_compared(&c->stale, r->status == SSH2_FX_OK);
	if (r->status != SSH2_FX_OK)
		return;
	verify_adopt(&c->verify, &c->temp_verify);
	file_forget_leftover(r->file);
}

/* Returns 1 if the handle is one of the file that was compared. */
static int
takes_same_file(struct request *r)
{
	Attrib found;

	file_parse_attrs(r, &found);
	if (verify_attrs_match(r->file, &found))
		return 1;
	file_error(r->file, "\"%s\" has changed since it was compared",
	    r->file->dst);
	r->file->failed = 1;
	return 0;
}

/*
 * OPEN, FSTAT, SETSTAT and CLOSE. If one before CLOSE fails, the file is opened
 * with other flags, if it was not with both.
 */
static void
take_setstat(struct request *r)
{
	struct verification *c = r->file->verification;
	enum verify_request at = c->setstat_next;
	int ok = r->status == SSH2_FX_OK;

	c->setstat_next = VERIFY_ASK_SETSTAT_OPEN;
	if (at == VERIFY_ASK_SETSTAT_CLOSE)
		return;
	c->status = r->status;
	if (ok && at == VERIFY_ASK_SETSTAT_OPEN) {
		file_take_handle(r);
		c->setstat_conn = r->a.conn;
	}
	if (ok && (at == VERIFY_ASK_SETSTAT_OPEN ||
	    (at == VERIFY_ASK_SETSTAT_FSTAT && takes_same_file(r)))) {
		c->setstat_next = at + 1;
		return;
	}
	c->flags = ok || c->flags == SSH2_FXF_WRITE ? 0 : SSH2_FXF_WRITE;
	if (at != VERIFY_ASK_SETSTAT_OPEN)
		c->setstat_next = VERIFY_ASK_SETSTAT_CLOSE;
}

/* What changes a file by its name goes over the main connection. */
#define BY_NAME	.on_main = 1, .late_on_main = 1

static const struct row {
	struct op_info info;		/* has to be the first member */
	struct op_handler handler;
} rows[] = {
	[VERIFY_ASK_STAT] = { { "verify_stat", SFTP_STAT, SFTP_ATTRS },
	    { send_stat, take_stat } },
	[VERIFY_ASK_FSTAT] = { { "verify_fstat", SFTP_FSTAT, SFTP_ATTRS },
	    { file_send, take_fstat } },
	[VERIFY_ASK_HASH] = { { "verify_hash", SFTP_EXTENDED,
	    SFTP_EXTENDED_REPLY, .works = 1 }, { send_hash, take_hashes } },
	[VERIFY_ASK_SETSIZE] = { { "verify_setsize", SFTP_SETSTAT, SFTP_STATUS,
	    BY_NAME }, { send_setsize, take_setsize } },
	[VERIFY_ASK_OPEN] = { { "readback_open", SFTP_OPEN, SFTP_HANDLE },
	    { send_open, take_readback_open } },
	[VERIFY_ASK_READ] = { { "readback_read", SFTP_READ, SFTP_DATA },
	    { file_send_read, take_readback } },
	[VERIFY_ASK_CLOSE] = { { "readback_close", SFTP_CLOSE, SFTP_STATUS },
	    { file_send } },
	[VERIFY_ASK_SETSTAT_OPEN] = { { "setstat_open", SFTP_OPEN, SFTP_HANDLE,
	    .on_main = 1 }, { send_open, take_setstat } },
	[VERIFY_ASK_SETSTAT_FSTAT] = { { "setstat_fstat", SFTP_FSTAT,
	    SFTP_ATTRS, .on_main = 1 }, { file_send, take_setstat } },
	[VERIFY_ASK_SETSTAT] = { { "verify_setstat", SFTP_FSETSTAT,
	    SFTP_STATUS, .on_main = 1 }, { file_send_own_attrs,
	    take_setstat } },
	[VERIFY_ASK_SETSTAT_CLOSE] = { { "setstat_close", SFTP_CLOSE,
	    SFTP_STATUS, .on_main = 1 }, { file_send, take_setstat } },
	[VERIFY_ASK_STALE_LSTAT] = { { "stale_lstat", SFTP_LSTAT, SFTP_ATTRS },
	    { send_stale, take_stale } },
	[VERIFY_ASK_STALE_RENAME] = { { "stale_rename", SFTP_RENAME,
	    SFTP_STATUS, BY_NAME }, { send_stale_rename, take_stale_rename } },
	[VERIFY_ASK_STALE_REMOVE] = { { "stale_remove", SFTP_REMOVE,
	    SFTP_STATUS, BY_NAME }, { send_stale } },
};

const struct op_info *
verify_request_info(enum verify_request request)
{
	return &rows[request].info;
}

const struct op_handler *
verify_request_handler(const struct op_info *info)
{
	const struct row *row = (const struct row *)info;

	return &row->handler;
}
