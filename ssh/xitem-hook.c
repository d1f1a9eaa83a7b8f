/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See xitem-hook.h. */

#include "includes.h"

#include <sys/types.h>
#include <sys/stat.h>

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log.h"
#include "misc.h"
#include "sshbuf.h"
#include "ssherr.h"
#include "xmalloc.h"

#include "xitem-hook.h"
#include "xturn-hook.h"

/* A handle has at most so many bytes (version 3 of the protocol, 6.3). */
#define HANDLE_MAX	256

struct xitem *
xitem_new(char *src, char *dst, int depth)
{
	struct xitem *item = xcalloc(1, sizeof(*item));

	item->src = src;
	item->dst = dst;
	item->depth = depth;
	item->fd = -1;
	return item;
}

void
xitem_count(struct xtree *t, const struct xitem *item)
{
	t->count.files_known++;
	t->count.bytes_known += item->size;
}

void
xitem_count_name(struct xtree *t, const Attrib *a, int sign)
{
	if (S_ISDIR(a->perm) || (S_ISLNK(a->perm) && t->follow))
		t->count.unread += sign;
	if (!S_ISREG(a->perm))
		return;
	t->count.files_known += sign;
	if ((a->flags & SSH2_FILEXFER_ATTR_SIZE) != 0)
		t->count.bytes_known += sign * a->size;
}

/* What a server lists is counted when it is listed. */
static void
count_added(struct xtree *t, enum xs_kind kind, const struct xitem *item)
{
	if (kind == XS_FILE && !t->counted)
		xitem_count(t, item);
	if (kind == XS_DIR)
		t->count.unread++;
}

void
xitem_add(struct xtree *t, struct xs_job *dir, enum xs_kind kind,
    struct xitem *item, uint64_t size)
{
	struct xs_job *j;

	item->size = size;
	if (dir == NULL || t->side == &xput_side)
		count_added(t, kind, item);
	if ((j = xs_add(t->s, dir, kind, item, size)) == NULL)
		fatal_f("out of memory");
	if (kind == XS_FILE && dir != NULL)
		xturn_add(t, item, j);
}

void
xitem_say(struct xitem *item, int after, int level, const char *fmt, ...)
{
	struct xtext *text = xcalloc(1, sizeof(*text)), **end;
	va_list args;
	int n;

	va_start(args, fmt);
	n = vasprintf(&text->text, fmt, args);
	va_end(args);
	if (n == -1)
		fatal_f("out of memory");
	text->level = level;
	for (end = &item->text[after]; *end != NULL; end = &(*end)->next)
		;
	*end = text;
}

/* An array is enlarged when its length is a power of two. */
void
xitem_name(struct xitem *item, const char *name, const Attrib *a)
{
	size_t n = item->nnames;

	if ((n & (n - 1)) == 0)
		item->names = xreallocarray(item->names, n == 0 ? 1 : 2 * n,
		    sizeof(*item->names));
	item->names[n].name = xstrdup(name);
	if (a != NULL)
		item->names[n].a = *a;
	item->nnames++;
}

/* FNV-1a from a start that no server knows, so that none can choose clashes */
static uint32_t
hash_of(const char *name)
{
	static uint64_t start;
	const u_char *p = (const u_char *)name;
	uint64_t h;

	if (start == 0)
		start = (uint64_t)arc4random() << 32 | arc4random() | 1;
	for (h = start; *p != '\0'; p++)
		h = (h ^ *p) * 0x100000001b3ULL;
	return (uint32_t)(h >> 32);
}

/* Returns the place of a name in the table, or where it belongs. */
static uint32_t *
place_of(const struct xitem *item, const char *name)
{
	uint32_t i = hash_of(name), *place;

	for (;; i++) {
		place = &item->places[i & (item->nplaces - 1)];
		if (*place == 0 ||
		    strcmp(item->names[*place - 1].name, name) == 0)
			return place;
	}
}

/* A table has twice the places of its names at least. */
static void
enlarge_table(struct xitem *item)
{
	size_t i;

	free(item->places);
	item->nplaces = item->nplaces == 0 ? 64 : 4 * item->nplaces;
	item->places = xcalloc(item->nplaces, sizeof(*item->places));
	for (i = 0; i < item->nnames; i++)
		*place_of(item, item->names[i].name) = i + 1;
}

int
xitem_new_name(struct xitem *item, const char *name, const Attrib *a)
{
	uint32_t *place;

	if (item->nnames >= item->nplaces / 2)
		enlarge_table(item);
	if (*(place = place_of(item, name)) != 0)
		return -1;
	xitem_name(item, name, a);
	*place = item->nnames;
	return 0;
}

void
xitem_last_name(struct xitem *item)
{
	size_t i;

	free(item->places);
	item->places = NULL;
	item->has_names = 1;
	for (i = 0; i < item->added; i++) {
		free(item->names[i].name);
		item->names[i].name = NULL;
	}
}

void
xitem_forget(struct xhandle *handle)
{
	free(handle->id);
	handle->id = NULL;
}

int
xitem_close(struct xtree *t, struct xitem *item)
{
	int r = item->fd == -1 ? 0 : close(item->fd), saved = errno;
	size_t i;

	item->fd = -1;
	xitem_forget(&item->handle);
	xitem_forget(&item->to_handle);
	for (i = 0; i < t->nopen; i++) {
		if (t->open[i] == item) {
			t->open[i] = t->open[--t->nopen];
			break;
		}
	}
	errno = saved;
	return r;
}

void
xitem_send_path(struct xtree *t, const struct xs_action *a, u_char code,
    const char *path, Attrib *attrs)
{
	struct sshbuf *m = xlink_begin(t->link, code, a->id);
	int r;

	if ((r = sshbuf_put_cstring(m, path)) != 0 ||
	    (attrs != NULL && (r = encode_attrib(m, attrs)) != 0))
		fatal_fr(r, "compose");
	xlink_end(t->link);
}

void
xitem_send_handle(struct xtree *t, const struct xs_action *a,
    const struct xhandle *handle, u_char code, Attrib *attrs)
{
	struct sshbuf *m = xlink_begin(t->link, code, a->id);
	int r;

	if ((r = sshbuf_put_string(m, handle->id, handle->len)) != 0 ||
	    (attrs != NULL && (r = encode_attrib(m, attrs)) != 0))
		fatal_fr(r, "compose");
	xlink_end(t->link);
}

void
xitem_send_size(struct xtree *t, const struct xs_action *a,
    const struct xhandle *handle)
{
	Attrib size;

	debug("truncating at %llu", (unsigned long long)a->off);
	attrib_clear(&size);
	size.flags = SSH2_FILEXFER_ATTR_SIZE;
	size.size = a->off;
	xitem_send_handle(t, a, handle, SSH2_FXP_FSETSTAT, &size);
}

void
xitem_send_open(struct xtree *t, const struct xs_action *a, const char *path,
    u_int flags, Attrib *attrs)
{
	struct sshbuf *m = xlink_begin(t->link, SSH2_FXP_OPEN, a->id);
	int r;

	if ((r = sshbuf_put_cstring(m, path)) != 0 ||
	    (r = sshbuf_put_u32(m, flags)) != 0 ||
	    (r = encode_attrib(m, attrs)) != 0)
		fatal_fr(r, "compose");
	xlink_end(t->link);
}

void
xitem_handle(struct xtree *t, const struct xitem *item, struct xreply *reply,
    struct xhandle *handle)
{
	int r;

	xitem_forget(handle);
	if ((r = sshbuf_get_string(reply->m, &handle->id, &handle->len)) != 0)
		xlink_fatal(t->link, "parse handle: %s", ssh_err(r));
	if (handle->len > HANDLE_MAX)
		xlink_fatal(t->link, "Server sent a handle of %zu bytes for "
		    "\"%s\"; at most %d are allowed", handle->len,
		    item->src, HANDLE_MAX);
}

enum xs_result
xitem_is_other(struct xtree *t, struct xreply *reply)
{
	Attrib a;

	xitem_attrs(t, reply, &a);
	return (a.flags & SSH2_FILEXFER_ATTR_PERMISSIONS) == 0 ||
	    S_ISREG(a.perm) ? XS_FAILED : XS_OK;
}

void
xitem_attrs(struct xtree *t, struct xreply *reply, Attrib *a)
{
	int r;

	if ((r = decode_attrib(reply->m, a)) != 0)
		xlink_fatal(t->link, "parse attributes: %s", ssh_err(r));
}
