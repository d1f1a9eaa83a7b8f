/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * sshbuf-hook: upstream's sshbuf.h, with memory that stays between packets.
 *
 * This file takes the place of upstream's sshbuf.c, and the interface is
 * upstream's. Seven things differ, none of which a caller can see:
 *
 *   A buffer grows as bufgrow.h says, so a backlog costs what it holds and not
 *   the square of it.
 *
 *   A reset keeps the memory that the next packet needs.
 *
 *   A buffer knows how far it was ever written: "dirty". A reset wipes that
 *   much, growth copies only what is in use, and nothing is zeroed before it
 *   is written. Stock OpenSSH wipes or zeroes the whole allocation each time,
 *   which is more than it copies. So whoever reserves room fills it, or takes
 *   the rest away, before anything is sent: what others left stands in new
 *   memory. Programs in which valgrind takes that room for undefined run in
 *   regress/bulk.bats.
 *
 *   Large buffers begin at different places of a page, because some processors
 *   copy slowly between equal ones (bufgrow_colour()).
 *
 *   From 1 MiB on a buffer is made of pages (bufmap.h): it grows without a copy
 *   of what it holds.
 *
 *   The content may be attached: "cd" is where it lies, "d" stays the buffer's
 *   own memory, which is not in use meanwhile.
 *
 *   A part of the content may lie outside. Its room is never written, and so it
 *   is not wiped.
 *
 * The promise is stock's: what a buffer held is wiped before its memory is
 * freed or after a reset, and pages by the kernel. A field out of its bounds
 * ends the process, because the memory around it can no longer be trusted.
 *
 * A buffer made with sshbuf_from() or sshbuf_fromb() owns no memory: "d" is
 * NULL, it cannot change, and it keeps its parent alive. Not thread safe: a
 * buffer is for one thread at a time.
 */

#include "includes.h"

#include <sys/types.h>

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "misc.h"
#include "ssherr.h"
#define SSHBUF_INTERNAL
#include "sshbuf.h"

#include "bufgrow.h"
#include "bufmap.h"
#include "sshbuf-hook.h"

/* Bytes: less consumed content is not worth a system call. */
#define TRIM_MIN	(8 * 1024 * 1024)

/* Bytes that an empty buffer keeps for the next burst */
#define KEEP_EMPTY	(4 * 1024 * 1024)

struct attachment {
	void	(*release)(void *);	/* NULL: there is no loan */
	void	*arg;
	size_t	 len;		/* at first */
};

struct sshbuf {
	u_char	*d;		/* the memory; NULL: others own it */
	const u_char *cd;	/* the same, or that of others */
	size_t	 off, size;	/* the content is cd[off] to cd[size - 1] */
	size_t	 dirty;		/* nothing was written from d[dirty] on */
	size_t	 colour;	/* d - colour is where the memory begins */
	int	 mapped;	/* it is of bufmap.h, not of malloc() */
	size_t	 alloc, max_size;
	u_int	 refcount;	/* this buffer and its children */
	struct sshbuf *parent;
	struct attachment attached;
	struct sshbuf_external external;	/* "at" is in d */
};

static int
is_attached(const struct sshbuf *buf)
{
	return buf->attached.release != NULL;
}

static int
end_corrupt(void)
{
	ssh_signal(SIGSEGV, SIG_DFL);
	raise(SIGSEGV);
	return SSH_ERR_INTERNAL_ERROR;
}

/*
 * Returns 0. A buffer with impossible fields ends the process. Inline, because
 * a small file costs 250 of these.
 */
static inline int __attribute__((__always_inline__))
check_sanity(const struct sshbuf *buf)
{
	if (buf != NULL && buf->cd != NULL &&
	    (buf->d == NULL || buf->d == buf->cd || is_attached(buf)) &&
	    buf->parent != buf &&
	    buf->refcount >= 1 && buf->refcount <= SSHBUF_REFS_MAX &&
	    buf->off <= buf->size &&
	    buf->size <= (is_attached(buf) ? buf->attached.len : buf->alloc) &&
	    buf->dirty <= buf->alloc && buf->alloc <= buf->max_size &&
	    buf->max_size <= SSHBUF_CHANNEL_MAX)
		return 0;
	return end_corrupt();
}

static int
is_fixed(const struct sshbuf *buf)
{
	return buf->d == NULL || buf->refcount > 1;
}

/* Moves the content to the front. */
static void
compact(struct sshbuf *buf)
{
	memmove(buf->d, buf->d + buf->off, buf->size - buf->off);
	buf->size -= buf->off;
	buf->off = 0;
}

static size_t
mapped_size(size_t alloc)
{
	return bufgrow_padding(BUFMAP_MIN) + alloc;
}

/* Wipes everything that was ever written into the memory. */
static void
wipe(const struct sshbuf *buf)
{
	const struct sshbuf_external *o = &buf->external;
	size_t behind = o->at + o->len;

	if (o->len == 0) {
		explicit_bzero(buf->d, buf->dirty);
		return;
	}
	explicit_bzero(buf->d, o->at);
	explicit_bzero(buf->d + behind, buf->dirty - behind);
}

static void
free_buffer_memory(const struct sshbuf *buf)
{
	if (buf->mapped) {
		bufmap_free(buf->d - buf->colour, mapped_size(buf->alloc));
		return;
	}
	wipe(buf);
	free(buf->d - buf->colour);
}

/*
 * Moves the content to the front of new memory of that size, which holds it.
 * Returns 0 or SSH_ERR_*.
 */
static int
move_content(struct sshbuf *buf, size_t alloc)
{
	size_t len = buf->size - buf->off, room = bufgrow_padding(alloc),
	    colour;
	u_char *d = alloc < BUFMAP_MIN ? NULL :
	    bufmap_new(mapped_size(alloc));
	int mapped = d != NULL;

	if (!mapped && (d = malloc(room + alloc)) == NULL)
		return SSH_ERR_ALLOC_FAIL;
	colour = bufgrow_colour(room, d);
	d += colour;
	memcpy(d, buf->d + buf->off, len);
	free_buffer_memory(buf);
	buf->cd = buf->d = d;
	buf->colour = colour;
	buf->mapped = mapped;
	buf->alloc = alloc;
	buf->off = 0;
	buf->size = buf->dirty = len;
	return 0;
}

/*
 * Makes a mapped buffer "alloc" bytes long, counted from the page in which the
 * content begins. It holds the content. Returns 0 or SSH_ERR_*.
 */
static int
move_pages(struct sshbuf *buf, size_t alloc)
{
	size_t front = bufmap_page_floor(buf->off);
	u_char *memory = bufmap_resize(buf->d - buf->colour,
	    mapped_size(buf->alloc), front, mapped_size(alloc));

	if (memory == NULL)
		return SSH_ERR_ALLOC_FAIL;
	buf->cd = buf->d = memory + buf->colour;
	buf->alloc = alloc;
	buf->off -= front;
	buf->size -= front;
	buf->dirty -= MINIMUM(front, buf->dirty);
	buf->dirty = MINIMUM(buf->dirty, alloc);
	return 0;
}

/*
 * Makes room for "len" bytes behind the content. New pages cost more than a
 * copy of as many bytes, so content that is less than what was taken before it
 * is copied. Returns 0 or SSH_ERR_*.
 */
static int
make_room(struct sshbuf *buf, size_t len)
{
	size_t front = buf->mapped ? bufmap_page_floor(buf->off) : 0, need;
	int compacts = bufgrow_should_compact(buf->off, buf->size, len,
	    buf->alloc);

	sshbuf_linearize(buf);
	if ((compacts && (!buf->mapped || buf->size - buf->off <= buf->off)) ||
	    buf->size - front + len > buf->max_size) {
		compact(buf);
		front = 0;
		if (buf->size + len <= buf->alloc)
			return 0;
	}
	need = MINIMUM(ROUNDUP(buf->size - front + len, SSHBUF_SIZE_INC),
	    buf->max_size);
	if (!buf->mapped)
		return move_content(buf,
		    bufgrow_size(buf->alloc, need, buf->max_size));
	return move_pages(buf, compacts ? MAXIMUM(need, buf->alloc) :
	    bufgrow_size(buf->alloc, need, buf->max_size));
}

/*
 * Loans
 */

static void
release_attached(struct sshbuf *buf)
{
	struct attachment was = buf->attached;

	memset(&buf->attached, 0, sizeof(buf->attached));
	buf->cd = buf->d;
	buf->off = buf->size = 0;
	was.release(was.arg);
}

int
sshbuf_attach(struct sshbuf *buf, const void *p, size_t len,
    void (*release)(void *), void *arg)
{
	int r;

	if ((r = sshbuf_unshare(buf)) != 0)
		return r;
	if (is_fixed(buf))
		return SSH_ERR_BUFFER_READ_ONLY;
	if (p == NULL || release == NULL || buf->off != buf->size)
		return SSH_ERR_INVALID_ARGUMENT;
	if (len > buf->max_size)
		return SSH_ERR_NO_BUFFER_SPACE;
	buf->attached = (struct attachment){ .release = release, .arg = arg,
	    .len = len };
	buf->cd = p;
	buf->off = 0;
	buf->size = len;
	return 0;
}

int
sshbuf_unshare(struct sshbuf *buf)
{
	struct sshbuf was;
	u_char *p;
	int r;

	if ((r = check_sanity(buf)) != 0 || !is_attached(buf))
		return r;
	was = *buf;
	memset(&buf->attached, 0, sizeof(buf->attached));
	buf->cd = buf->d;
	buf->off = buf->size = 0;
	if ((r = sshbuf_reserve(buf, was.size - was.off, &p)) != 0) {
		*buf = was;
		return r;
	}
	memcpy(p, was.cd + was.off, was.size - was.off);
	was.attached.release(was.attached.arg);
	return 0;
}

/*
 * Content outside
 */

int
sshbuf_put_external(struct sshbuf *buf, const void *p, size_t len)
{
	size_t dirty;
	u_char *room;
	int r;

	if ((r = sshbuf_allocate(buf, len)) != 0)
		return r;
	sshbuf_linearize(buf);
	dirty = buf->dirty;
	if ((r = sshbuf_reserve(buf, len, &room)) != 0)
		return r;
	buf->external = (struct sshbuf_external){ .data = p, .len = len,
	    .at = (size_t)(room - buf->d) };
	if (dirty > buf->external.at)
		explicit_bzero(room, dirty - buf->external.at);
	return 0;
}

struct sshbuf_external
sshbuf_external(const struct sshbuf *buf)
{
	struct sshbuf_external o = buf->external;

	if (check_sanity(buf) == 0 && o.len > 0)
		o.at -= buf->off;
	return o;
}

void
sshbuf_linearize(struct sshbuf *buf)
{
	struct sshbuf_external *o = &buf->external;

	if (o->len == 0)
		return;
	memcpy(buf->d + o->at, o->data, o->len);
	memset(o, 0, sizeof(*o));
}

/*
 * Making and freeing
 */

struct sshbuf *
sshbuf_new(void)
{
	struct sshbuf *buf;

	if ((buf = calloc(1, sizeof(*buf))) == NULL)
		return NULL;
	if ((buf->cd = buf->d = calloc(1, SSHBUF_SIZE_INIT)) == NULL) {
		free(buf);
		return NULL;
	}
	buf->alloc = SSHBUF_SIZE_INIT;
	buf->max_size = SSHBUF_SIZE_MAX;
	buf->refcount = 1;
	return buf;
}

struct sshbuf *
sshbuf_from(const void *blob, size_t len)
{
	struct sshbuf *buf;

	if (blob == NULL || len > SSHBUF_SIZE_MAX ||
	    (buf = calloc(1, sizeof(*buf))) == NULL)
		return NULL;
	buf->cd = blob;
	buf->size = buf->alloc = buf->max_size = len;
	buf->refcount = 1;
	return buf;
}

int
sshbuf_set_parent(struct sshbuf *child, struct sshbuf *parent)
{
	int r;

	if ((r = check_sanity(child)) != 0 || (r = check_sanity(parent)) != 0)
		return r;
	if (child == parent ||
	    (child->parent != NULL && child->parent != parent))
		return SSH_ERR_INTERNAL_ERROR;
	child->parent = parent;
	parent->refcount++;
	return 0;
}

struct sshbuf *
sshbuf_fromb(struct sshbuf *buf)
{
	struct sshbuf *child;

	if (check_sanity(buf) != 0 ||
	    (child = sshbuf_from(sshbuf_ptr(buf), sshbuf_len(buf))) == NULL)
		return NULL;
	if (sshbuf_set_parent(child, buf) != 0) {
		sshbuf_free(child);
		return NULL;
	}
	return child;
}

/* A parent with children stays until the last of them is freed. */
void
sshbuf_free(struct sshbuf *buf)
{
	struct sshbuf *parent;

	for (; buf != NULL; buf = parent) {
		if (check_sanity(buf) != 0 || --buf->refcount > 0)
			return;
		parent = buf->parent;
		if (is_attached(buf))
			release_attached(buf);
		if (buf->d != NULL)
			free_buffer_memory(buf);
		freezero(buf, sizeof(*buf));
	}
}

void
sshbuf_reset(struct sshbuf *buf)
{
	if (check_sanity(buf) != 0)
		return;
	if (is_fixed(buf)) {
		buf->off = buf->size;
		return;
	}
	if (is_attached(buf))
		release_attached(buf);
	buf->off = buf->size = 0;
	if (!bufgrow_should_release(buf->alloc) ||
	    move_content(buf, SSHBUF_SIZE_INIT) != 0)
		wipe(buf);
	buf->dirty = 0;
	memset(&buf->external, 0, sizeof(buf->external));
}

/*
 * Sizes
 */

size_t
sshbuf_max_size(const struct sshbuf *buf)
{
	return buf->max_size;
}

size_t
sshbuf_alloc(const struct sshbuf *buf)
{
	return buf->alloc;
}

const struct sshbuf *
sshbuf_parent(const struct sshbuf *buf)
{
	return buf->parent;
}

u_int
sshbuf_refcount(const struct sshbuf *buf)
{
	return buf->refcount;
}

int
sshbuf_set_max_size(struct sshbuf *buf, size_t max_size)
{
	size_t len, alloc;
	int r;

	if ((r = check_sanity(buf)) != 0 || max_size == buf->max_size)
		return r;
	if (is_fixed(buf))
		return SSH_ERR_BUFFER_READ_ONLY;
	if ((r = sshbuf_unshare(buf)) != 0)
		return r;
	sshbuf_linearize(buf);
	len = buf->size - buf->off;
	if (max_size > SSHBUF_SIZE_MAX || max_size < len)
		return SSH_ERR_NO_BUFFER_SPACE;
	if (max_size < buf->alloc) {
		alloc = ROUNDUP(MAXIMUM(len, SSHBUF_SIZE_INIT),
		    SSHBUF_SIZE_INC);
		if ((r = move_content(buf, MINIMUM(alloc, max_size))) != 0)
			return r;
	}
	buf->max_size = max_size;
	return 0;
}

int
sshbuf_raise_max(struct sshbuf *buf, size_t max_size)
{
	if (check_sanity(buf) != 0 || is_fixed(buf) ||
	    max_size > SSHBUF_CHANNEL_MAX)
		return SSH_ERR_INVALID_ARGUMENT;
	buf->max_size = MAXIMUM(max_size, buf->max_size);
	return 0;
}

void
sshbuf_trim(struct sshbuf *buf)
{
	if (check_sanity(buf) != 0 || is_fixed(buf) || is_attached(buf) ||
	    !buf->mapped)
		return;
	sshbuf_linearize(buf);
	/* If this fails, the memory stays for a while. */
	if (buf->off == buf->size && buf->alloc > KEEP_EMPTY) {
		buf->off = buf->size = 0;
		(void)move_pages(buf, KEEP_EMPTY);
	} else if (buf->off >= TRIM_MIN)
		(void)move_pages(buf, buf->alloc - bufmap_page_floor(buf->off));
}

size_t
sshbuf_len(const struct sshbuf *buf)
{
	return check_sanity(buf) == 0 ? buf->size - buf->off : 0;
}

size_t
sshbuf_avail(const struct sshbuf *buf)
{
	if (check_sanity(buf) != 0 || is_fixed(buf))
		return 0;
	return buf->max_size - (buf->size - buf->off);
}

const u_char *
sshbuf_ptr(const struct sshbuf *buf)
{
	return check_sanity(buf) == 0 ? buf->cd + buf->off : NULL;
}

u_char *
sshbuf_mutable_ptr(const struct sshbuf *buf)
{
	if (check_sanity(buf) != 0 || is_fixed(buf) || (is_attached(buf) &&
	    sshbuf_unshare((struct sshbuf *)(uintptr_t)buf) != 0))
		return NULL;
	return buf->d + buf->off;
}

/*
 * Adding and taking
 */

int
sshbuf_check_reserve(const struct sshbuf *buf, size_t len)
{
	int r;

	if ((r = check_sanity(buf)) != 0)
		return r;
	if (is_fixed(buf))
		return SSH_ERR_BUFFER_READ_ONLY;
	if (len > buf->max_size || buf->size - buf->off > buf->max_size - len)
		return SSH_ERR_NO_BUFFER_SPACE;
	return 0;
}

int
sshbuf_allocate(struct sshbuf *buf, size_t len)
{
	int r;

	if ((r = sshbuf_check_reserve(buf, len)) != 0 ||
	    (is_attached(buf) && (r = sshbuf_unshare(buf)) != 0))
		return r;
	if (buf->size + len <= buf->alloc)
		return 0;
	return make_room(buf, len);
}

int
sshbuf_reserve(struct sshbuf *buf, size_t len, u_char **dpp)
{
	int r;

	if (dpp != NULL)
		*dpp = NULL;
	if ((r = sshbuf_allocate(buf, len)) != 0)
		return r;
	if (dpp != NULL)
		*dpp = buf->d + buf->size;
	buf->size += len;
	buf->dirty = MAXIMUM(buf->dirty, buf->size);
	return 0;
}

int
sshbuf_consume(struct sshbuf *buf, size_t len)
{
	int r;

	if ((r = check_sanity(buf)) != 0 || len == 0)
		return r;
	if (len > buf->size - buf->off)
		return SSH_ERR_MESSAGE_INCOMPLETE;
	sshbuf_linearize(buf);
	buf->off += len;
	if (buf->off == buf->size)
		buf->off = buf->size = 0;
	return 0;
}

/* Releases from 10.3 on have this one. A child may only be ahead of "buf". */
int	sshbuf_consume_upto_child(struct sshbuf *, const struct sshbuf *child);
int
sshbuf_consume_upto_child(struct sshbuf *buf, const struct sshbuf *child)
{
	size_t len = sshbuf_len(buf), rest = sshbuf_len(child);

	if (check_sanity(buf) != 0 || check_sanity(child) != 0 ||
	    child->parent != buf || rest > len)
		return SSH_ERR_INVALID_ARGUMENT;
	return sshbuf_consume(buf, len - rest);
}

int
sshbuf_consume_end(struct sshbuf *buf, size_t len)
{
	int r;

	if ((r = check_sanity(buf)) != 0 || len == 0)
		return r;
	if (len > buf->size - buf->off)
		return SSH_ERR_MESSAGE_INCOMPLETE;
	sshbuf_linearize(buf);
	buf->size -= len;
	return 0;
}
