/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See fs-identity-hook.h for the idea. */

#include "includes.h"

#include <sys/types.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "misc.h"
#include "sftp.h"
#include "sftp-common.h"
#include "sshbuf.h"
#include "xmalloc.h"

#include "early-requests.h"
#include "fs-identity-hook.h"
#include "sftp-request-hook.h"
#include "sftp-stream-hook.h"

/* No request of others has such an ID: early-requests.h has those above. */
#define FIRST_ID	(EARLY_REQUESTS_ID - 0x200)

/*
 * A look at the file, over any connection; the temporary file, over the first
 */
enum request { OBSERVE_OPEN, OBSERVE_FSTAT, OBSERVE_READ, OBSERVE_CLOSE,
    MAKE_OPEN, MAKE_WRITE, MAKE_CLOSE, MAKE_REMOVE, REQUESTS };

#define NAME_BYTES	16		/* random, of the temporary name */
#define CONTENTS	64		/* of the temporary file, bytes */
#define BLOCK		(32 * 1024)	/* of a download: bytes, at most */

/* What a connection is asked, and what it shows of the file */
struct observation {
	struct sftp_stream *stream;
	reply_fn *take;
	void	*ctx;			/* of "take": what this belongs to */
	char	*path;
	uint64_t off;			/* of the block */
	uint32_t len;
	unsigned int owed;		/* a bit for each question */
	u_int	 status;		/* the first error */
	Attrib	 a;
	u_char	 data[BLOCK];
	size_t	 data_len;			/* bytes of it */
	enum fs_identity_result result;
	char	*why;
};

struct fs_reference {
	struct observation view;
	char	*dir;			/* of the temporary file; NULL: a get */
	int	 is_there;		/* it is, or may be */
	int	 is_made, is_stopped;
};

struct fs_check {
	struct observation view, want;
	char	*dir;
};

/* Returns the ID of the request, whose reply is then due. */
static uint32_t
expect(struct observation *v, enum request ask)
{
	v->owed |= 1U << ask;
	reply_expect(stream_replies(v->stream), FIRST_ID + ask, v->take,
	    v->ctx);
	return FIRST_ID + ask;
}

static void set_result(struct observation *, enum fs_identity_result,
    const char *, ...) __attribute__((format(printf, 3, 4)));

/* The first result counts. */
static void
set_result(struct observation *v, enum fs_identity_result result,
    const char *why, ...)
{
	va_list args;

	if (v->result != FS_IDENTITY_PENDING)
		return;
	v->result = result;
	va_start(args, why);
	xvasprintf(&v->why, why, args);
	va_end(args);
}

/* Answers */

static void
note_error(struct observation *v, u_int status)
{
	if (v->status == SSH2_FX_OK)
		v->status = status;
}

static u_int
parse_status(struct sshbuf *m, u_char type)
{
	u_int status;

	return type == SSH2_FXP_STATUS && sshbuf_get_u32(m, &status) == 0 ?
	    status : SSH2_FX_BAD_MESSAGE;
}

/* The reply is an error, or malformed. */
static void
note_bad_reply(struct observation *v, struct sshbuf *m, u_char type)
{
	u_int status = parse_status(m, type);

	note_error(v, status == SSH2_FX_OK ? SSH2_FX_BAD_MESSAGE : status);
}

/* Returns which request was answered. */
static enum request
take_owed(struct observation *v, uint32_t id)
{
	v->owed &= ~(1U << (id - FIRST_ID));
	return id - FIRST_ID;
}

static void
open_observed(struct observation *v)
{
	request_open(stream_sink(v->stream), expect(v, OBSERVE_OPEN),
	    v->path, SSH2_FXF_READ, NULL);
}

static void
take_open_reply(struct observation *v, struct sshbuf *m, u_char type)
{
	struct request_sink *s = stream_sink(v->stream);
	struct handle h = { 0 };

	if (type != SSH2_FXP_HANDLE || reply_get_handle(m, &h) != 0) {
		note_bad_reply(v, m, type);
		return;
	}
	request_handle(s, expect(v, OBSERVE_FSTAT), SSH2_FXP_FSTAT, &h,
	    NULL);
	request_read(s, expect(v, OBSERVE_READ), &h, v->off, v->len);
	request_handle(s, expect(v, OBSERVE_CLOSE), SSH2_FXP_CLOSE, &h,
	    NULL);
	free(h.id);
}

/* An answer about the file that is looked at */
static void
take_observation(struct observation *v, enum request ask, struct sshbuf *m,
    u_char type)
{
	const u_char *data;
	size_t len;

	if (ask == OBSERVE_OPEN)
		take_open_reply(v, m, type);
	else if (ask == OBSERVE_READ) {
		if (type != SSH2_FXP_DATA ||
		    sshbuf_get_string_direct(m, &data, &len) != 0)
			note_bad_reply(v, m, type);
		else if (len <= v->len) {
			memcpy(v->data, data, len);
			v->data_len = len;
		}
	} else if (ask == OBSERVE_FSTAT &&
	    (type != SSH2_FXP_ATTRS || decode_attrib(m, &v->a) != 0))
		note_error(v, SSH2_FX_BAD_MESSAGE);
}

static void
free_observation(struct observation *v)
{
	free(v->path);
	free(v->why);
}

/* The reference */

static void
remove_reference(struct fs_reference *w)
{
	if (w->is_there && (w->view.owed >> MAKE_REMOVE & 1) == 0)
		request_path(stream_sink(w->view.stream), expect(&w->view,
		    MAKE_REMOVE), SSH2_FXP_REMOVE, w->view.path, NULL);
}

static void
reference_refused(struct fs_reference *w)
{
	set_result(&w->view, FS_IDENTITY_FAILED, "cannot create a file in "
	    "\"%s\" to check whether it sees the same files: %s", w->dir,
	    fx2txt(w->view.status));
	remove_reference(w);
}

/* The temporary file is open, and may have been given up since. */
static void
reference_created(struct fs_reference *w, struct sshbuf *m, u_char type)
{
	struct observation *v = &w->view;
	struct request_sink *s = stream_sink(v->stream);
	struct handle h = { 0 };

	if (type != SSH2_FXP_HANDLE || reply_get_handle(m, &h) != 0) {
		note_bad_reply(v, m, type);
		w->is_there = 0;
		reference_refused(w);
		return;
	}
	w->is_made = 1;
	if (!w->is_there) {
		/* REMOVE was answered first, by a server without order. */
		w->is_there = 1;
		remove_reference(w);
	}
	if (!w->is_stopped)
		request_write(s, expect(v, MAKE_WRITE), &h, 0, v->data,
		    v->data_len);
	request_handle(s, expect(v, MAKE_CLOSE), SSH2_FXP_CLOSE, &h, NULL);
	free(h.id);
}

static void
reference_removed(struct fs_reference *w, u_int status)
{
	if (status != SSH2_FX_OK && w->is_made && w->is_there)
		logit("Cannot remove temporary file \"%s\": %s", w->view.path,
		    fx2txt(status));
	w->is_there = 0;
}

/* WRITE or CLOSE was answered. */
static void
reference_written(struct fs_reference *w, u_int status)
{
	note_error(&w->view, status);
	if (w->view.status != SSH2_FX_OK)
		reference_refused(w);
	else if ((w->view.owed & (1U << MAKE_WRITE | 1U << MAKE_CLOSE)) == 0)
		set_result(&w->view, FS_IDENTITY_SAME, "made");
}

static void
reference_observed(struct fs_reference *w)
{
	struct observation *v = &w->view;

	if (v->owed != 0)
		return;
	if (v->status == SSH2_FX_OK && v->data_len > 0)
		set_result(v, FS_IDENTITY_SAME, "seen");
	else
		set_result(v, FS_IDENTITY_FAILED, "cannot read \"%s\" to check "
		    "whether it sees the same files", v->path);
}

static void
take_reference_reply(void *ctx, uint32_t id, u_char type, struct sshbuf *m)
{
	struct fs_reference *w = ctx;
	enum request ask = take_owed(&w->view, id);

	if (ask == MAKE_OPEN)
		reference_created(w, m, type);
	else if (ask == MAKE_REMOVE)
		reference_removed(w, parse_status(m, type));
	else if (ask > MAKE_OPEN)
		reference_written(w, parse_status(m, type));
	else {
		take_observation(&w->view, ask, m, type);
		reference_observed(w);
	}
}

enum fs_identity_result
fs_reference_result(const struct fs_reference *w, const char **why)
{
	*why = w->view.why;
	return w->view.result;
}

void
fs_reference_stop(struct fs_reference *w)
{
	w->is_stopped = 1;
	remove_reference(w);
}

int
fs_reference_is_stopped(const struct fs_reference *w)
{
	return w->is_stopped;
}

int
fs_reference_in_flight(const struct fs_reference *w)
{
	return w->view.owed != 0;
}

const char *
fs_reference_temp_file(const struct fs_reference *w)
{
	return w->is_there ? w->view.path : NULL;
}

/* Names the temporary file. */
static void
make_reference_file(struct fs_reference *w, const char *dir)
{
	u_char name[NAME_BYTES];
	char *hex;
	Attrib attrs;

	arc4random_buf(name, sizeof(name));
	arc4random_buf(w->view.data, CONTENTS);
	w->view.data_len = CONTENTS;
	w->view.len = CONTENTS + 1;
	if ((hex = tohex(name, sizeof(name))) == NULL)
		fatal_f("out of memory");
	w->dir = xstrdup(*dir == '\0' ? "." : dir);
	xasprintf(&w->view.path, "%s%s.hayate-host-%s", dir,
	    *dir == '\0' || dir[strlen(dir) - 1] == '/' ? "" : "/", hex);
	free(hex);
	w->is_there = 1;
	attrib_clear(&attrs);
	attrs.flags = SSH2_FILEXFER_ATTR_PERMISSIONS;
	attrs.perm = 0600;
	request_open(stream_sink(w->view.stream), expect(&w->view,
	    MAKE_OPEN), w->view.path, SSH2_FXF_WRITE | SSH2_FXF_CREAT |
	    SSH2_FXF_EXCL, &attrs);
}

struct fs_reference *
fs_reference_new(struct sftp_stream *first, const struct fs_location *location)
{
	struct fs_reference *w = xcalloc(1, sizeof(*w));
	uint64_t random = (uint64_t)arc4random() << 32 | arc4random();

	w->view.stream = first;
	w->view.take = take_reference_reply;
	w->view.ctx = w;
	if (location->dir != NULL) {
		make_reference_file(w, location->dir);
		return w;
	}
	w->view.path = xstrdup(location->file);
	w->view.len = MINIMUM(location->size, BLOCK);
	w->view.off = random % (location->size - w->view.len + 1);
	open_observed(&w->view);
	return w;
}

void
fs_reference_free(struct fs_reference *w)
{
	if (w == NULL)
		return;
	free_observation(&w->view);
	free(w->dir);
	free(w);
}

/* The proof */

static int
is_same_data(const struct fs_check *p)
{
	return p->view.data_len == p->want.data_len &&
	    timingsafe_bcmp(p->view.data, p->want.data, p->want.data_len) == 0;
}

static void
compare_reference(struct fs_check *p)
{
	if (p->view.status != SSH2_FX_OK)
		set_result(&p->view, FS_IDENTITY_FAILED, "it does not see the "
		    "same files: cannot read the file that was just created in "
		    "\"%s\": %s", p->dir, fx2txt(p->view.status));
	else if (!is_same_data(p))
		set_result(&p->view, FS_IDENTITY_FAILED, "it does not see the "
		    "same files: the file that was just created in \"%s\" has "
		    "different contents there", p->dir);
	else
		set_result(&p->view, FS_IDENTITY_SAME, "it sees the file that "
		    "was just created in \"%s\"", p->dir);
}

static void
compare_file(struct fs_check *p)
{
	const u_int flags = SSH2_FILEXFER_ATTR_SIZE |
	    SSH2_FILEXFER_ATTR_ACMODTIME;
	const Attrib *a = &p->want.a, *b = &p->view.a;

	if (p->view.status != SSH2_FX_OK)
		set_result(&p->view, FS_IDENTITY_FAILED, "it does not see the "
		    "same files: cannot read \"%s\" there: %s", p->view.path,
		    fx2txt(p->view.status));
	else if ((a->flags & b->flags & flags) != flags ||
	    a->size != b->size || a->mtime != b->mtime || !is_same_data(p))
		set_result(&p->view, FS_IDENTITY_FAILED, "it does not see the "
		    "same files: \"%s\" is a different file there",
		    p->view.path);
	else
		set_result(&p->view, FS_IDENTITY_SAME,
		    "\"%s\" is the same there", p->view.path);
}

static void
take_check_reply(void *ctx, uint32_t id, u_char type, struct sshbuf *m)
{
	struct fs_check *p = ctx;

	take_observation(&p->view, take_owed(&p->view, id), m, type);
	if (p->view.owed != 0)
		return;
	if (p->dir != NULL)
		compare_reference(p);
	else
		compare_file(p);
}

struct fs_check *
fs_check_new(struct sftp_stream *other, const struct fs_reference *w)
{
	struct fs_check *p = xcalloc(1, sizeof(*p));

	p->want = w->view;
	p->want.path = p->want.why = NULL;
	p->dir = w->dir == NULL ? NULL : xstrdup(w->dir);
	p->view.stream = other;
	p->view.take = take_check_reply;
	p->view.ctx = p;
	p->view.path = xstrdup(w->view.path);
	p->view.off = w->view.off;
	p->view.len = w->view.len;
	open_observed(&p->view);
	return p;
}

void
fs_check_fail(struct fs_check *p, const char *why)
{
	set_result(&p->view, FS_IDENTITY_FAILED, "%s", why);
}

enum fs_identity_result
fs_check_result(const struct fs_check *p, const char **why)
{
	*why = p->view.why;
	return p->view.result;
}

void
fs_check_free(struct fs_check *p)
{
	if (p == NULL)
		return;
	free_observation(&p->view);
	free(p->dir);
	free(p);
}
