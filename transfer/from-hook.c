/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See from-hook.h. */

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
#include "from-hook.h"
#include "lines.h"
#include "steps.h"

/* Directories are found by their names: 256 KiB, as far as it is used */
#define BUCKETS	(32 * 1024)

/* Files that are not printed, at most as many as a plan has jobs, likewise */
#define FILES	(4 * 1024)

/* A bad line is shown as far as this, in bytes. */
#define SHOWN	80

extern char *__progname;

/* A directory on the way to a name, or one that is named. The root is none. */
struct place {
	struct place *next;		/* of a bucket; later, that are left */
	struct place *up;		/* NULL: the root */
	struct file *first, **end;	/* that wait for it to be made */
	enum { ASKED, READY, FAILED } state;
	uint32_t below;			/* directories in it, not left */
	u_int	 flags, perm, atime, mtime;
	int	 made;			/* the target did not have it before */
	char	 name[];
};

static struct {
	int	 fd;			/* -1: no list */
	const char *path;		/* for texts */
	const char *target;
	int	 deep;
	struct lines *lines;

	struct file *root;
	struct job *job;		/* its second half, or NULL */
	enum { READING, DRAINING, LEAVING } state;
	int	 is_paused;
	struct place *bucket[BUCKETS];
	struct place *left;		/* whose turn to be left it is */
	struct file *files[FILES];	/* by their names in one case */
} list = { .fd = -1 };

/* Options */

static void
refuse(const char *path, const char *why)
{
	fprintf(stderr, "%s: --files-from \"%s\": %s\n", __progname, path, why);
	exit(1);
}

void
from_open(const char *path, int nul, int deep, const char *target)
{
	int is_input = strcmp(path, "-") == 0;
	struct stat sb;

	list.path = is_input ? "standard input" : path;
	list.fd = is_input ? dup(STDIN_FILENO) : open(path, O_RDONLY);
	if (list.fd == -1 || fcntl(list.fd, F_SETFD, FD_CLOEXEC) == -1 ||
	    fstat(list.fd, &sb) == -1)
		refuse(path, strerror(errno));
	if (S_ISDIR(sb.st_mode))
		refuse(path, strerror(EISDIR));
	list.deep = deep;
	list.target = target;
	if ((list.lines = lines_new(nul ? '\0' : '\n')) == NULL)
		refuse(path, strerror(ENOMEM));
}

int
from_is_wanted(void)
{
	return list.lines != NULL;
}

const char *
from_target(void)
{
	return list.target;
}

/* scp's exit status; sftp has no lists, and no such variable. */
extern int errs __attribute__((weak));

int
from_upload_dir(struct sftp_conn *conn, const char *src, const char *dst,
    int preserve, int print, int resume, int sync, int follow, int inplace)
{
	int r = sftp_upload_dir(conn, src, dst, preserve, print, resume, sync,
	    follow, inplace);

	if (r == 0 || !from_is_wanted())
		return r;
	errs = 1;
	return 0;
}

int
from_refuse(const char *src)
{
	if (src == NULL)
		error("--files-from copies many files at once, which is left "
		    "out with -l, -X and Hayate no");
	else
		error("--files-from: \"%s\" is not a directory, which the "
		    "names of the list would be below", src);
	return -1;
}

/* Paths */

/* Below a root; "" is the root itself. */
static char *
below(const char *root, const char *name)
{
	return *name == '\0' ? xstrdup(root) : sftp_path_append(root, name);
}

static struct file *
new_file(const char *name, int depth, enum file_role role)
{
	struct file *file = file_new(below(list.root->src, name),
	    below(list.root->dst, name), depth);

	file->role = role;
	return file;
}

/* The caller frees it. */
static char *
name_of(const struct place *p)
{
	char *up, *name;

	if (p->up == NULL)
		return xstrdup(p->name);
	up = name_of(p->up);
	xasprintf(&name, "%s/%s", up, p->name);
	free(up);
	return name;
}

static int
depth_of(const struct place *p)
{
	int depth = 0;

	for (; p != NULL; p = p->up)
		depth++;
	return depth;
}

/* Directories */

static struct place **
bucket_of(const struct place *up, const char *name)
{
	return &list.bucket[(file_hash(name, 0) ^
	    (uint32_t)((uintptr_t)up / sizeof(*up)) * 0x9e3779b1U) % BUCKETS];
}

static struct place *
find_place(const struct place *up, const char *name)
{
	struct place *p = *bucket_of(up, name);

	while (p != NULL && (p->up != up || strcmp(p->name, name) != 0))
		p = p->next;
	return p;
}

static struct place *
new_place(struct place *up, const char *name)
{
	size_t len = strlen(name) + 1;
	struct place *p = xcalloc(1, sizeof(*p) + len), **bucket;

	memcpy(p->name, name, len);
	p->end = &p->first;
	p->up = up;
	if (up != NULL)
		up->below++;
	bucket = bucket_of(up, name);
	p->next = *bucket;
	*bucket = p;
	return p;
}

static void
stop_waiting(struct place *p, struct file *file)
{
	*file->back = file->next;
	if (file->next != NULL)
		file->next->back = file->back;
	else
		p->end = file->back;
	file->back = NULL;
}

/* The job goes on when the directory has been made. */
static void
wait_for(struct run *t, struct place *p, struct file *file, struct job *j)
{
	if (p == NULL || p->state != ASKED)
		return;
	file->job = j;
	file->next = NULL;
	file->back = p->end;
	*p->end = file;
	p->end = &file->next;
	plan_wait(t->s, j);
}

/* What the server has is looked up first. */
static struct job *
add_link(struct run *t, struct file *file)
{
	struct job *j = file_add(t, list.job, PLAN_LINK, file, 0);

	t->count.unread++;
	plan_look_ahead(j);
	return j;
}

static void
make(struct run *t, struct place *p)
{
	char *name = name_of(p);
	struct file *file = new_file(name, depth_of(p), FILE_ON_WAY);

	file->place = p;
	wait_for(t, p->up, file, t->side->is_put ?
	    file_add(t, list.job, PLAN_MADE, file, 0) : add_link(t, file));
	free(name);
}

/* The directory with this name, which is going to be made; NULL: the root */
static struct place *
place_of(struct run *t, char *name)
{
	struct place *up = NULL, *p;
	char *part, *rest = name;

	while ((part = strsep(&rest, "/")) != NULL && *part != '\0') {
		if ((p = find_place(up, part)) == NULL) {
			p = new_place(up, part);
			make(t, p);
		}
		up = p;
	}
	return up;
}

/* The directory that the name is in */
static struct place *
parent_of(struct run *t, const char *name)
{
	char *copy = xstrdup(name), *slash = strrchr(copy, '/');
	struct place *p = NULL;

	if (slash != NULL) {
		*slash = '\0';
		p = place_of(t, copy);
	}
	free(copy);
	return p;
}

/* Names */

static struct file **
files_like(const struct file *file)
{
	return &list.files[file_hash(file->dst, 1) % FILES];
}

void
from_tell_apart(struct file *file, struct job *j)
{
	struct file **bucket = files_like(file), *other;

	if (!from_is_wanted())
		return;
	for (other = *bucket; other != NULL; other = other->like) {
		if (strcasecmp(other->dst, file->dst) != 0)
			continue;
		steps_go_alone(other->job);
		steps_go_alone(j);
	}
	file->job = j;
	file->like = *bucket;
	*bucket = file;
}

static void
fail(struct run *t, struct file *file)
{
	file->failed = 1;
	t->ret = -1;
	file_add(t, list.job, PLAN_NOTE, file, 0);
}

static void
add_bad(struct run *t, const struct line *line, const char *why)
{
	struct file *file = new_file(line->name, 1, FILE_NAMED);

	free(file->dst);
	file->dst = NULL;
	SAY(file, "--files-from \"%s\", line %llu: \"%.*s\"%s: %s", list.path,
	    (unsigned long long)line->number, SHOWN, line->name,
	    strlen(line->name) > SHOWN ? "..." : "", why);
	fail(t, file);
}

/* Returns what a local name is, or PLAN_NOTE with a text. */
static enum plan_kind
look_up(struct file *file, struct stat *sb)
{
	if (stat(file->src, sb) == -1) {
		SAY(file, "stat local \"%s\": %s", file->src, strerror(errno));
		return PLAN_NOTE;
	}
	if (S_ISDIR(sb->st_mode))
		return list.deep ? PLAN_DIR : PLAN_MADE;
	if (S_ISREG(sb->st_mode))
		return PLAN_FILE;
	SAY(file, "local \"%s\" is not a regular file", file->src);
	return PLAN_NOTE;
}

static void
add_local(struct run *t, const struct line *line, struct file *file)
{
	struct stat sb;
	enum plan_kind kind = look_up(file, &sb);
	struct place *p;
	struct job *j;
	char *name;

	if (kind == PLAN_NOTE) {
		fail(t, file);
		return;
	}
	if (kind == PLAN_MADE) {
		name = xstrdup(line->name);
		place_of(t, name);
		free(name);
		file_free(file);
		return;
	}
	p = parent_of(t, line->name);
	file->place = p;
	j = file_add(t, list.job, kind, file, kind == PLAN_FILE ?
	    sb.st_size : 0);
	if (kind == PLAN_FILE)
		from_tell_apart(file, j);
	wait_for(t, p, file, j);
}

static void
add_name(struct run *t, const struct line *line)
{
	struct file *file;

	if (line->depth > FILE_DEPTH_MAX) {
		add_bad(t, line, "too many directories");
		return;
	}
	if (line->depth == 0 && !list.deep)
		return;			/* The root is made in any case. */
	file = new_file(line->name, line->depth, FILE_NAMED);
	if (t->side->is_put) {
		add_local(t, line, file);
		return;
	}
	file->place = parent_of(t, line->name);
	wait_for(t, file->place, file, add_link(t, file));
}

/* The list */

/* Returns 1 if bytes can be read without waiting for them, or the end can. */
static int
has_bytes(void)
{
	struct pollfd pfd = { list.fd, POLLIN, 0 };

	return poll(&pfd, 1, 0) == 1;
}

/* Returns 1 if something has come. An error is the end. */
static int
fill(struct run *t)
{
	size_t room;
	char *p = lines_room(list.lines, &room);
	ssize_t n;

	if (!has_bytes())
		return 0;
	n = read(list.fd, p, room);
	if (n == -1 && (errno == EINTR || errno == EAGAIN))
		return 0;
	if (n == -1) {
		error("--files-from \"%s\": %s", list.path, strerror(errno));
		t->ret = -1;
	}
	lines_put(list.lines, n == -1 ? 0 : n);
	return 1;
}

static void
pause_list(struct run *t)
{
	plan_pause(t->s, list.job);
	list.is_paused = 1;
}

static void
read_on(struct run *t)
{
	struct line line;

	do {
		if (lines_next(list.lines, &line)) {
			if (line.why != NULL)
				add_bad(t, &line, line.why);
			else
				add_name(t, &line);
			return;
		}
	} while (!lines_ended(list.lines) && fill(t));
	if (lines_ended(list.lines))
		list.state = DRAINING;
	else
		pause_list(t);
}

/* Attributes of the directories, when nothing below them is under way */

static void
leaves(struct place *p)
{
	p->next = list.left;
	list.left = p;
}

static void
begin_leaving(void)
{
	struct place *p, *next;
	size_t i;

	list.state = LEAVING;
	for (i = 0; i < BUCKETS; i++) {
		for (p = list.bucket[i]; p != NULL; p = next) {
			next = p->next;
			if (p->below == 0)
				leaves(p);
		}
		list.bucket[i] = NULL;
	}
}

static void
has_left(struct place *p)
{
	struct place *up = p->up;

	if (up != NULL && --up->below == 0)
		leaves(up);
	free(p);
}

/* Returns 1 if the directory keeps the attributes that it has. */
static int
keeps_its_own(const struct run *t, const struct place *p)
{
	return p->state != READY || (!p->made && HAYATE_OPENSSH >= 1003 &&
	    (t->side->is_put || t->to != NULL) && !t->preserve);
}

static void
leave(struct run *t, struct place *p)
{
	struct file *file;
	char *name;

	if (keeps_its_own(t, p)) {
		has_left(p);
		return;
	}
	name = name_of(p);
	file = new_file(name, depth_of(p), FILE_ON_WAY);
	file->place = p;
	file->a.flags = p->flags;
	file->a.perm = p->perm;
	file->a.atime = p->atime;
	file->a.mtime = p->mtime;
	file_add(t, list.job, PLAN_LEAVE, file, 0);
	free(name);
}

static void
leave_some(struct run *t)
{
	struct place *p = list.left;

	if (p != NULL) {
		list.left = p->next;
		leave(t, p);
	} else if (plan_pending(list.job) > 0) {
		pause_list(t);
	} else {
		t->count.unread--;
		plan_listed(t->s, list.job);
	}
}

/* Interface */

void
from_begin(struct run *t, struct file *root, struct job *j)
{
	plan_give(j);
	list.root = root;
	if (!t->side->is_put)
		t->count.unread++;	/* not known when the root is made */
}

int
from_is_root(const struct file *file)
{
	return file == list.root;
}

void
from_add(struct run *t, struct job *j)
{
	list.job = j;
	if (list.state == READING)
		read_on(t);
	else if (list.state == LEAVING)
		leave_some(t);
	else if (plan_pending(j) > 0)
		pause_list(t);
	else
		begin_leaving();
}

int
from_look(struct run *t)
{
	if (!list.is_paused || list.job == NULL)
		return 0;
	if (list.state == READING ? !has_bytes() :
	    list.left == NULL && plan_pending(list.job) > 0)
		return 0;
	list.is_paused = 0;
	plan_resume(t->s, list.job);
	return 1;
}

int
from_fd(void)
{
	return list.is_paused && list.job != NULL && list.state == READING ?
	    list.fd : -1;
}

static struct place *
up_of(const struct file *file)
{
	return file->role == FILE_ON_WAY ? file->place->up : file->place;
}

int
from_starts(struct file *file, struct job *j)
{
	const struct place *up;

	if (file->role == FILE_OF_TREE || plan_kind(j) == PLAN_LINK)
		return 0;
	up = up_of(file);
	if (plan_kind(j) == PLAN_FILE)
		file->is_new = up == NULL ? list.root->is_new : up->made;
	if (up == NULL || up->state != FAILED)
		return 0;
	if (file->role == FILE_NAMED) {
		SAY(file, "\"%s\": its directory could not be made", file->dst);
		file->failed = 1;
	}
	plan_fail(j);
	return -1;
}

/* It is known what became of the directory. */
static void
settle(struct run *t, struct file *file, enum plan_kind kind)
{
	struct place *p = file->place;
	struct file *next;

	p->state = READY;
	if (kind != PLAN_MADE) {
		/* It is not there, as each name below it is going to say. */
		file->failed = 0;
		p->state = FAILED;
	} else if (file->failed || (p->up != NULL && p->up->state == FAILED))
		p->state = FAILED;
	p->flags = file->a.flags;
	p->perm = file->a.perm;
	p->atime = file->a.atime;
	p->mtime = file->a.mtime;
	p->made |= file->is_new;
	while ((next = p->first) != NULL) {
		stop_waiting(p, next);
		plan_go(t->s, next->job);
	}
}

static const char *
last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash == NULL ? path : slash + 1;
}

/*
 * A directory that is named was made. The request that makes it as the way to
 * another name comes too late then, and finds it.
 */
static void
note_made(const struct file *file)
{
	struct place *p = find_place(file->place, last_part(file->dst));

	if (p != NULL)
		p->made = 1;
}

void
from_ended(struct run *t, struct file *file, struct job *j)
{
	if (file == list.root && plan_kind(j) == PLAN_LEAVE)
		list.job = NULL;
	if (file->role == FILE_NAMED && plan_kind(j) == PLAN_MADE &&
	    file->is_new)
		note_made(file);
	if (file->role != FILE_ON_WAY)
		return;
	if (plan_kind(j) == PLAN_LEAVE)
		has_left(file->place);
	else
		settle(t, file, plan_kind(j));
}

void
from_printed(struct file *file)
{
	struct file **place;

	if (file->back != NULL)
		stop_waiting(up_of(file), file);
	if (!from_is_wanted() || file->dst == NULL)
		return;
	for (place = files_like(file); *place != NULL; place = &(*place)->like) {
		if (*place == file) {
			*place = file->like;
			break;
		}
	}
}

/* A directory that is named is only made. Others may have it on their way. */
static enum plan_kind
adopt(struct file *file)
{
	const char *name = last_part(file->dst);
	struct place *up = file->place;

	if (find_place(up, name) == NULL) {
		file->place = new_place(up, name);
		file->role = FILE_ON_WAY;
	}
	return PLAN_MADE;
}

enum plan_kind
from_kind(struct file *file, enum plan_kind kind)
{
	if (file->role == FILE_ON_WAY)
		return kind == PLAN_DIR ? PLAN_MADE : PLAN_NOTE;
	if (file->role == FILE_NAMED && kind == PLAN_NOTE) {
		SAY(file, "remote \"%s\" is not a regular file", file->src);
		file->failed = 1;
	}
	if (file->role == FILE_NAMED && kind == PLAN_DIR && !list.deep)
		return adopt(file);
	return kind;
}
