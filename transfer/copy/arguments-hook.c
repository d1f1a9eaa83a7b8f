/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * See arguments-hook.h. A list is a tree without directories: the entries of
 * scheduler.h are files, added as far ahead as AHEAD. The oldest entry is that
 * of the next call. The connection belongs to the list until its last entry is
 * printed.
 *
 * Between two calls SIGINT is blocked while a list is in flight. So a loop that
 * looks whether it was interrupted finds out from the call, which has then
 * waited for all replies.
 */

#include "includes.h"

#include <sys/types.h>
#include <sys/stat.h>

#include <ctype.h>
#include <libgen.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "log.h"
#include "misc.h"
#include "xmalloc.h"

#include "arguments-hook.h"
#include "clock.h"
#include "directions-hook.h"
#include "early-requests-hook.h"
#include "file-hook.h"
#include "files-from-hook.h"
#include "longopt-hook.h"
#include "progress-hook.h"
#include "remote-glob-hook.h"
#include "report-hook.h"
#include "server-hook.h"
#include "transfer-hook.h"

/* Files that are begun before their call: twice what can be in flight */
#define AHEAD	1024

/* Counters of base names; with 1,024 files every fifth is compared in vain. */
#define NAMES	4096

extern volatile sig_atomic_t interrupted;

static struct batch {
	struct transfer t;	/* without a connection: no list */
	char	*dir;			/* of the targets, with its slash */
	char	*const *next, *const *end;	/* not yet added */
	size_t	 jobs;			/* added and not printed */
	int	 result;		/* of the oldest: 1, or -1 failed */
	uint16_t name_counts[NAMES];		/* of them, by base name */
} batch;

/* Names. A server may not tell apart those that differ only in case. */

static uint16_t *
name_counter(struct batch *l, const char *name)
{
	const u_char *p = (const u_char *)name;
	uint32_t hash = 5381;

	for (; *p != '\0'; p++)
		hash = hash * 33 + tolower(*p);
	return &l->name_counts[hash % NAMES];
}

/* Returns 1 if a file of this name is in flight. */
static int
is_name_in_flight(struct batch *l, const char *name)
{
	const struct sched_entry *j;
	const struct file *file;

	if (*name_counter(l, name) == 0)
		return 0;
	for (j = sched_next_in_order(l->t.sched, NULL); j != NULL; j =
	    sched_next_in_order(l->t.sched, j)) {
		file = sched_info(j).user;
		if (strcasecmp(file_base_name(file->src), name) == 0)
			return 1;
	}
	return 0;
}

/* Entries */

/* Returns 0 and the attributes, as far as known, if a list can have it. */
static int
stat_source(const struct transfer *t, const char *path, Attrib *a)
{
	const Attrib *known;
	struct stat sb;

	memset(a, 0, sizeof(*a));
	if (*file_base_name(path) == '\0')
		return -1;
	if (t->ops->is_put) {
		if (stat(path, &sb) == -1 || !S_ISREG(sb.st_mode))
			return -1;
		a->size = sb.st_size;
		return 0;
	}
	if ((known = remote_glob_file(t->conn, path)) == NULL)
		return -1;
	*a = *known;
	return 0;
}

static void
add_listed_file(struct batch *l, const char *src, const Attrib *a)
{
	const char *name = file_base_name(src);
	struct file *file = file_new(xstrdup(src), NULL, 0);

	xasprintf(&file->dst, "%s%s", l->dir, name);
	file->a = *a;
	file_add(&l->t, NULL, KIND_FILE, file,
	    l->t.ops->is_put ||
	    (a->flags & SSH2_FILEXFER_ATTR_SIZE) != 0 ? a->size : 0);
	++*name_counter(l, name);
	l->jobs++;
}

static void
add_ahead(struct batch *l)
{
	Attrib a;

	for (; l->next != l->end && l->jobs < AHEAD; l->next++) {
		if (is_name_in_flight(l, file_base_name(*l->next)) ||
		    stat_source(&l->t, *l->next, &a) != 0)
			return;
		add_listed_file(l, *l->next, &a);
	}
}

/* Lists */

static void
block_interrupt(int how)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigprocmask(how, &set, NULL);
}

/* All is printed. */
static void
end_batch(struct batch *l)
{
	transfer_stop(&l->t);
	free(l->dir);
	memset(l, 0, sizeof(*l));
}

void
args_finish(void)
{
	if (batch.t.conn == NULL)
		return;
	block_interrupt(SIG_UNBLOCK);
	transfer_run(&batch.t, NULL);
	end_batch(&batch);
}

/* Returns 1 if the target is in a directory, under the name of the source. */
static int
keeps_name(const char *src, const char *dst, size_t *dirlen)
{
	size_t n = strlen(file_base_name(src)), len = strlen(dst);

	if (len < n || strcmp(dst + len - n, file_base_name(src)) != 0 ||
	    (len > n && dst[len - n - 1] != '/'))
		return 0;
	*dirlen = len - n;
	return 1;
}

/*
 * For the progress line the total is known from the start: all that the list is
 * going to have. Else files are counted when they are added.
 */
static void
count_batch(struct batch *l, char *const *srcs)
{
	struct file file;
	Attrib a;

	l->t.total_known = 1;
	for (; *srcs != NULL && stat_source(&l->t, *srcs, &a) == 0; srcs++) {
		file.size = a.size;
		file_count(&l->t, &file);
	}
}

/* Begins a list, if at least its first two files can be in flight together. */
static void
begin_batch(struct batch *l, const struct transfer *t, char *const *srcs,
    const char *dst)
{
	size_t dirlen;
	Attrib a;

	if (srcs[1] == NULL || !keeps_name(srcs[0], dst, &dirlen) ||
	    strcasecmp(file_base_name(srcs[0]), file_base_name(srcs[1])) == 0 ||
	    stat_source(t, srcs[1], &a) != 0 || stat_source(t, srcs[0], &a) !=
	    0)
		return;
	l->t = *t;
	l->t.finish = args_finish;
	l->dir = xstrdup(dst);
	l->dir[dirlen] = '\0';
	for (l->next = l->end = srcs; *l->end != NULL; l->end++)
		;
	if (progress_interval() != -1)
		count_batch(l, srcs);
	transfer_start(&l->t);
	debug2_f("from \"%s\" on, into \"%s\"", srcs[0], l->dir);
}

/* Returns the entry of this file, which is the next to be printed, or NULL. */
static struct file *
oldest_file(const struct batch *l, const char *src, const char *dst)
{
	struct sched_entry *j = sched_next_in_order(l->t.sched, NULL);
	struct file *file = j != NULL ? sched_info(j).user : NULL;

	return file != NULL && strcmp(file->src, src) == 0 &&
	    strcmp(file->dst, dst) == 0 ? file : NULL;
}

/* Copies the oldest file of the list. Returns 0, or -1 if it failed. */
static int
copy_oldest_file(struct batch *l, struct file *file)
{
	int is_put = l->t.ops->is_put, result;

	--*name_counter(l, file_base_name(file->src));
	l->jobs--;
	l->result = 0;
	file->result = &l->result;
	transfer_run(&l->t, &l->result);
	result = l->result;
	if (result == -1 || !l->t.in_place)
		progress_clear(&l->t);	/* The caller is going to print. */
	block_interrupt(SIG_BLOCK);
	if (sched_is_done(l->t.sched) || interrupted)
		args_finish();
	return result == -1 || (interrupted && !is_put) ? -1 : 0;
}

/*
 * Copies srcs[0] if a list is in flight or can begin. Returns 0 or -1 as in
 * upstream, and 1 if upstream's function has to copy: nothing is in flight.
 */
static int
copy_in_batch(const struct transfer *t, char *const *srcs, const char *dst)
{
	struct batch *l = &batch;
	struct file *file;

	block_interrupt(SIG_UNBLOCK);
	if (l->t.conn != NULL && (l->t.conn != t->conn ||
	    l->t.dest_conn != t->dest_conn || l->t.ops != t->ops ||
	    oldest_file(l, srcs[0], dst) == NULL))
		args_finish();
	if (l->t.conn == NULL)
		begin_batch(l, t, srcs, dst);
	if (l->t.conn == NULL)
		return 1;
	add_ahead(l);
	if ((file = oldest_file(l, srcs[0], dst)) != NULL)
		return copy_oldest_file(l, file);
	args_finish();
	return 1;
}

/* Upstream's function copies one file. */
static int
copy_stock(const struct transfer *t, const char *src, const char *dst,
    Attrib *a)
{
	if (t->ops == &cross_ops)
		return sftp_crossload(t->conn, t->dest_conn, src, dst, NULL,
		    t->preserve);
	if (t->ops->is_put)
		return sftp_upload(t->conn, src, dst, t->preserve, t->resume,
		    t->sync, t->in_place);
	return sftp_download(t->conn, src, dst, a, t->preserve, t->resume,
	    t->sync, t->in_place);
}

/* One file; without a measure of bytes its size has to be known here. */
static int
copy_alone(const struct transfer *t, const char *src, const char *dst,
    Attrib *a)
{
	struct transfer one = *t;
	int is_put = t->ops->is_put;
	int is_tuned = server_info(server_of(t->conn))->is_tuned;
	uint64_t begun_us = clock_us(), bytes;
	struct stat sb;
	Attrib found;
	int r, is_ours;

	if (t->ops == &cross_ops && !is_tuned)
		return copy_stock(t, src, dst, a);
	report_expect_file(t->ops == &cross_ops ? REPORT_CROSS :
	    is_put ? REPORT_PUT : REPORT_GET, src, dst);
	is_ours = transfer_can(t->conn, t->resume) &&
	    (t->dest_conn == NULL || transfer_can(t->dest_conn, 0));
	r = is_ours ? transfer_file(&one, src, dst, a) :
	    copy_stock(t, src, dst, a);
	bytes = is_tuned ? one.single_moved : 0;
	if (!is_tuned && r == 0 && stat(is_put ? src : dst, &sb) == 0)
		bytes = sb.st_size;
	if (is_tuned && !is_ours && r == 0 && report_is_wanted() &&
	    sftp_stat(t->conn, src, 1, &found) == 0)
		bytes = found.size;
	report_file(REPORT_IN_BOTH, bytes, clock_us() - begun_us,
	    interrupted ? -1 : r);
	return r;
}

int
args_put(struct sftp_conn *conn, char *const *srcs, const char *dst,
    int preserve, int resume, int sync, int in_place)
{
	struct transfer t = { .conn = conn, .ops = &put_ops,
	    .preserve = preserve, .resume = resume, .sync = sync,
	    .in_place = in_place };
	int r = 1;

	if (transfer_can(conn, resume))
		r = copy_in_batch(&t, srcs, dst);
	return r != 1 ? r : copy_alone(&t, srcs[0], dst, NULL);
}

/* The arguments of scp */

/* The rest of them, without the target, so far as they name the same place */
static struct {
	char	*const *args;		/* those of files[0] */
	char	**files;		/* ends with NULL */
	size_t	 n, at;
	struct sftp_conn *kept;		/* the connection of an argument */
	char	*const *kept_for;	/* and the argument that is next */
	char	*tree;			/* the source, if it is a directory */
	int	 into_dir;		/* the target that was asked about is */
} rest;

static void
begin_args(char *const *args)
{
	size_t n;

	args_finish();
	for (n = 0; args[n] != NULL; n++)
		;
	free(rest.files);
	rest.files = xcalloc(n + 1, sizeof(*rest.files));
	rest.args = args;
	rest.n = rest.at = 0;
}

/* Returns 1 if the rest is still the one that began before. */
static int
is_in_args(char *const *args)
{
	if (rest.files == NULL || args < rest.args ||
	    args >= rest.args + rest.n)
		return 0;
	rest.at = args - rest.args;
	return 1;
}

static int
is_uri(const char *arg)
{
	return strncmp(arg, "scp://", 6) == 0;
}

/*
 * Returns what prepare_remote_path() of scp makes of the path of an argument if
 * it need not ask the server, or NULL.
 */
static char *
plain_path(char *arg)
{
	char *path = colon(arg);

	if (is_uri(arg) || path == NULL)
		return NULL;
	if (*++path == '\0' || strcmp(path, "~") == 0)
		return ".";
	if (*path != '~')
		return path;
	if (path[1] != '/')
		return NULL;
	path += 1 + strspn(path + 1, "/");
	return *path == '\0' ? "." : path;
}

static int
is_remote(char *arg)
{
	return is_uri(arg) || colon(arg) != NULL;
}

/* Returns 1 if scp can tell the target's path without asking the server. */
static int
is_plain_target(char *target)
{
	return is_uri(target) ? strpbrk(target, "~%") == NULL :
	    plain_path(target) != NULL;
}

/* Local files become a list, under the same condition. */
static void
begin_local_args(char *const *args)
{
	size_t i;

	begin_args(args);
	for (i = 0; args[i + 1] != NULL; i++) {
		if (rest.n == i && !is_remote(args[i]))
			rest.files[rest.n++] = args[i];
	}
	if (rest.n > 1 && !is_plain_target(args[i]))
		rest.files[rest.n = 1] = NULL;
}

int
args_put_argument(struct sftp_conn *conn, char *src, const char *dst,
    int preserve)
{
	char *const one[] = { src, NULL }, *const *srcs = one;
	int r;

	if (files_from_is_wanted())
		return files_from_refuse(src);
	if (rest.at < rest.n && rest.files[rest.at] == src)
		srcs = rest.files + rest.at;
	r = args_put(conn, srcs, dst, preserve, 0, 0, 1);
	/* scp is going to end at a file that is gone. */
	if (batch.t.conn != NULL && srcs != one && srcs[1] != NULL &&
	    access(srcs[1], F_OK) != 0)
		args_finish();
	return r;
}

/* A tree needs the real path of the target, or of its name in the target. */
static void
ask_target_paths(struct sftp_conn *conn, const char *target)
{
	char *name = xstrdup(rest.tree), *path;

	path = sftp_path_append(target, basename(name));
	server_ask_path(server_of(conn), target);
	server_ask_path(server_of(conn), path);
	free(path);
	free(name);
}

int
args_is_dir(struct sftp_conn *conn, const char *target)
{
	if (batch.t.conn != NULL &&
	    (batch.t.conn == conn || batch.t.dest_conn == conn))
		return 1;
	if (files_from_is_wanted())
		return 0;		/* Names are kept below the target. */
	if (server_info(server_of(conn))->is_tuned && rest.tree != NULL)
		ask_target_paths(conn, target);
	rest.into_dir = sftp_remote_is_dir(conn, target);
	return rest.into_dir;
}

/* Returns 1 if both arguments name the same user and host in the same words. */
static int
are_same_host(char *a, char *b)
{
	const char *path = colon(a);

	return path != NULL && colon(b) != NULL && !is_uri(a) && !is_uri(b) &&
	    colon(b) - b == path - a && strncmp(a, b, path - a) == 0;
}

/*
 * Files of one server, whose names are no patterns, become a list, unless the
 * target's server has to be asked for its path each time.
 */
static void
begin_remote_args(char *const *args)
{
	char *path;
	size_t i;

	begin_args(args);
	for (i = 0; args[i + 1] != NULL && are_same_host(args[0], args[i]);
	    i++) {
		path = plain_path(args[i]);
		if (path == NULL || strpbrk(path, "*?[\\") != NULL)
			break;
		rest.files[rest.n++] = path;
	}
	for (; args[i + 1] != NULL; i++)
		;
	if (is_remote(args[i]) && !is_plain_target(args[i]))
		rest.n = 0;
	remote_glob_expect(rest.files, rest.n > 1 ? rest.n : 0);
}

/*
 * One file, all that scp copies: its first requests are known. A source that
 * comes later goes into a directory, which may have to be made first.
 */
static void
begin_early_requests(char *source, char *target)
{
	const struct longopt *opt = longopt_get();
	int remote = is_remote(source);
	char *path = plain_path(remote ? source : target);

	if (remote == is_remote(target) || path == NULL || opt->recursive ||
	    opt->into_dir || longopt_verifies() || files_from_is_wanted() ||
	    *file_base_name(path) == '\0' || strpbrk(path, "*?[\\") != NULL)
		return;
	if (remote)
		early_requests_get(path);
	else
		early_requests_put(source, path, opt->preserve);
}

void
args_next(char *const *args)
{
	static char *const *end;	/* the last word of all */
	static int is_later;
	struct stat sb;
	char *target;
	int remote = is_remote(args[0]);

	if (end == NULL) {
		for (end = args; end[1] != NULL; end++)
			;
	}
	target = *end;
	early_requests_none();
	if (end == args + 1 && !is_later)
		begin_early_requests(args[0], target);
	is_later = 1;
	report_host("scp", remote ? args[0] : target,
	    remote && is_remote(target) ? target : NULL, args[0]);
	if (rest.kept_for != args)
		rest.kept = NULL;
	rest.tree = !remote && stat(args[0], &sb) == 0 &&
	    S_ISDIR(sb.st_mode) ? args[0] : NULL;
	if (is_in_args(args))
		return;
	if (remote)
		begin_remote_args(args);
	else
		begin_local_args(args);
}

struct sftp_conn *
args_kept_conn(void)
{
	return rest.kept;
}

int
args_keep_conn(struct sftp_conn **conn, char *const *args)
{
	rest.kept = NULL;
	if (args[1] != NULL && args[2] != NULL && transfer_can(*conn, 0) &&
	    are_same_host(args[0], args[1])) {
		rest.kept_for = args + 1;
		rest.kept = *conn;
		*conn = NULL;
		return 1;
	}
	args_finish();
	return 0;
}

/* A file, with those of the arguments that follow if it is one of them */
static char *const *
with_following_args(char *const *srcs)
{
	return srcs[1] == NULL && rest.at < rest.n &&
	    strcmp(rest.files[rest.at], srcs[0]) == 0 ?
	    rest.files + rest.at : srcs;
}

int
args_get(struct sftp_conn *conn, char *const *srcs, const char *dst,
    Attrib *a, int preserve, int resume, int sync, int in_place)
{
	struct transfer t = { .conn = conn, .ops = &get_ops,
	    .preserve = preserve, .resume = resume, .sync = sync,
	    .in_place = in_place };
	int r = 1;

	if (files_from_is_wanted())
		return files_from_refuse(srcs[0]);
	if (a == NULL && transfer_can(conn, resume))
		r = copy_in_batch(&t, with_following_args(srcs), dst);
	return r != 1 ? r : copy_alone(&t, srcs[0], dst, a);
}

int
args_cross(struct sftp_conn *from, struct sftp_conn *to, char *const *srcs,
    const char *dst, int preserve)
{
	struct transfer t = { .conn = from, .dest_conn = to, .ops = &cross_ops,
	    .preserve = preserve, .in_place = 1 };
	int r = 1;

	if (files_from_is_wanted())
		return files_from_refuse(srcs[0]);
	if (rest.into_dir && transfer_can(from, 0) && transfer_can(to, 0))
		r = copy_in_batch(&t, with_following_args(srcs), dst);
	return r != 1 ? r : copy_alone(&t, srcs[0], dst, NULL);
}

void
args_check_start_dir(const char *file, const char *dir)
{
	if (HAYATE_OPENSSH < 1005 && *file != '/' &&
	    strpbrk(dir, " \t\r\n\"'\\*?[#") != NULL)
		fatal("The server starts in \"%s\", which sftp cannot use with "
		    "HOST:FILE: start sftp with HOST alone, and use get or cd, "
		    "or give the whole path", dir);
}
