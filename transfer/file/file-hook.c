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
#include "xmalloc.h"

#include "file-hook.h"
#include "op-table.h"
#include "temp-name-hook.h"

/* The longest handle in bytes (version 3 of the protocol, 6.3) */
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

struct file *
file_new_child(const struct file *dir, const char *name)
{
	return file_new(sftp_path_append(dir->src, name),
	    sftp_path_append(dir->dst, name), dir->depth + 1);
}

const char *
file_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

void
file_free(struct file *file)
{
	size_t i;

	for (i = 0; i < file->nnames; i++)
		free(file->names[i].name);
	free(file->names);
	free(file->name_table);
	free(file->temp_name);
	free(file->leftover);
	file_drop_messages(&file->messages[0]);
	file_drop_messages(&file->messages[1]);
	free(file->src);
	free(file->dst);
	free(file);
}

void
file_forget_leftover(struct file *file)
{
	free(file->leftover);
	file->leftover = NULL;
}

int
file_is_dir(const struct sched_entry *j)
{
	return sched_info(j).kind == KIND_DIR || sched_info(j).kind ==
	    KIND_DIR_NO_LIST;
}

void
file_count(struct transfer *t, const struct file *file)
{
	t->count.files_known++;
	t->count.bytes_known += file->size;
}

void
file_count_listed(struct transfer *t, const Attrib *a, int sign)
{
	if (S_ISDIR(a->perm) || (S_ISLNK(a->perm) && t->follow))
		t->count.unlisted += sign;
	if (!S_ISREG(a->perm))
		return;
	t->count.files_known += sign;
	if ((a->flags & SSH2_FILEXFER_ATTR_SIZE) != 0)
		t->count.bytes_known += sign * a->size;
}

/* What a server lists is counted when it is listed. */
static void
count_added_entry(struct transfer *t, enum sched_kind kind,
    const struct file *file)
{
	if (kind == KIND_FILE && !t->total_known)
		file_count(t, file);
	if (kind == KIND_DIR || kind == KIND_LIST)
		t->count.unlisted++;
}

struct sched_entry *
file_add(struct transfer *t, struct sched_entry *dir, enum sched_kind kind,
    struct file *file, uint64_t size)
{
	struct sched_entry *j;

	file->size = size;
	if (t->root == NULL) {
		t->root = xstrdup(file->dst);
		t->root_is_dir = kind == KIND_DIR || kind ==
		    KIND_DIR_NO_LIST || kind == KIND_LIST;
	}
	if (dir == NULL || t->ops->is_put)
		count_added_entry(t, kind, file);
	if ((j = sched_add(t->sched, dir, kind, file, size)) == NULL)
		fatal_f("out of memory");
	return j;
}

void
file_message(struct file *file, int after, int level, const char *fmt, ...)
{
	struct message *text = xcalloc(1, sizeof(*text));
	va_list args;
	int n;

	va_start(args, fmt);
	n = vasprintf(&text->line, fmt, args);
	va_end(args);
	if (n == -1)
		fatal_f("out of memory");
	text->level = level;
	if (file->messages[after] == NULL)
		file->messages[after] = text;
	else
		file->last_message[after]->next = text;
	file->last_message[after] = text;
}

void
file_drop_messages(struct message **texts)
{
	struct message *text;

	while ((text = *texts) != NULL) {
		*texts = text->next;
		free(text->line);
		free(text);
	}
}

/* An array is enlarged when its length is a power of two. */
void
dir_add(struct file *file, const char *name, const Attrib *a)
{
	size_t n = file->nnames;

	if ((n & (n - 1)) == 0)
		file->names = xreallocarray(file->names, n == 0 ? 1 : 2 * n,
		    sizeof(*file->names));
	file->names[n].name = xstrdup(name);
	if (a != NULL)
		file->names[n].a = *a;
	file->names[n].case_clash = 0;
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
find_name_slot(const struct file *file, const char *name)
{
	uint32_t i = file_hash(name, file->fold_case), *place;

	for (;; i++) {
		place = &file->name_table[i & (file->name_table_size - 1)];
		if (*place == 0 || (file->fold_case ? strcasecmp : strcmp)
		    (file->names[*place - 1].name, name) == 0)
			return place;
	}
}

/* A table has twice the places of its names at least. */
static void
enlarge_name_table(struct file *file)
{
	size_t i;

	free(file->name_table);
	file->name_table_size = file->name_table_size == 0 ? 64 : 4 *
	    file->name_table_size;
	file->name_table = xcalloc(file->name_table_size,
	    sizeof(*file->name_table));
	for (i = 0; i < file->nnames; i++)
		*find_name_slot(file, file->names[i].name) = i + 1;
}

int
dir_add_unique(struct file *file, const char *name, const Attrib *a)
{
	uint32_t *place;

	if (file->nnames >= file->name_table_size / 2)
		enlarge_name_table(file);
	if (*(place = find_name_slot(file, name)) != 0)
		return -1;
	dir_add(file, name, a);
	*place = file->nnames;
	return 0;
}

void
dir_entries_complete(struct file *file)
{
	size_t i;

	free(file->name_table);
	file->name_table = NULL;
	file->names_complete = 1;
	for (i = 0; i < file->added; i++) {
		free(file->names[i].name);
		file->names[i].name = NULL;
	}
}

static void
free_handle(struct handle *handle)
{
	free(handle->id);
	handle->id = NULL;
}

/* The first place is that of the first connection, mostly the only one. */
struct handle *
file_handle_for(struct file *file, unsigned int conn)
{
	struct conn_handle *h = &file->first_handle;

	if (h->handle.id == NULL)
		h->conn = conn;
	while (h->conn != conn && h->next != NULL)
		h = h->next;
	if (h->conn == conn)
		return &h->handle;
	h->next = xcalloc(1, sizeof(*h));
	h->next->conn = conn;
	return &h->next->handle;
}

static void
free_handles(struct file *file)
{
	struct conn_handle *h;
	struct sample *p;

	while ((p = file->samples) != NULL) {
		file->samples = p->next;
		free(p);
	}
	free_handle(&file->first_handle.handle);
	free_handle(&file->dest_handle);
	while ((h = file->first_handle.next) != NULL) {
		file->first_handle.next = h->next;
		free_handle(&h->handle);
		free(h);
	}
}

int
file_close(struct transfer *t, struct file *file)
{
	int r = file->fd == -1 ? 0 : close(file->fd), saved = errno;
	size_t i;

	file->fd = -1;
	free_handles(file);
	for (i = 0; i < t->nopen; i++) {
		if (t->open[i] == file) {
			t->open[i] = t->open[--t->nopen];
			break;
		}
	}
	errno = saved;
	return r;
}

struct handle *
file_handle_of(const struct request *r)
{
	const struct op_info *op = op_info_of(&r->a);

	return op->staging || (op->to_dest && r->t->dest_stream != NULL) ?
	    &r->file->dest_handle : file_handle_for(r->file, r->a.conn);
}

const char *
file_path_of(const struct request *r)
{
	const struct op_info *op = op_info_of(&r->a);

	return op->temp_name ? r->file->temp_name : op->to_dest ||
	    r->t->ops->is_put ? r->file->dst : r->file->src;
}

void
file_send_attrs(struct request *r, const Attrib *attrs)
{
	const struct op_info *op = op_info_of(&r->a);

	if (op->by_path)
		request_path(r->sink, r->a.id, op->message, file_path_of(r),
		    attrs);
	else
		request_handle(r->sink, r->a.id, op->message,
		    file_handle_of(r), attrs);
}

void
file_send(struct request *r)
{
	file_send_attrs(r, NULL);
}

void
file_send_size(struct request *r)
{
	debug("truncating at %llu", (unsigned long long)r->a.off);
	request_fsetsize(r->sink, r->a.id, file_handle_of(r), r->a.off);
}

/* Hosts compare the file again after it. */
void
file_send_own_attrs(struct request *r)
{
	file_send_attrs(r, &r->file->a);
	r->file->seen_attrs.flags = 0;
}

void
file_send_stale(struct request *r, unsigned int number)
{
	char *name = temp_name_new(r->file->dst);

	temp_name_set_number(name, number);
	if (op_info_of(&r->a)->message == SFTP_REMOVE)
		debug("removing stale temporary file \"%s\"", name);
	request_path(r->sink, r->a.id, op_info_of(&r->a)->message, name, NULL);
	free(name);
}

void
file_send_open_read(struct request *r)
{
	file_send_open(r, file_path_of(r), SSH2_FXF_READ, NULL);
}

void
file_send_open(struct request *r, const char *path, u_int flags,
    const Attrib *attrs)
{
	request_open(r->sink, r->a.id, path, flags, attrs);
}

void
file_send_read(struct request *r)
{
	debug3("Request range %llu -> %llu", (unsigned long long)r->a.off,
	    (unsigned long long)r->a.off + r->a.len - 1);
	request_read(r->sink, r->a.id, file_handle_of(r), r->a.off, r->a.len);
}

int
file_note_status(struct request *r)
{
	u_int *first = r->t->dest_stream != NULL && op_info_of(&r->a)->to_dest ?
	    &r->file->dest_status : &r->file->status;

	if (*first != SSH2_FX_OK)
		return 0;
	*first = r->status == SSH2_FX_OK ? SSH2_FX_FAILURE : r->status;
	return 1;
}

void
file_report_error(struct request *r, const struct op_handler *h)
{
	const char *why = fx2txt(r->status);

	if (h->error != NULL && (h->flags & NAMES_PATH) != 0)
		file_message(r->file, (h->flags & IS_LAST) != 0,
		    SYSLOG_LEVEL_ERROR, "%s \"%s\": %s", h->error,
		    file_path_of(r), why);
	else if (h->error != NULL)
		file_error(r->file, "%s: %s", h->error, why);
	if ((h->flags & IS_DATA) != 0)
		(void)file_note_status(r);
	if ((h->flags & FAILS) != 0)
		r->file->failed = 1;
	if (h->fail != NULL)
		h->fail(r);
}

void
file_take_handle(struct request *r)
{
	struct sftp_stream *stream = r->t->stream;
	struct handle *handle = file_handle_of(r);

	stream_check_reply(stream, reply_get_handle(r->m, handle), "handle");
	if (handle->len > HANDLE_MAX)
		stream_fatal(stream, "Server sent a handle of %zu bytes for "
		    "\"%s\"; at most %d are allowed", handle->len,
		    r->file->src, HANDLE_MAX);
}

void
file_take_type(struct request *r)
{
	Attrib found;

	file_parse_attrs(r, &found);
	if ((found.flags & SSH2_FILEXFER_ATTR_PERMISSIONS) == 0 ||
	    S_ISREG(found.perm))
		r->said.result = RESULT_FAILED;
}

void
file_take_new_dir(struct request *r)
{
	r->file->is_new = 1;
}

void
file_take_dir(struct request *r)
{
	struct file *file = r->file;
	Attrib found;

	file_parse_attrs(r, &found);
	if (S_ISDIR(found.perm))
		return;
	file_error(file, "\"%s\" exists but is not a directory", file->dst);
	file->failed = 1;
	r->said.result = RESULT_FAILED;
}

void
file_fail_stat(struct request *r)
{
	struct file *file = r->file;
	int is_absent = r->status == SSH2_FX_NO_SUCH_FILE;

	if (sched_info(r->a.entry).kind != KIND_FILE) {
		file_error(file, "stat remote: %s", fx2txt(r->status));
		file->failed = 1;
		return;
	}
	file->sparse &= is_absent;
	file->open_truncates |= is_absent;
}

int
file_enter(struct transfer *t, struct file *dir, int is_dir)
{
	if (dir->depth >= FILE_DEPTH_MAX) {
		file_error(dir, "Maximum directory depth exceeded: %d levels",
		    dir->depth);
		return -1;
	}
	if (!is_dir) {
		file_error(dir, "\"%s\" is not a directory", dir->src);
		return -1;
	}
	if (t->print && t->print != SFTP_PROGRESS_ONLY)
		file_message(dir, 0, MESSAGE_STDOUT, "%s %s\n",
		    t->ops->is_put ? "Entering" : "Retrieving", dir->src);
	return 0;
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
file_report_same_file(struct file *file)
{
	file_error(file,
	    "\"%s\" changed while it was copied, or \"%s\" is the same " "file",
	    file->src, file->dst);
	file->failed = 1;
}

void
file_note_possible_source(struct request *r, const Attrib *found)
{
	if (file_is_same(found, &r->file->a))
		r->file->possible_source = r->said.possible_source = 1;
}

void
file_take_source(struct request *r)
{
	Attrib now;

	file_parse_attrs(r, &now);
	if (!file_is_same(&now, &r->file->a))
		file_report_same_file(r->file);
}

void
file_parse_attrs(struct request *r, Attrib *a)
{
	stream_check_reply(r->t->stream, decode_attrib(r->m, a), "attributes");
}

void
file_parse_data(struct request *r, uint32_t most, const u_char **p, size_t *n)
{
	struct sftp_stream *stream = r->t->stream;

	stream_check_reply(stream, sshbuf_get_string_direct(r->m, p, n),
	    "data");
	if (*n > most)
		stream_fatal(stream, "Received more data than asked for "
		    "%zu > %u", *n, most);
}

void
file_set_times(struct file *file, int after)
{
	struct timeval tv[2] = { { .tv_sec = file->a.atime },
	    { .tv_sec = file->a.mtime } };

	if ((file->a.flags & SSH2_FILEXFER_ATTR_ACMODTIME) != 0 &&
	    utimes(file->dst, tv) == -1)
		file_message(file, after, SYSLOG_LEVEL_ERROR,
		    "local set times %s\"%s\": %s", after ? "on " : "",
		    file->dst, strerror(errno));
}

void
file_apply_attrs(struct file *file, int fd)
{
	struct timespec tv[2] = { { .tv_sec = file->a.atime },
	    { .tv_sec = file->a.mtime } };

	if ((file->a.flags & SSH2_FILEXFER_ATTR_PERMISSIONS) != 0 &&
	    fchmod(fd, file->a.perm & 0777) == -1)
		file_error(file, "local chmod \"%s\": %s", file->dst,
		    strerror(errno));
	if ((file->a.flags & SSH2_FILEXFER_ATTR_ACMODTIME) != 0 &&
	    futimens(fd, tv) == -1)
		file_error(file, "local set times \"%s\": %s", file->dst,
		    strerror(errno));
}
