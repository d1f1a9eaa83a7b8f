/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * See remote-glob-hook.h. glob() calls back: list this directory, look up this
 * path. What is known is a list of paths in the order in which glob() will come
 * to them: the names of the directory that was listed last, or the names that
 * are expected. A look-up begins where the last one ended.
 */

#include "includes.h"

#include <sys/types.h>
#include <sys/stat.h>

#include <dirent.h>
/* Upstream's own, where that of the system lacks a field. */
#include "openbsd-compat/glob.h"
#ifndef _COMPAT_GLOB_H_
#include <glob.h>
#endif
#include <libgen.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "xmalloc.h"

#include "directions-hook.h"
#include "file-hook.h"
#include "remote-glob-hook.h"
#include "server-hook.h"
#include "transfer-hook.h"

/* Paths that are looked up together */
#define LOOKUPS_MAX	512

extern volatile sig_atomic_t interrupted;

/* What the server has said of a path */
struct answer {
	enum { NOT_ASKED, FOUND, NOT_FOUND } is;
	Attrib	 a;
};

struct known {
	char	*path;
	struct answer lstat, stat;
	int	 matched;		/* glob() has asked for it */
};

/* Paths in the order in which glob() will come to them */
struct listing {
	struct listing *outer;		/* is open as well */
	struct known *known;
	size_t	 n, at, ahead;		/* where the next look-ups begin */
	size_t	 read;			/* names that glob() has got */
	int	 failed;
};

/* A file that matched, of a listing that is closed */
struct match {
	char	*path;
	Attrib	 a;
};

static struct {
	struct sftp_conn *conn;
	struct server *server;
	struct listing *open;		/* the innermost directory */
	struct listing expected;
	struct match *matches;
	size_t	 nmatches;
	int	 sorted;
	struct dirent *(*readdir)(void *);	/* ours, or upstream's */

	struct known *which[LOOKUPS_MAX];	/* are looked up */
	u_char	 code;			/* by this request */
} g;

/* Returns what an entry is or leads to if that is a regular file, or NULL. */
static const Attrib *
regular_file_of(const struct known *k)
{
	const struct answer *answer = &k->lstat;

	if (answer->is == FOUND && S_ISLNK(answer->a.perm))
		answer = &k->stat;
	return answer->is == FOUND && S_ISREG(answer->a.perm) &&
	    (answer->a.flags & SSH2_FILEXFER_ATTR_PERMISSIONS) != 0 ?
	    &answer->a : NULL;
}

static void
free_listing(struct listing *l)
{
	size_t i;

	for (i = 0; i < l->n; i++)
		free(l->known[i].path);
	free(l->known);
	memset(l, 0, sizeof(*l));
}

static void
forget_matches(void)
{
	size_t i;

	for (i = 0; i < g.nmatches; i++)
		free(g.matches[i].path);
	free(g.matches);
	g.matches = NULL;
	g.nmatches = 0;
	g.sorted = 0;
}

/* Searches from "*cursor" on, because what is asked for comes in order. */
static struct known *
find_path(struct listing *l, size_t *cursor, const char *path)
{
	size_t i, at;

	for (i = 0; i < l->n; i++) {
		at = (*cursor + i) % l->n;
		if (strcmp(l->known[at].path, path) == 0) {
			*cursor = at;
			return &l->known[at];
		}
	}
	return NULL;
}

/* Listing */

static void
ignore_entry(struct transfer *t, struct file *file, struct sched_entry *j)
{
	(void)t;
	(void)file;
	(void)j;
}

static void
ignore_name(struct transfer *t, struct file *dir, struct sched_entry *entry,
    const struct dir_entry *name)
{
	(void)name;
	ignore_entry(t, dir, entry);
}

/* glob() puts names behind the path that it lists; the path of "" is ".". */
static void
listing_end(struct transfer *t, struct file *file, struct sched_entry *j)
{
	const char *dir = strcmp(file->src, ".") == 0 ? "" : file->src;
	struct listing *l = g.open;
	struct known *k;
	size_t i;

	if (sched_info(j).kind != KIND_DIR)
		return;
	file_close(t, file);
	l->failed = file->failed;
	l->n = interrupted || file->failed ? 0 : file->nnames;
	l->known = xcalloc(l->n + 1, sizeof(*l->known));
	for (i = 0; i < l->n; i++) {
		k = &l->known[i];
		xasprintf(&k->path, "%s%s", dir, file->names[i].name);
		k->lstat.a = file->names[i].a;
		if ((k->lstat.a.flags & SSH2_FILEXFER_ATTR_PERMISSIONS) != 0)
			k->lstat.is = FOUND;
	}
}

/* Fills in the innermost listing. */
static void
list_dir_names(const char *path)
{
	struct direction_ops side = get_ops;
	struct transfer t = { .conn = g.conn, .ops = &side, .keep_dots = 1 };

	side.begin = ignore_entry;
	side.end = listing_end;
	side.add = ignore_name;
	transfer_start(&t);
	file_add(&t, NULL, KIND_DIR, file_new(xstrdup(path), xstrdup(""), 0),
	    0);
	transfer_run(&t, NULL);
	transfer_stop(&t);
}

/* Look-ups */

static struct answer *
answer_slot(struct known *k)
{
	return g.code == SSH2_FXP_LSTAT ? &k->lstat : &k->stat;
}

static void
lookup_send(struct request *r)
{
	request_path(r->sink, r->a.id, g.code, r->file->src, NULL);
}

/* The size of the file is the number of the look-up. */
static void
lookup_reply(struct request *r)
{
	struct answer *answer = answer_slot(g.which[r->file->size]);

	file_parse_attrs(r, &answer->a);
	answer->is = FOUND;
	r->said.kind = KIND_MESSAGE;
}

static void
lookup_fail(struct request *r)
{
	answer_slot(g.which[r->file->size])->is = NOT_FOUND;
}

/* Asks for the attributes of the first "n" of "which", and waits for them. */
static void
look_up_paths(size_t n)
{
	static const struct op_handler lookup[] = {
		[OP_STAT] = { lookup_send, lookup_reply, NULL, 0, lookup_fail }
	};
	static const struct direction_ops side = { .handlers = lookup,
	    .begin = ignore_entry, .end = ignore_entry };
	struct transfer t = { .conn = g.conn, .ops = &side };
	size_t i;

	transfer_start(&t);
	for (i = 0; i < n; i++)
		file_add(&t, NULL, KIND_LINK, file_new(
		    xstrdup(g.which[i]->path), xstrdup(""), 0), i);
	transfer_run(&t, NULL);
	transfer_stop(&t);
}

static int
is_symlink(const struct known *k)
{
	return k->lstat.is == FOUND && S_ISLNK(k->lstat.a.perm);
}

/*
 * Asks for this path and, of those that follow, for all names, which are
 * expected then, or for all links.
 */
static void
look_up_with_next(struct listing *in, struct known *k, u_char code)
{
	size_t i, n = 0, first = k - in->known;

	g.code = code;
	for (i = first; i < in->n && n < LOOKUPS_MAX; i++) {
		g.which[n] = &in->known[i];
		n += answer_slot(g.which[n])->is == NOT_ASKED && (i == first ||
		    code == SSH2_FXP_LSTAT || is_symlink(g.which[n]));
	}
	debug2_f("attributes of %zu paths, from \"%s\" on", n, k->path);
	look_up_paths(n);
}

/* Returns the entry of a path that is listed or expected, or NULL. */
static struct known *
find_known(const char *path, struct listing **in)
{
	*in = g.open != NULL ? g.open : &g.expected;
	return find_path(*in, &(*in)->at, path);
}

/* The functions of glob() */

static void *
glob_opendir(const char *path)
{
	struct listing *l = xcalloc(1, sizeof(*l));

	l->outer = g.open;
	g.open = l;
	list_dir_names(path);
	if (!l->failed)
		return l;
	g.open = l->outer;
	free_listing(l);
	free(l);
	return NULL;
}

/* As fudge_readdir() of upstream: one static entry, never with d_ino 0 */
static struct dirent *
glob_readdir(void *arg)
{
	static struct dirent entry;
	struct listing *l = arg;
	const char *path;

	if (l->read == l->n)
		return NULL;
	path = l->known[l->read++].path;
	memset(&entry, 0, sizeof(entry));
	entry.d_ino = 1;
	strlcpy(entry.d_name, file_base_name(path), sizeof(entry.d_name));
	return &entry;
}

/*
 * A pattern never brings the directory itself or the one above, as in shells of
 * today: "dir/.*" would copy both whole, one of them beside the target. An
 * empty name would bring the directory, whose path the server may end with
 * "..".
 */
static struct dirent *
readdir_below(void *arg)
{
	struct dirent *entry;

	do
		entry = g.readdir(arg);
	while (entry != NULL && (*entry->d_name == '\0' ||
	    strcmp(entry->d_name, ".") == 0 ||
	    strcmp(entry->d_name, "..") == 0));
	return entry;
}

/* Returns 1 if glob() would make a path of this whose last name is a directory
 * above, or none: it takes backslashes away. */
static int
leads_above(const char *path)
{
	char *plain = xstrdup(path), *to = plain, *name;
	int r;

	for (; *path != '\0'; path++)
		if (*path != '\\')
			*to++ = *path;
	*to = '\0';
	name = basename(plain);
	r = strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
	free(plain);
	return r;
}

char *
remote_glob_expand_path(struct sftp_conn *conn, const char *path)
{
	char *expanded = sftp_expand_path(conn, path);

	if (expanded != NULL && leads_above(expanded)) {
		error("Server sent suspect path \"%s\" for \"%s\"", expanded,
		    path);
		free(expanded);
		expanded = NULL;
	}
	return expanded;
}

/* Keeps what matched; enlarges the array when its length is a power of two. */
static void
glob_closedir(void *arg)
{
	struct listing *l = arg;
	const Attrib *a;
	size_t i, n;

	for (i = 0; i < l->n; i++) {
		if (!l->known[i].matched || (a =
		    regular_file_of(&l->known[i])) == NULL)
			continue;
		n = g.nmatches++;
		if ((n & (n - 1)) == 0)
			g.matches = xreallocarray(g.matches,
			    n == 0 ? 1 : 2 * n, sizeof(*g.matches));
		g.matches[n].path = xstrdup(l->known[i].path);
		g.matches[n].a = *a;
	}
	g.open = l->outer;
	free_listing(l);
	free(l);
}

/* If it is a directory, its real path is needed next, with a slash behind. */
static void
ask_real_path(const char *path)
{
	size_t len = strlen(path);
	char *dir;

	xasprintf(&dir, "%s%s", path,
	    len > 0 && path[len - 1] == '/' ? "" : "/");
	server_ask_path(g.server, dir);
	free(dir);
}

/* As fudge_lstat() of upstream, which asks the server each time */
static int
glob_lstat(const char *path, struct stat *st)
{
	struct listing *in;
	struct known *k = find_known(path, &in);
	Attrib a;

	if (k == NULL) {
		server_drain(g.server);
		ask_real_path(path);
		if (sftp_lstat(g.conn, path, 1, &a) != 0)
			return -1;
		attrib_to_stat(&a, st);
		return 0;
	}
	if (k->lstat.is == NOT_ASKED)
		look_up_with_next(in, k, SSH2_FXP_LSTAT);
	k->matched = 1;
	if (k->lstat.is != FOUND)
		return -1;
	attrib_to_stat(&k->lstat.a, st);
	return 0;
}

static int
glob_stat(const char *path, struct stat *st)
{
	struct listing *in;
	struct known *k = find_known(path, &in);
	Attrib a;

	if (k == NULL || !is_symlink(k)) {
		server_drain(g.server);
		if (sftp_stat(g.conn, path, 1, &a) != 0)
			return -1;
		attrib_to_stat(&a, st);
		return 0;
	}
	if (k->stat.is == NOT_ASKED)
		look_up_with_next(in, k, SSH2_FXP_STAT);
	if (k->stat.is != FOUND)
		return -1;
	attrib_to_stat(&k->stat.a, st);
	return 0;
}

/* What patches and arguments-hook.c call */

void
remote_glob_use(struct sftp_conn *conn, void *arg)
{
	glob_t *glob = arg;

	forget_matches();
	g.readdir = glob->gl_readdir;
	glob->gl_readdir = readdir_below;
	if (!server_info(server_of(conn))->is_tuned || !transfer_can(conn, 0))
		return;
	g.conn = conn;
	g.server = server_of(conn);
	glob->gl_opendir = glob_opendir;
	g.readdir = glob_readdir;
	glob->gl_closedir = glob_closedir;
	glob->gl_lstat = glob_lstat;
	glob->gl_stat = glob_stat;
}

void
remote_glob_expect(char *const *names, size_t n)
{
	struct listing *l = &g.expected;

	free_listing(l);
	l->known = xcalloc(n + 1, sizeof(*l->known));
	for (; l->n < n; l->n++)
		l->known[l->n].path = xstrdup(names[l->n]);
}

static int
compare_matches(const void *a, const void *b)
{
	return strcmp(((const struct match *)a)->path,
	    ((const struct match *)b)->path);
}

const Attrib *
remote_glob_file(const struct sftp_conn *conn, const char *path)
{
	struct match key = { .path = (char *)path }, *match;
	const struct known *k;

	if (conn != g.conn)
		return NULL;
	if (!g.sorted && g.nmatches > 0)
		qsort(g.matches, g.nmatches, sizeof(key), compare_matches);
	g.sorted = 1;
	match = g.nmatches == 0 ? NULL : bsearch(&key, g.matches, g.nmatches,
	    sizeof(key), compare_matches);
	if (match != NULL)
		return &match->a;
	k = find_path(&g.expected, &g.expected.ahead, path);
	return k == NULL ? NULL : regular_file_of(k);
}
