/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See file-hook.h. */

#include "includes.h"

#include <sys/types.h>
#include <sys/stat.h>
#include <sys/time.h>

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "log.h"
#include "misc.h"
#include "sshbuf.h"
#include "ssherr.h"
#include "xmalloc.h"

#include "file-hook.h"
#include "steps.h"

/* A handle has at most so many bytes (version 3 of the protocol, 6.3). */
#define HANDLE_MAX	256

struct file *
file_new(char *src, char *dst, int depth)
{
	struct file *file = xcalloc(1, sizeof(*file));

	file->src = src;
	file->dst = dst;
	file->depth = depth;
	file->fd = -1;
	return file;
}

void
file_free(struct file *file)
{
	size_t i;

	for (i = 0; i < file->nnames; i++)
		free(file->names[i].name);
	free(file->names);
	free(file->places);
	free(file->hidden);
	file_drop_texts(&file->text[0]);
	file_drop_texts(&file->text[1]);
	free(file->src);
	free(file->dst);
	free(file);
}

int
file_is_dir(const struct job *j)
{
	return plan_kind(j) == PLAN_DIR || plan_kind(j) == PLAN_MADE;
}

void
file_count(struct run *t, const struct file *file)
{
	t->count.files_known++;
	t->count.bytes_known += file->size;
}

void
file_count_name(struct run *t, const Attrib *a, int sign)
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
count_added(struct run *t, enum plan_kind kind, const struct file *file)
{
	if (kind == PLAN_FILE && !t->counted)
		file_count(t, file);
	if (kind == PLAN_DIR)
		t->count.unread++;
}

struct job *
file_add(struct run *t, struct job *dir, enum plan_kind kind,
    struct file *file, uint64_t size)
{
	struct job *j;

	file->size = size;
	if (t->root == NULL) {
		t->root = xstrdup(file->dst);
		t->root_is_dir = kind == PLAN_DIR || kind == PLAN_MADE;
	}
	if (dir == NULL || t->side->is_put)
		count_added(t, kind, file);
	if ((j = plan_add(t->s, dir, kind, file, size)) == NULL)
		fatal_f("out of memory");
	return j;
}

void
file_say(struct file *file, int after, int level, const char *fmt, ...)
{
	struct text *text = xcalloc(1, sizeof(*text));
	va_list args;
	int n;

	va_start(args, fmt);
	n = vasprintf(&text->text, fmt, args);
	va_end(args);
	if (n == -1)
		fatal_f("out of memory");
	text->level = level;
	if (file->text[after] == NULL)
		file->text[after] = text;
	else
		file->last[after]->next = text;
	file->last[after] = text;
}

void
file_drop_texts(struct text **texts)
{
	struct text *text;

	while ((text = *texts) != NULL) {
		*texts = text->next;
		free(text->text);
		free(text);
	}
}

/* An array is enlarged when its length is a power of two. */
void
file_name(struct file *file, const char *name, const Attrib *a)
{
	size_t n = file->nnames;

	if ((n & (n - 1)) == 0)
		file->names = xreallocarray(file->names, n == 0 ? 1 : 2 * n,
		    sizeof(*file->names));
	file->names[n].name = xstrdup(name);
	if (a != NULL)
		file->names[n].a = *a;
	file->names[n].is_like = 0;
	file->nnames++;
}

/* FNV-1a from a start that no server knows */
uint32_t
file_hash(const char *name, int folds)
{
	static uint64_t start;
	const u_char *p = (const u_char *)name;
	uint64_t h;

	if (start == 0)
		start = (uint64_t)arc4random() << 32 | arc4random() | 1;
	for (h = start; *p != '\0'; p++)
		h = (h ^ (folds ? tolower(*p) : *p)) * 0x100000001b3ULL;
	return (uint32_t)(h >> 32);
}

/* Returns the place of a name in the table, or where it belongs. */
static uint32_t *
place_of(const struct file *file, const char *name)
{
	uint32_t i = file_hash(name, file->folds), *place;

	for (;; i++) {
		place = &file->places[i & (file->nplaces - 1)];
		if (*place == 0 || (file->folds ? strcasecmp : strcmp)
		    (file->names[*place - 1].name, name) == 0)
			return place;
	}
}

/* A table has twice the places of its names at least. */
static void
enlarge_table(struct file *file)
{
	size_t i;

	free(file->places);
	file->nplaces = file->nplaces == 0 ? 64 : 4 * file->nplaces;
	file->places = xcalloc(file->nplaces, sizeof(*file->places));
	for (i = 0; i < file->nnames; i++)
		*place_of(file, file->names[i].name) = i + 1;
}

int
file_new_name(struct file *file, const char *name, const Attrib *a)
{
	uint32_t *place;

	if (file->nnames >= file->nplaces / 2)
		enlarge_table(file);
	if (*(place = place_of(file, name)) != 0)
		return -1;
	file_name(file, name, a);
	*place = file->nnames;
	return 0;
}

void
file_last_name(struct file *file)
{
	size_t i;

	free(file->places);
	file->places = NULL;
	file->has_names = 1;
	for (i = 0; i < file->added; i++) {
		free(file->names[i].name);
		file->names[i].name = NULL;
	}
}

static void
forget(struct handle *handle)
{
	free(handle->id);
	handle->id = NULL;
}

/* The first place is that of the first link, mostly the only one. */
struct handle *
file_on(struct file *file, unsigned int link)
{
	struct handle *h = &file->handle;

	if (h->id == NULL)
		h->link = link;
	while (h->link != link && h->next != NULL)
		h = h->next;
	if (h->link == link)
		return h;
	h->next = xcalloc(1, sizeof(*h));
	h->next->link = link;
	return h->next;
}

static void
forget_all(struct file *file)
{
	struct handle *h;
	struct probe *p;

	while ((p = file->probes) != NULL) {
		file->probes = p->next;
		free(p);
	}
	forget(&file->handle);
	forget(&file->to_handle);
	while ((h = file->handle.next) != NULL) {
		file->handle.next = h->next;
		forget(h);
		free(h);
	}
}

int
file_close(struct run *t, struct file *file)
{
	int r = file->fd == -1 ? 0 : close(file->fd), saved = errno;
	size_t i;

	file->fd = -1;
	forget_all(file);
	for (i = 0; i < t->nopen; i++) {
		if (t->open[i] == file) {
			t->open[i] = t->open[--t->nopen];
			break;
		}
	}
	errno = saved;
	return r;
}

void
file_send_path(struct run *t, const struct plan_action *a, u_char code,
    const char *path, Attrib *attrs)
{
	struct sshbuf *m = link_begin(t->link, code, a->id);
	int r;

	if ((r = sshbuf_put_cstring(m, path)) != 0 ||
	    (attrs != NULL && (r = encode_attrib(m, attrs)) != 0))
		fatal_fr(r, "compose");
	link_end(t->link);
}

void
file_send_handle(struct run *t, const struct plan_action *a,
    const struct handle *handle, u_char code, Attrib *attrs)
{
	struct sshbuf *m = link_begin(t->link, code, a->id);
	int r;

	if ((r = sshbuf_put_string(m, handle->id, handle->len)) != 0 ||
	    (attrs != NULL && (r = encode_attrib(m, attrs)) != 0))
		fatal_fr(r, "compose");
	link_end(t->link);
}

void
file_send_size(struct run *t, const struct plan_action *a,
    const struct handle *handle)
{
	Attrib size;

	debug("truncating at %llu", (unsigned long long)a->off);
	attrib_clear(&size);
	size.flags = SSH2_FILEXFER_ATTR_SIZE;
	size.size = a->off;
	file_send_handle(t, a, handle, SSH2_FXP_FSETSTAT, &size);
}

void
file_send_open(struct run *t, const struct plan_action *a, const char *path,
    u_int flags, Attrib *attrs)
{
	struct sshbuf *m = link_begin(t->link, SSH2_FXP_OPEN, a->id);
	Attrib none;
	int r;

	attrib_clear(&none);
	if ((r = sshbuf_put_cstring(m, path)) != 0 ||
	    (r = sshbuf_put_u32(m, flags)) != 0 ||
	    (r = encode_attrib(m, attrs != NULL ? attrs : &none)) != 0)
		fatal_fr(r, "compose");
	link_end(t->link);
}

void
file_send_rename(struct run *t, const struct plan_action *a, const char *from,
    const char *to)
{
	struct sshbuf *m = link_begin(t->link, SSH2_FXP_RENAME, a->id);
	int r;

	if ((r = sshbuf_put_cstring(m, from)) != 0 ||
	    (r = sshbuf_put_cstring(m, to)) != 0)
		fatal_fr(r, "compose");
	link_end(t->link);
}

void
file_send_read(struct run *t, struct file *file, const struct plan_action *a)
{
	const struct handle *h = file_on(file, a->lane);
	struct sshbuf *m = link_begin(t->link, SSH2_FXP_READ, a->id);
	int r;

	debug3("Request range %llu -> %llu", (unsigned long long)a->off,
	    (unsigned long long)a->off + a->len - 1);
	if ((r = sshbuf_put_string(m, h->id, h->len)) != 0 ||
	    (r = sshbuf_put_u64(m, a->off)) != 0 ||
	    (r = sshbuf_put_u32(m, a->len)) != 0)
		fatal_fr(r, "compose");
	link_end(t->link);
}

void
file_handle(struct run *t, const struct file *file, struct reply *reply,
    struct handle *handle)
{
	int r;

	forget(handle);
	if ((r = sshbuf_get_string(reply->m, &handle->id, &handle->len)) != 0)
		link_fatal(t->link, "parse handle: %s", ssh_err(r));
	if (handle->len > HANDLE_MAX)
		link_fatal(t->link, "Server sent a handle of %zu bytes for "
		    "\"%s\"; at most %d are allowed", handle->len,
		    file->src, HANDLE_MAX);
}

enum plan_result
file_is_other(struct run *t, struct reply *reply, Attrib *found)
{
	file_attrs(t, reply, found);
	return (found->flags & SSH2_FILEXFER_ATTR_PERMISSIONS) == 0 ||
	    S_ISREG(found->perm) ? PLAN_FAILED : PLAN_OK;
}

enum plan_result
file_found_dir(struct run *t, struct file *file, struct reply *reply)
{
	Attrib found;

	file_attrs(t, reply, &found);
	if (S_ISDIR(found.perm))
		return PLAN_OK;
	SAY(file, "\"%s\" exists but is not a directory", file->dst);
	file->failed = 1;
	return PLAN_FAILED;
}

int
file_is_same(const Attrib *a, const Attrib *b)
{
	const u_int flags = SSH2_FILEXFER_ATTR_SIZE |
	    SSH2_FILEXFER_ATTR_ACMODTIME;

	return (a->flags & b->flags & flags) == flags && a->size == b->size &&
	    a->mtime == b->mtime;
}

void
file_is_own(struct file *file)
{
	SAY(file, "\"%s\" changed while it was copied, or \"%s\" is the same "
	    "file", file->src, file->dst);
	file->failed = 1;
}

void
file_keep(struct file *file, struct job *j, const Attrib *found)
{
	if (!file_is_same(found, &file->a))
		return;
	file->keeps = 1;
	steps_keep(j);
}

enum plan_result
file_proves(struct run *t, struct file *file, struct reply *reply)
{
	Attrib now;

	file_attrs(t, reply, &now);
	if (!file_is_same(&now, &file->a))
		file_is_own(file);
	return PLAN_OK;
}

void
file_attrs(struct run *t, struct reply *reply, Attrib *a)
{
	int r;

	if ((r = decode_attrib(reply->m, a)) != 0)
		link_fatal(t->link, "parse attributes: %s", ssh_err(r));
}

void
file_data(struct run *t, const struct plan_action *a, struct reply *reply,
    const u_char **p, size_t *n)
{
	int r;

	if ((r = sshbuf_get_string_direct(reply->m, p, n)) != 0)
		link_fatal(t->link, "parse data: %s", ssh_err(r));
	if (*n > a->len)
		link_fatal(t->link, "Received more data than asked for "
		    "%zu > %u", *n, a->len);
}

void
file_set_times(struct file *file, int after)
{
	struct timeval tv[2] = { { .tv_sec = file->a.atime },
	    { .tv_sec = file->a.mtime } };

	if ((file->a.flags & SSH2_FILEXFER_ATTR_ACMODTIME) != 0 &&
	    utimes(file->dst, tv) == -1)
		file_say(file, after, SYSLOG_LEVEL_ERROR,
		    "local set times %s\"%s\": %s", after ? "on " : "",
		    file->dst, strerror(errno));
}

void
file_dress(struct file *file, int fd)
{
	struct timespec tv[2] = { { .tv_sec = file->a.atime },
	    { .tv_sec = file->a.mtime } };

	if ((file->a.flags & SSH2_FILEXFER_ATTR_PERMISSIONS) != 0 &&
	    fchmod(fd, file->a.perm & 0777) == -1)
		SAY(file, "local chmod \"%s\": %s", file->dst,
		    strerror(errno));
	if ((file->a.flags & SSH2_FILEXFER_ATTR_ACMODTIME) != 0 &&
	    futimens(fd, tv) == -1)
		SAY(file, "local set times \"%s\": %s", file->dst,
		    strerror(errno));
}
