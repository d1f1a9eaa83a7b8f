/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See proof-hook.h for the idea. */

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
#include "ssherr.h"
#include "xmalloc.h"

#include "link-hook.h"
#include "opening.h"
#include "proof-hook.h"

/* No request of others has such an ID: opening.h has those above. */
#define FIRST_ID	(OPENING_ID - 0x200)

/* A look at the file, over any link; the hidden file, over the first */
enum ask { LOOK_OPEN, LOOK_FSTAT, LOOK_READ, LOOK_CLOSE,
    MAKE_OPEN, MAKE_WRITE, MAKE_CLOSE, MAKE_REMOVE, ASKS };

#define NAME_BYTES	16		/* random, of the hidden name */
#define CONTENTS	64		/* of the hidden file, bytes */
#define BLOCK		(32 * 1024)	/* of a file that is got: bytes, most */

/* What a link is asked, and what it shows of the file */
struct view {
	struct link *link;
	char	*path;
	uint64_t off;			/* of the block */
	uint32_t len;
	unsigned int owed;		/* a bit for each question */
	u_int	 status;		/* the first error */
	Attrib	 a;
	u_char	 data[BLOCK];
	size_t	 has;			/* bytes of it */
	enum proof_result result;
	char	*why;
};

struct witness {
	struct view view;
	char	*dir;			/* of the hidden file; NULL: a get */
	int	 is_there;		/* it is, or may be */
	int	 is_made, is_stopped;
};

struct proof {
	struct view view, want;
	char	*dir;
};

/* Requests */

static struct sshbuf *
begin(struct view *v, enum ask ask, u_char code)
{
	v->owed |= 1U << ask;
	return link_begin(v->link, code, FIRST_ID + ask);
}

static void
send_open(struct view *v, enum ask ask, u_int flags)
{
	struct sshbuf *m = begin(v, ask, SSH2_FXP_OPEN);
	Attrib a;
	int r;

	attrib_clear(&a);
	if (ask == MAKE_OPEN) {
		a.flags = SSH2_FILEXFER_ATTR_PERMISSIONS;
		a.perm = 0600;
	}
	if ((r = sshbuf_put_cstring(m, v->path)) != 0 ||
	    (r = sshbuf_put_u32(m, flags)) != 0 ||
	    (r = encode_attrib(m, &a)) != 0)
		fatal_fr(r, "compose");
	link_end(v->link);
}

/* A request that has a path or a handle, and perhaps more */
static void
send_text(struct view *v, enum ask ask, u_char code, const void *text,
    size_t len)
{
	struct sshbuf *m = begin(v, ask, code);
	int r;

	if ((r = sshbuf_put_string(m, text, len)) != 0)
		fatal_fr(r, "compose");
	if (code == SSH2_FXP_READ && ((r = sshbuf_put_u64(m, v->off)) != 0 ||
	    (r = sshbuf_put_u32(m, v->len)) != 0))
		fatal_fr(r, "compose");
	if (code == SSH2_FXP_WRITE && ((r = sshbuf_put_u64(m, 0)) != 0 ||
	    (r = sshbuf_put_string(m, v->data, v->has)) != 0))
		fatal_fr(r, "compose");
	link_end(v->link);
}

static void settle(struct view *, enum proof_result, const char *, ...)
    __attribute__((format(printf, 3, 4)));

/* The first result counts. */
static void
settle(struct view *v, enum proof_result result, const char *why, ...)
{
	va_list args;

	if (v->result != PROOF_RUNS)
		return;
	v->result = result;
	va_start(args, why);
	xvasprintf(&v->why, why, args);
	va_end(args);
}

/* Answers */

static void
note_error(struct view *v, u_int status)
{
	if (v->status == SSH2_FX_OK)
		v->status = status;
}

/*
 * Takes out a string: a handle or data. Returns 0, or -1 if the answer is
 * another one, whose status is noted, or is malformed.
 */
static int
take_string(struct view *v, struct sshbuf *m, u_char type, u_char wanted,
    const u_char **text, size_t *len)
{
	u_int status = SSH2_FX_BAD_MESSAGE;

	if (type == wanted && sshbuf_get_string_direct(m, text, len) == 0)
		return 0;
	if (type == SSH2_FXP_STATUS && sshbuf_get_u32(m, &status) == 0 &&
	    status == SSH2_FX_OK)
		status = SSH2_FX_BAD_MESSAGE;
	note_error(v, status);
	return -1;
}

static u_int
take_status(struct sshbuf *m, u_char type)
{
	u_int status;

	return type == SSH2_FXP_STATUS && sshbuf_get_u32(m, &status) == 0 ?
	    status : SSH2_FX_BAD_MESSAGE;
}

/* Returns which request the message answers, or ASKS. */
static enum ask
find(const struct view *v, const struct sshbuf *m)
{
	u_int id;

	if (sshbuf_peek_u32(m, 1, &id) != 0 || id < FIRST_ID ||
	    id - FIRST_ID >= ASKS || (v->owed >> (id - FIRST_ID) & 1) == 0)
		return ASKS;
	return id - FIRST_ID;
}

static u_char
take_head(struct view *v, struct sshbuf *m, enum ask ask)
{
	u_char type = 0;

	v->owed &= ~(1U << ask);
	(void)sshbuf_get_u8(m, &type);
	(void)sshbuf_consume(m, 4);
	return type;
}

static void
look(struct view *v)
{
	send_open(v, LOOK_OPEN, SSH2_FXF_READ);
}

static void
take_handle(struct view *v, struct sshbuf *m, u_char type)
{
	const u_char *handle;
	size_t len;

	if (take_string(v, m, type, SSH2_FXP_HANDLE, &handle, &len) != 0)
		return;
	send_text(v, LOOK_FSTAT, SSH2_FXP_FSTAT, handle, len);
	send_text(v, LOOK_READ, SSH2_FXP_READ, handle, len);
	send_text(v, LOOK_CLOSE, SSH2_FXP_CLOSE, handle, len);
}

/* An answer about the file that is looked at */
static void
looked(struct view *v, enum ask ask, struct sshbuf *m, u_char type)
{
	const u_char *data;
	size_t len;

	if (ask == LOOK_OPEN)
		take_handle(v, m, type);
	else if (ask == LOOK_READ) {
		if (take_string(v, m, type, SSH2_FXP_DATA, &data, &len) == 0 &&
		    len <= v->len) {
			memcpy(v->data, data, len);
			v->has = len;
		}
	} else if (ask == LOOK_FSTAT &&
	    (type != SSH2_FXP_ATTRS || decode_attrib(m, &v->a) != 0))
		note_error(v, SSH2_FX_BAD_MESSAGE);
}

static void
end_view(struct view *v)
{
	free(v->path);
	free(v->why);
}

/* The witness */

static void
remove_hidden(struct witness *w)
{
	if (w->is_there && (w->view.owed >> MAKE_REMOVE & 1) == 0)
		send_text(&w->view, MAKE_REMOVE, SSH2_FXP_REMOVE,
		    w->view.path, strlen(w->view.path));
}

static void
refuse_put(struct witness *w)
{
	settle(&w->view, PROOF_BAD, "no file could be made in \"%s\" to prove "
	    "that it sees the same files: %s", w->dir,
	    fx2txt(w->view.status));
	remove_hidden(w);
}

/* The hidden file is open, and may have been given up since. */
static void
made(struct witness *w, struct sshbuf *m, u_char type)
{
	const u_char *handle;
	size_t len;

	if (take_string(&w->view, m, type, SSH2_FXP_HANDLE, &handle,
	    &len) != 0) {
		w->is_there = 0;
		refuse_put(w);
		return;
	}
	w->is_made = 1;
	if (!w->is_there) {
		/* REMOVE was answered first, by a server without order. */
		w->is_there = 1;
		remove_hidden(w);
	}
	if (!w->is_stopped)
		send_text(&w->view, MAKE_WRITE, SSH2_FXP_WRITE, handle, len);
	send_text(&w->view, MAKE_CLOSE, SSH2_FXP_CLOSE, handle, len);
}

static void
removed(struct witness *w, u_int status)
{
	if (status != SSH2_FX_OK && w->is_made && w->is_there)
		logit("The hidden file \"%s\" could not be removed: %s",
		    w->view.path, fx2txt(status));
	w->is_there = 0;
}

/* WRITE or CLOSE was answered. */
static void
filled(struct witness *w, u_int status)
{
	note_error(&w->view, status);
	if (w->view.status != SSH2_FX_OK)
		refuse_put(w);
	else if ((w->view.owed & (1U << MAKE_WRITE | 1U << MAKE_CLOSE)) == 0)
		settle(&w->view, PROOF_GOOD, "made");
}

static void
saw(struct witness *w)
{
	struct view *v = &w->view;

	if (v->owed != 0)
		return;
	if (v->status == SSH2_FX_OK && v->has > 0)
		settle(v, PROOF_GOOD, "seen");
	else
		settle(v, PROOF_BAD, "\"%s\" could not be read to prove that "
		    "it sees the same files", v->path);
}

int
proof_witness_takes(struct witness *w, struct sshbuf *m)
{
	enum ask ask = find(&w->view, m);
	u_char type;

	if (ask == ASKS)
		return 0;
	type = take_head(&w->view, m, ask);
	if (ask == MAKE_OPEN)
		made(w, m, type);
	else if (ask == MAKE_REMOVE)
		removed(w, take_status(m, type));
	else if (ask > MAKE_OPEN)
		filled(w, take_status(m, type));
	else {
		looked(&w->view, ask, m, type);
		saw(w);
	}
	return 1;
}

enum proof_result
proof_witness_result(const struct witness *w, const char **why)
{
	*why = w->view.why;
	return w->view.result;
}

void
proof_witness_stop(struct witness *w)
{
	w->is_stopped = 1;
	remove_hidden(w);
}

int
proof_witness_is_stopped(const struct witness *w)
{
	return w->is_stopped;
}

int
proof_witness_owes(const struct witness *w)
{
	return w->view.owed != 0;
}

const char *
proof_witness_left(const struct witness *w)
{
	return w->is_there ? w->view.path : NULL;
}

/* Names the hidden file. */
static void
begin_put(struct witness *w, const char *dir)
{
	u_char name[NAME_BYTES];
	char *hex;

	arc4random_buf(name, sizeof(name));
	arc4random_buf(w->view.data, CONTENTS);
	w->view.has = CONTENTS;
	w->view.len = CONTENTS + 1;
	if ((hex = tohex(name, sizeof(name))) == NULL)
		fatal_f("out of memory");
	w->dir = xstrdup(*dir == '\0' ? "." : dir);
	xasprintf(&w->view.path, "%s%s.hayate-host-%s", dir,
	    *dir == '\0' || dir[strlen(dir) - 1] == '/' ? "" : "/", hex);
	free(hex);
	w->is_there = 1;
	send_open(&w->view, MAKE_OPEN,
	    SSH2_FXF_WRITE | SSH2_FXF_CREAT | SSH2_FXF_EXCL);
}

struct witness *
proof_witness_new(struct link *first, const struct proof_where *where)
{
	struct witness *w = xcalloc(1, sizeof(*w));
	uint64_t random = (uint64_t)arc4random() << 32 | arc4random();

	w->view.link = first;
	if (where->dir != NULL) {
		begin_put(w, where->dir);
		return w;
	}
	w->view.path = xstrdup(where->file);
	w->view.len = MINIMUM(where->size, BLOCK);
	w->view.off = random % (where->size - w->view.len + 1);
	look(&w->view);
	return w;
}

void
proof_witness_free(struct witness *w)
{
	if (w == NULL)
		return;
	end_view(&w->view);
	free(w->dir);
	free(w);
}

/* The proof */

static int
is_same_data(const struct proof *p)
{
	return p->view.has == p->want.has &&
	    timingsafe_bcmp(p->view.data, p->want.data, p->want.has) == 0;
}

static void
judge_put(struct proof *p)
{
	if (p->view.status != SSH2_FX_OK)
		settle(&p->view, PROOF_BAD, "it does not see the same files: "
		    "one that was just made in \"%s\" could not be read "
		    "there: %s", p->dir, fx2txt(p->view.status));
	else if (!is_same_data(p))
		settle(&p->view, PROOF_BAD, "it does not see the same files: "
		    "one that was just made in \"%s\" has other contents "
		    "there", p->dir);
	else
		settle(&p->view, PROOF_GOOD, "it reads what was made in "
		    "\"%s\"", p->dir);
}

static void
judge_get(struct proof *p)
{
	const u_int flags = SSH2_FILEXFER_ATTR_SIZE |
	    SSH2_FILEXFER_ATTR_ACMODTIME;
	const Attrib *a = &p->want.a, *b = &p->view.a;

	if (p->view.status != SSH2_FX_OK)
		settle(&p->view, PROOF_BAD, "it does not see the same files: "
		    "\"%s\" could not be read there: %s", p->view.path,
		    fx2txt(p->view.status));
	else if ((a->flags & b->flags & flags) != flags ||
	    a->size != b->size || a->mtime != b->mtime || !is_same_data(p))
		settle(&p->view, PROOF_BAD, "it does not see the same files: "
		    "\"%s\" is another one there", p->view.path);
	else
		settle(&p->view, PROOF_GOOD, "\"%s\" is the same there",
		    p->view.path);
}

struct proof *
proof_new(struct link *other, const struct witness *w)
{
	struct proof *p = xcalloc(1, sizeof(*p));

	p->want = w->view;
	p->want.path = p->want.why = NULL;
	p->dir = w->dir == NULL ? NULL : xstrdup(w->dir);
	p->view.link = other;
	p->view.path = xstrdup(w->view.path);
	p->view.off = w->view.off;
	p->view.len = w->view.len;
	look(&p->view);
	return p;
}

void
proof_takes(struct proof *p, struct sshbuf *m)
{
	enum ask ask = find(&p->view, m);

	if (ask == ASKS) {
		settle(&p->view, PROOF_BAD, "its SFTP server sent what was "
		    "not asked for");
		return;
	}
	looked(&p->view, ask, m, take_head(&p->view, m, ask));
	if (p->view.owed != 0)
		return;
	if (p->dir != NULL)
		judge_put(p);
	else
		judge_get(p);
}

enum proof_result
proof_result(const struct proof *p, const char **why)
{
	*why = p->view.why;
	return p->view.result;
}

void
proof_free(struct proof *p)
{
	if (p == NULL)
		return;
	end_view(&p->view);
	free(p->dir);
	free(p);
}
