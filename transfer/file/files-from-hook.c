/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See files-from-hook.h. */

#include "includes.h"

#include <sys/types.h>
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "log.h"
#include "misc.h"
#include "xmalloc.h"

#include "file-hook.h"
#include "files-from-hook.h"
#include "lines.h"

/* Directories are found by their names: 256 KiB, as far as it is used */
#define BUCKETS	(32 * 1024)

/* Files that are not printed, at most as many as a plan has jobs, likewise */
#define FILE_BUCKETS	(4 * 1024)

/* A bad line is shown as far as this, in bytes. */
#define SHOWN	80

extern char *__progname;

/* A directory on the way to a name, or one that is named. The root is none. */
struct parent_dir {
	struct parent_dir *next;	/* of a bucket; later, that are left */
	struct parent_dir *parent;		/* NULL: the root */
	struct file *first, **end;	/* that wait for it to be made */
	enum { DIR_ASKED, DIR_READY, DIR_FAILED } make_state;
	uint32_t nsubdirs;	/* directories in it, not left */
	u_int	 flags, perm, atime, mtime;
	int	 is_new;	/* the target did not have it before */
	char	 name[];
};

static struct {
	int	 fd;			/* -1: no list */
	const char *path;		/* for texts */
	const char *target;
	int	 deep;
	struct lines *lines;

	struct file *root;
	struct sched_entry *entry;		/* its second half, or NULL */
	enum { LIST_READING, LIST_DRAINING, LIST_ENDING_DIRS } state;
	int	 is_paused;
	struct parent_dir *bucket[BUCKETS];
	struct parent_dir *dirs_to_end;	/* whose turn to be left it is */
	/* by their names in one case */
	struct file *file_buckets[FILE_BUCKETS];
} list = { .fd = -1 };

/* Options */

static void
refuse_list(const char *path, const char *why)
{
	fprintf(stderr, "%s: --files-from \"%s\": %s\n", __progname, path, why);
	exit(1);
}

void
files_from_open(const char *path, int nul, int deep, const char *target)
{
	int is_input = strcmp(path, "-") == 0;
	struct stat sb;

	list.path = is_input ? "standard input" : path;
	list.fd = is_input ? dup(STDIN_FILENO) : open(path, O_RDONLY);
	if (list.fd == -1 || fcntl(list.fd, F_SETFD, FD_CLOEXEC) == -1 ||
	    fstat(list.fd, &sb) == -1)
		refuse_list(path, strerror(errno));
	if (S_ISDIR(sb.st_mode))
		refuse_list(path, strerror(EISDIR));
	list.deep = deep;
	list.target = target;
	if ((list.lines = lines_new(nul ? '\0' : '\n')) == NULL)
		refuse_list(path, strerror(ENOMEM));
}

int
files_from_is_wanted(void)
{
	return list.lines != NULL;
}

const char *
files_from_target(void)
{
	return list.target;
}

/* scp's exit status; sftp has no lists, and no such variable. */
extern int errs __attribute__((weak));

int
files_from_upload_dir(struct sftp_conn *conn, const char *src, const char *dst,
    int preserve, int print, int resume, int sync, int follow, int inplace)
{
	int r = sftp_upload_dir(conn, src, dst, preserve, print, resume, sync,
	    follow, inplace);

	if (r == 0 || !files_from_is_wanted())
		return r;
	errs = 1;
	return 0;
}

int
files_from_refuse(const char *src)
{
	if (src == NULL)
		error("--files-from cannot be combined with -l, -X or "
		    "Hayate=no");
	else
		error("--files-from: source \"%s\" is not a directory", src);
	return -1;
}

/* Paths */

/* Below a root; "" is the root itself. */
static char *
path_below(const char *root, const char *name)
{
	return *name == '\0' ? xstrdup(root) : sftp_path_append(root, name);
}

static struct file *
new_listed_file(const char *name, int depth, enum file_role role)
{
	struct file *file = file_new(path_below(list.root->src, name),
	    path_below(list.root->dst, name), depth);

	file->role = role;
	return file;
}

/* The caller frees it. */
static char *
name_of_dir(const struct parent_dir *p)
{
	char *up, *name;

	if (p->parent == NULL)
		return xstrdup(p->name);
	up = name_of_dir(p->parent);
	xasprintf(&name, "%s/%s", up, p->name);
	free(up);
	return name;
}

static int
depth_of_dir(const struct parent_dir *p)
{
	int depth = 0;

	for (; p != NULL; p = p->parent)
		depth++;
	return depth;
}

/* Directories */

static struct parent_dir **
dir_bucket(const struct parent_dir *up, const char *name)
{
	return &list.bucket[(file_hash(name, 0) ^
	    (uint32_t)((uintptr_t)up / sizeof(*up)) * 0x9e3779b1U) % BUCKETS];
}

static struct parent_dir *
find_dir(const struct parent_dir *up, const char *name)
{
	struct parent_dir *p = *dir_bucket(up, name);

	while (p != NULL && (p->parent != up || strcmp(p->name, name) != 0))
		p = p->next;
	return p;
}

static struct parent_dir *
new_dir(struct parent_dir *up, const char *name)
{
	size_t len = strlen(name) + 1;
	struct parent_dir *p = xcalloc(1, sizeof(*p) + len), **bucket;

	memcpy(p->name, name, len);
	p->end = &p->first;
	p->parent = up;
	if (up != NULL)
		up->nsubdirs++;
	bucket = dir_bucket(up, name);
	p->next = *bucket;
	*bucket = p;
	return p;
}

static void
stop_waiting(struct parent_dir *p, struct file *file)
{
	*file->pprev = file->next;
	if (file->next != NULL)
		file->next->pprev = file->pprev;
	else
		p->end = file->pprev;
	file->pprev = NULL;
}

/* The entry goes on when the directory has been made. */
static void
wait_for_dir(struct transfer *t, struct parent_dir *p, struct file *file,
    struct sched_entry *j)
{
	if (p == NULL || p->make_state != DIR_ASKED)
		return;
	file->entry = j;
	file->next = NULL;
	file->pprev = p->end;
	*p->end = file;
	p->end = &file->next;
	sched_hold(t->sched, j, 1);
}

/* What the server has is looked up first. */
static struct sched_entry *
add_lookup(struct transfer *t, struct file *file)
{
	t->count.unlisted++;
	return file_add(t, list.entry, KIND_NAME, file, 0);
}

static void
add_parent_dir(struct transfer *t, struct parent_dir *p)
{
	char *name = name_of_dir(p);
	struct file *file = new_listed_file(name, depth_of_dir(p),
	    FILE_PARENT_DIR);

	file->parent_dir = p;
	wait_for_dir(t, p->parent, file, t->ops->is_put ?
	    file_add(t, list.entry, KIND_DIR_NO_LIST, file, 0) :
	    add_lookup(t, file));
	free(name);
}

/* The directory with this name, which is going to be made; NULL: the root */
static struct parent_dir *
find_or_make_dir(struct transfer *t, char *name)
{
	struct parent_dir *up = NULL, *p;
	char *part, *rest = name;

	while ((part = strsep(&rest, "/")) != NULL && *part != '\0') {
		if ((p = find_dir(up, part)) == NULL) {
			p = new_dir(up, part);
			add_parent_dir(t, p);
		}
		up = p;
	}
	return up;
}

/* The directory that the name is in */
static struct parent_dir *
parent_dir_of(struct transfer *t, const char *name)
{
	char *copy = xstrdup(name), *slash = strrchr(copy, '/');
	struct parent_dir *p = NULL;

	if (slash != NULL) {
		*slash = '\0';
		p = find_or_make_dir(t, copy);
	}
	free(copy);
	return p;
}

/* Names */

static struct file **
find_bucket_ignoring_case(const struct file *file)
{
	return &list.file_buckets[file_hash(file->dst, 1) % FILE_BUCKETS];
}

void
files_from_serialize_case(struct file *file, struct sched_entry *j)
{
	struct file **bucket = find_bucket_ignoring_case(file), *other;

	if (!files_from_is_wanted())
		return;
	for (other = *bucket; other != NULL; other = other->next_same_hash) {
		if (strcasecmp(other->dst, file->dst) != 0)
			continue;
		sched_set_exclusive(other->entry);
		sched_set_exclusive(j);
	}
	file->entry = j;
	file->next_same_hash = *bucket;
	*bucket = file;
}

static void
add_failed(struct transfer *t, struct file *file)
{
	file->failed = 1;
	t->ret = -1;
	file_add(t, list.entry, KIND_MESSAGE, file, 0);
}

static void
add_bad_line(struct transfer *t, const struct line *line, const char *why)
{
	struct file *file = new_listed_file(line->name, 1, FILE_NAMED);

	free(file->dst);
	file->dst = NULL;
	file_error(file, "--files-from \"%s\", line %llu: \"%.*s\"%s: %s",
	    list.path, (unsigned long long)line->number, SHOWN, line->name,
	    strlen(line->name) > SHOWN ? "..." : "", why);
	add_failed(t, file);
}

/* Returns what a local name is, or KIND_MESSAGE with a text. */
static enum sched_kind
stat_local_name(struct file *file, struct stat *sb)
{
	if (stat(file->src, sb) == -1) {
		file_error(file, "stat local \"%s\": %s", file->src,
		    strerror(errno));
		return KIND_MESSAGE;
	}
	if (S_ISDIR(sb->st_mode))
		return list.deep ? KIND_DIR : KIND_DIR_NO_LIST;
	if (S_ISREG(sb->st_mode))
		return KIND_FILE;
	file_error(file, "local \"%s\" is not a regular file", file->src);
	return KIND_MESSAGE;
}

static void
add_local_name(struct transfer *t, const struct line *line, struct file *file)
{
	struct stat sb;
	enum sched_kind kind = stat_local_name(file, &sb);
	struct parent_dir *p;
	struct sched_entry *j;
	char *name;

	if (kind == KIND_MESSAGE) {
		add_failed(t, file);
		return;
	}
	if (kind == KIND_DIR_NO_LIST) {
		name = xstrdup(line->name);
		find_or_make_dir(t, name);
		free(name);
		file_free(file);
		return;
	}
	p = parent_dir_of(t, line->name);
	file->parent_dir = p;
	j = file_add(t, list.entry, kind, file, kind == KIND_FILE ?
	    sb.st_size : 0);
	if (kind == KIND_FILE)
		files_from_serialize_case(file, j);
	wait_for_dir(t, p, file, j);
}

static void
add_listed_name(struct transfer *t, const struct line *line)
{
	struct file *file;

	if (line->depth > FILE_DEPTH_MAX) {
		add_bad_line(t, line, "too many directories");
		return;
	}
	if (line->depth == 0 && !list.deep)
		return;			/* The root is made in any case. */
	file = new_listed_file(line->name, line->depth, FILE_NAMED);
	if (t->ops->is_put) {
		add_local_name(t, line, file);
		return;
	}
	file->parent_dir = parent_dir_of(t, line->name);
	wait_for_dir(t, file->parent_dir, file, add_lookup(t, file));
}

/* The list */

/* Returns 1 if bytes can be read without waiting for them, or the end can. */
static int
is_readable(void)
{
	struct pollfd pfd = { list.fd, POLLIN, 0 };

	return poll(&pfd, 1, 0) == 1;
}

/* Returns 1 if something has arrived. An error is the end. */
static int
read_more(struct transfer *t)
{
	size_t room;
	char *p = lines_room(list.lines, &room);
	ssize_t n;

	if (!is_readable())
		return 0;
	n = read(list.fd, p, room);
	if (n == -1 && (errno == EINTR || errno == EAGAIN))
		return 0;
	if (n == -1) {
		error("--files-from \"%s\": %s", list.path, strerror(errno));
		t->ret = -1;
	}
	lines_filled(list.lines, n == -1 ? 0 : n);
	return 1;
}

static void
pause_list(struct transfer *t)
{
	sched_children(t->sched, list.entry, CHILDREN_PAUSE);
	list.is_paused = 1;
}

static void
read_next_line(struct transfer *t)
{
	struct line line;

	do {
		if (lines_next(list.lines, &line)) {
			if (line.why != NULL)
				add_bad_line(t, &line, line.why);
			else
				add_listed_name(t, &line);
			return;
		}
	} while (!lines_ended(list.lines) && read_more(t));
	if (lines_ended(list.lines))
		list.state = LIST_DRAINING;
	else
		pause_list(t);
}

/* Attributes of the directories, when nothing below them is in flight */

static void
queue_dir_end(struct parent_dir *p)
{
	p->next = list.dirs_to_end;
	list.dirs_to_end = p;
}

static void
begin_dir_ends(void)
{
	struct parent_dir *p, *next;
	size_t i;

	list.state = LIST_ENDING_DIRS;
	for (i = 0; i < BUCKETS; i++) {
		for (p = list.bucket[i]; p != NULL; p = next) {
			next = p->next;
			if (p->nsubdirs == 0)
				queue_dir_end(p);
		}
		list.bucket[i] = NULL;
	}
}

static void
dir_has_ended(struct parent_dir *p)
{
	struct parent_dir *up = p->parent;

	if (up != NULL && --up->nsubdirs == 0)
		queue_dir_end(up);
	free(p);
}

/* Returns 1 if the directory keeps the attributes that it has. */
static int
keeps_attrs(const struct transfer *t, const struct parent_dir *p)
{
	return p->make_state != DIR_READY || (!p->is_new && HAYATE_OPENSSH >=
	    1003 && (t->ops->is_put || t->dest_stream != NULL) && !t->preserve);
}

static void
end_dir(struct transfer *t, struct parent_dir *p)
{
	struct file *file;
	char *name;

	if (keeps_attrs(t, p)) {
		dir_has_ended(p);
		return;
	}
	name = name_of_dir(p);
	file = new_listed_file(name, depth_of_dir(p), FILE_PARENT_DIR);
	file->parent_dir = p;
	file->a.flags = p->flags;
	file->a.perm = p->perm;
	file->a.atime = p->atime;
	file->a.mtime = p->mtime;
	file_add(t, list.entry, KIND_DIR_END, file, 0);
	free(name);
}

static void
end_next_dir(struct transfer *t)
{
	struct parent_dir *p = list.dirs_to_end;

	if (p != NULL) {
		list.dirs_to_end = p->next;
		end_dir(t, p);
	} else if (sched_info(list.entry).pending_children > 0) {
		pause_list(t);
	} else {
		t->count.unlisted--;
		sched_children(t->sched, list.entry, CHILDREN_COMPLETE);
	}
}

/* Interface */

void
files_from_begin(struct transfer *t, struct file *root)
{
	list.root = root;
	if (!t->ops->is_put)
		t->count.unlisted++;	/* not known when the root is made */
}

int
files_from_is_root(const struct file *file)
{
	return file == list.root;
}

void
files_from_add(struct transfer *t, struct sched_entry *j)
{
	list.entry = j;
	if (list.state == LIST_READING)
		read_next_line(t);
	else if (list.state == LIST_ENDING_DIRS)
		end_next_dir(t);
	else if (sched_info(j).pending_children > 0)
		pause_list(t);
	else
		begin_dir_ends();
}

int
files_from_poll(struct transfer *t)
{
	if (!list.is_paused || list.entry == NULL)
		return 0;
	if (list.state == LIST_READING ? !is_readable() :
	    list.dirs_to_end == NULL &&
	    sched_info(list.entry).pending_children > 0)
		return 0;
	list.is_paused = 0;
	sched_children(t->sched, list.entry, CHILDREN_RESUME);
	return 1;
}

int
files_from_fd(void)
{
	return list.is_paused && list.entry != NULL && list.state ==
	    LIST_READING ? list.fd : -1;
}

static struct parent_dir *
parent_of_file(const struct file *file)
{
	return file->role == FILE_PARENT_DIR ? file->parent_dir->parent :
	    file->parent_dir;
}

int
files_from_entry_begins(struct file *file, struct sched_entry *j)
{
	const struct parent_dir *up;

	if (file->role == FILE_OF_TREE || sched_info(j).kind == KIND_LINK)
		return 0;
	up = parent_of_file(file);
	if (sched_info(j).kind == KIND_FILE)
		file->is_new = up == NULL ? list.root->is_new : up->is_new;
	if (up == NULL || up->make_state != DIR_FAILED)
		return 0;
	if (file->role == FILE_NAMED) {
		file_error(file, "\"%s\" is not copied: its directory could "
		    "not be created", file->dst);
		file->failed = 1;
	}
	sched_fail(j);
	return -1;
}

/* It is known what became of the directory. */
static void
set_dir_state(struct transfer *t, struct file *file, enum sched_kind kind)
{
	struct parent_dir *p = file->parent_dir;
	struct file *next;

	p->make_state = DIR_READY;
	if (kind != KIND_DIR_NO_LIST) {
		/* It is not there, as each name below it is going to say. */
		file->failed = 0;
		p->make_state = DIR_FAILED;
	} else if (file->failed || (p->parent != NULL &&
	    p->parent->make_state == DIR_FAILED))
		p->make_state = DIR_FAILED;
	p->flags = file->a.flags;
	p->perm = file->a.perm;
	p->atime = file->a.atime;
	p->mtime = file->a.mtime;
	p->is_new |= file->is_new;
	while ((next = p->first) != NULL) {
		stop_waiting(p, next);
		sched_hold(t->sched, next->entry, 0);
	}
}

/*
 * A directory that is named was made. The request that makes it as the way to
 * another name comes too late then, and finds it.
 */
static void
note_dir_made(const struct file *file)
{
	struct parent_dir *p = find_dir(file->parent_dir,
	    file_base_name(file->dst));

	if (p != NULL)
		p->is_new = 1;
}

void
files_from_entry_ended(struct transfer *t, struct file *file,
    struct sched_entry *j)
{
	if (file == list.root && sched_info(j).kind == KIND_DIR_END)
		list.entry = NULL;
	if (file->role == FILE_NAMED && sched_info(j).kind ==
	    KIND_DIR_NO_LIST &&
	    file->is_new)
		note_dir_made(file);
	if (file->role != FILE_PARENT_DIR)
		return;
	if (sched_info(j).kind == KIND_DIR_END)
		dir_has_ended(file->parent_dir);
	else
		set_dir_state(t, file, sched_info(j).kind);
}

void
files_from_entry_printed(struct file *file)
{
	struct file **place;

	if (file->pprev != NULL)
		stop_waiting(parent_of_file(file), file);
	if (!files_from_is_wanted() || file->dst == NULL)
		return;
	for (place = find_bucket_ignoring_case(file); *place != NULL; place =
	    &(*place)->next_same_hash) {
		if (*place == file) {
			*place = file->next_same_hash;
			break;
		}
	}
}

/* A directory that is named is only made. Others may have it on their way. */
static enum sched_kind
adopt_named_dir(struct file *file)
{
	const char *name = file_base_name(file->dst);
	struct parent_dir *up = file->parent_dir;

	if (find_dir(up, name) == NULL) {
		file->parent_dir = new_dir(up, name);
		file->role = FILE_PARENT_DIR;
	}
	return KIND_DIR_NO_LIST;
}

enum sched_kind
files_from_kind(struct file *file, enum sched_kind kind)
{
	if (file->role == FILE_PARENT_DIR)
		return kind == KIND_DIR ? KIND_DIR_NO_LIST : KIND_MESSAGE;
	if (file->role == FILE_NAMED && kind == KIND_MESSAGE) {
		file_error(file, "remote \"%s\" is not a regular file",
		    file->src);
		file->failed = 1;
	}
	if (file->role == FILE_NAMED && kind == KIND_DIR && !list.deep)
		return adopt_named_dir(file);
	return kind;
}
