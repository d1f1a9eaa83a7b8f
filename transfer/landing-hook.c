/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See landing-hook.h. Errors have the texts of upstream's sftp_upload(). */

#include "includes.h"

#include <sys/types.h>
#include <sys/stat.h>

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "log.h"
#include "misc.h"
#include "sshbuf.h"
#include "ssherr.h"
#include "xmalloc.h"

#include "file-hook.h"
#include "hidden-hook.h"
#include "landing.h"
#include "landing-hook.h"
#include "left.h"
#include "server-hook.h"
#include "signals-hook.h"
#include "tell.h"
#include "width.h"

/* A server that takes less at once is not for this: each WRITE costs work. */
#define UNIT_LEAST	(32 * 1024)

/*
 * So many files at once go over several links, or one less than the links that
 * the user wants: more would wait for each other on the first one.
 */
#define FILES_MOST	4

#define SAME_NEEDS	(SSH2_FILEXFER_ATTR_SIZE | \
	SSH2_FILEXFER_ATTR_UIDGID | SSH2_FILEXFER_ATTR_PERMISSIONS | \
	SSH2_FILEXFER_ATTR_ACMODTIME)

/* A mark, in seconds: days from now, among so many */
#define MARK_AHEAD	(2 * 24 * 3600)
#define MARK_LEAST	(1 << 24)

/*
 * A time that nobody knows, as a file's time of access: writing does not change
 * it. It is days ahead, so that reading does not either, where that is set only
 * if it was less than the other times.
 */
static uint32_t
new_mark(void)
{
	const uint32_t first = (uint32_t)time(NULL) + MARK_AHEAD;

	return first + arc4random_uniform(first < INT32_MAX - MARK_LEAST ?
	    INT32_MAX - first : MARK_LEAST);
}

int
landing_may_begin(const struct run *t, uint64_t size)
{
	return t->side->is_put && size >= WIDTH_LEAST && !t->sync &&
	    !t->resumes && server_can_widen(t->server, UNIT_LEAST);
}

/* Returns 1 if it has a landing. */
static int
start(struct run *t, struct file *file, struct job *j)
{
	struct landing_conf conf = { .size = file->size,
	    .in_place = t->in_place, .preserve = t->preserve,
	    .is_locked = (file->a.perm & S_IWUSR) == 0 };
	int streams;

	if (!landing_may_begin(t, file->size) || file->sparse ||
	    file->is_narrow || plan_was_not_cut(j))
		return 0;
	conf.number = arc4random_uniform(LEFT_NAMES);
	streams = tell_offers(t->team.main_fd);
	if (!plan_lands(t->s, j, &conf, streams > 1 ? streams - 1 :
	    FILES_MOST))
		return 0;
	file->hidden = hidden_name(file->dst);
	file->mark = new_mark();
	file->known.flags = 0;
	signals_catch();
	return 1;
}

void
landing_start(struct run *t, struct file *file, struct job *j)
{
	if (!start(t, file, j) && t->side->is_put && !t->resumes &&
	    file->size >= WIDTH_LEAST && server_is_tuned(t->server))
		plan_sweeps(t->s, j);
}

int
landing_has(int told)
{
	const int needs = LINKS_LIMITS | LINKS_COPY | LINKS_SPACE;

	return (told & needs) == needs ? LANDING_HAS_COPY : 0;
}

int
landing_is_wanted(const struct run *t)
{
	return t->team.kind == LINKS_CHANNELS || (t->team.takes_channels &&
	    tell_offers(t->team.main_fd) == 1) ?
	    width_may_be_limited(&t->growth) :
	    tell_offers(t->team.main_fd) != 1;
}

int
landing_is_same(const struct file *file, const Attrib *found)
{
	const Attrib *known = &file->known;

	return (known->flags & found->flags & SAME_NEEDS) == SAME_NEEDS &&
	    S_ISREG(found->perm) && S_ISREG(known->perm) &&
	    found->uid == known->uid && found->gid == known->gid &&
	    found->atime == known->atime && (known->atime == file->mark ||
	    (found->mtime == known->mtime && found->size == known->size));
}

/* Requests */

static void
send_second(struct run *t, struct file *file, const struct plan_action *a)
{
	Attrib attrs;

	attrib_clear(&attrs);
	attrs.flags = SSH2_FILEXFER_ATTR_PERMISSIONS;
	attrs.perm = 0600;
	file_send_open(t, a, file->hidden, SSH2_FXF_WRITE | SSH2_FXF_READ |
	    SSH2_FXF_CREAT | SSH2_FXF_EXCL, &attrs);
}

/* The directory of the file, and not a link to it */
static void
send_dir(struct run *t, const struct file *file, const struct plan_action *a)
{
	const char *slash = strrchr(file->dst, '/');
	char *path;

	xasprintf(&path, "%.*s.", slash == NULL ? 0 :
	    (int)(slash - file->dst) + 1, file->dst);
	file_send_path(t, a, SSH2_FXP_LSTAT, path, NULL);
	free(path);
}

/*
 * Of the times that a hidden file gets at the end, that of its last WRITE is
 * not known, but how far the clocks are apart.
 */
static void
send_attrs(struct run *t, const struct file *file, const struct plan_action *a,
    const struct handle *h)
{
	Attrib attrs = file->a;

	if (a->ask.op == LANDING_MARK)
		attrs.atime = attrs.mtime = file->mark;
	else if (!t->preserve)
		attrs.atime = attrs.mtime = (uint32_t)(time(NULL) +
		    file->ahead);
	if (a->ask.op == LANDING_MARK || !t->preserve)
		attrs.flags = SSH2_FILEXFER_ATTR_ACMODTIME;
	file_send_handle(t, a, h, SSH2_FXP_FSETSTAT, &attrs);
}

/* What is under a hidden name, also of another copy */
static void
send_name(struct run *t, const struct file *file, const struct plan_action *a)
{
	char *name = hidden_name(file->dst);

	hidden_number(name, a->ask.number);
	if (a->ask.op == LANDING_SWEEP)
		debug("removing \"%s\", which was left over", name);
	file_send_path(t, a, a->ask.op == LANDING_SWEEP ? SSH2_FXP_REMOVE :
	    SSH2_FXP_LSTAT, name, NULL);
	free(name);
}

static void
send_space(struct run *t, const struct file *file, const struct plan_action *a)
{
	const struct handle *h = &file->to_handle;
	struct sshbuf *m = link_begin(t->link, SSH2_FXP_EXTENDED, a->id);
	int r;

	if ((r = sshbuf_put_cstring(m, "fstatvfs@openssh.com")) != 0 ||
	    (r = sshbuf_put_string(m, h->id, h->len)) != 0)
		fatal_fr(r, "compose");
	link_end(t->link);
}

static void
send_copy(struct run *t, struct file *file, const struct plan_action *a)
{
	const struct handle *from = &file->to_handle, *to = file_on(file, 0);
	struct sshbuf *m = link_begin(t->link, SSH2_FXP_EXTENDED, a->id);
	int r;

	if ((r = sshbuf_put_cstring(m, "copy-data")) != 0 ||
	    (r = sshbuf_put_string(m, from->id, from->len)) != 0 ||
	    (r = sshbuf_put_u64(m, a->ask.at)) != 0 ||
	    (r = sshbuf_put_u64(m, a->ask.len)) != 0 ||
	    (r = sshbuf_put_string(m, to->id, to->len)) != 0 ||
	    (r = sshbuf_put_u64(m, a->ask.off)) != 0)
		fatal_fr(r, "compose");
	link_end(t->link);
}

/* What has to do with a name, and not with an open file */
static void
send_about_name(struct run *t, struct file *file, const struct plan_action *a)
{
	switch (a->ask.op) {
	case LANDING_TARGET:
	case LANDING_SHOWN:
		file_send_path(t, a, SSH2_FXP_LSTAT, file->dst, NULL);
		break;
	case LANDING_DIR:
		send_dir(t, file, a);
		break;
	case LANDING_SHOW:
		file_send_rename(t, a, file->hidden, file->dst);
		break;
	case LANDING_OPEN_SECOND:
		send_second(t, file, a);
		break;
	case LANDING_DROP:
	case LANDING_REMOVE_SECOND:
		file_send_path(t, a, SSH2_FXP_REMOVE, file->hidden, NULL);
		break;
	default:
		send_name(t, file, a);
	}
}

void
landing_send(struct run *t, struct file *file, const struct plan_action *a)
{
	const struct handle *h = file_on(file, 0), *marked =
	    landing_has_second(plan_asker(a->job)) ? &file->to_handle : h;

	if (a->ask.op == LANDING_OPEN_SECOND)
		hidden_number(file->hidden, a->ask.number);
	switch (a->ask.op) {
	case LANDING_LOOK:
		file_send_handle(t, a, h, SSH2_FXP_FSTAT, NULL);
		break;
	case LANDING_SPACE:
		send_space(t, file, a);
		break;
	case LANDING_COPY:
		send_copy(t, file, a);
		break;
	case LANDING_TRUNCATE:
		file_send_size(t, a, h);
		break;
	case LANDING_MARK:
		send_attrs(t, file, a, marked);
		break;
	case LANDING_KNOW:
		file_send_handle(t, a, marked, SSH2_FXP_FSTAT, NULL);
		break;
	case LANDING_ATTRS:
		send_attrs(t, file, a, h);
		break;
	case LANDING_CLOSE_SECOND:
		file_send_handle(t, a, &file->to_handle, SSH2_FXP_CLOSE, NULL);
		break;
	case LANDING_CLOSE:
		file_send_handle(t, a, h, SSH2_FXP_CLOSE, NULL);
		break;
	default:
		send_about_name(t, file, a);
	}
}

/* Replies */

u_char
landing_wanted(const struct plan_action *a)
{
	switch (a->ask.op) {
	case LANDING_OPEN_SECOND:
		return SSH2_FXP_HANDLE;
	case LANDING_TARGET:
	case LANDING_DIR:
	case LANDING_LOOK:
	case LANDING_FIND:
	case LANDING_KNOW:
	case LANDING_OWN:
	case LANDING_SHOWN:
		return SSH2_FXP_ATTRS;
	case LANDING_SPACE:
		return SSH2_FXP_EXTENDED_REPLY;
	default:
		return SSH2_FXP_STATUS;
	}
}

/*
 * Nobody else may give names to other files there, and the server tells what
 * landing_is_same() looks at.
 */
static int
is_safe(const Attrib *dir)
{
	return (dir->flags & SAME_NEEDS) == SAME_NEEDS &&
	    S_ISDIR(dir->perm) && ((dir->perm & S_ISVTX) != 0 ||
	    (dir->perm & (S_IWGRP | S_IWOTH)) == 0);
}

/* The hidden file, as its handle has it */
static void
take_known(struct file *file, struct landing *landing, const Attrib *now)
{
	int is_marked = (now->flags & SSH2_FILEXFER_ATTR_ACMODTIME) != 0 &&
	    now->atime == file->mark;

	file->known = *now;
	if (is_marked && now->mtime != file->mark)
		file->ahead = (int64_t)now->mtime - time(NULL);
	landing_known(landing, is_marked && landing_is_same(file, now));
}

static void
saw(struct file *file, struct landing *landing, enum landing_op op,
    const Attrib *now)
{
	int is_same = landing_is_same(file, now);

	if (!is_same && op == LANDING_OWN)
		SAY(file, "\"%s\" is another file than was put",
		    file->hidden);
	else if (!is_same && landing_is_shown(landing))
		SAY(file, "\"%s\" is another file than was put", file->dst);
	else if (!is_same)
		SAY(file, "\"%s\" was made by another program meanwhile",
		    file->dst);
	landing_saw(landing, op, is_same);
}

static void
take_attrs(struct run *t, struct file *file, const struct plan_action *a,
    struct reply *reply)
{
	struct landing *landing = plan_asker(a->job);
	struct left_file left;
	Attrib now;

	file_attrs(t, reply, &now);
	if (a->ask.op == LANDING_DIR)
		landing_dir(landing, is_safe(&now));
	else if (a->ask.op == LANDING_FIND) {
		left = hidden_found(&now);
		landing_found(landing, a->ask.number, &left);
	} else if (a->ask.op == LANDING_OWN || a->ask.op == LANDING_SHOWN)
		saw(file, landing, a->ask.op, &now);
	else if (a->ask.op == LANDING_LOOK)
		landing_looked(landing,
		    (now.flags & SSH2_FILEXFER_ATTR_PERMISSIONS) != 0 &&
		    (now.flags & SSH2_FILEXFER_ATTR_SIZE) != 0 &&
		    S_ISREG(now.perm), now.size);
	else if (a->ask.op == LANDING_KNOW)
		take_known(file, landing, &now);
	if ((a->ask.op == LANDING_LOOK || a->ask.op == LANDING_KNOW) &&
	    (now.flags & SSH2_FILEXFER_ATTR_UIDGID) != 0)
		landing_owner(landing, now.uid);
}

static void
take_space(struct run *t, const struct plan_action *a, struct reply *reply)
{
	uint64_t v[5];		/* of statvfs(3): v[1] bytes, v[4] times */
	int i, r;

	for (i = 0; i < 5; i++) {
		if ((r = sshbuf_get_u64(reply->m, &v[i])) != 0)
			link_fatal(t->link, "parse statvfs: %s", ssh_err(r));
	}
	plan_space(a->job, v[1] != 0 && v[4] > UINT64_MAX / v[1] ?
	    UINT64_MAX : v[4] * v[1]);
}

void
landing_take(struct run *t, struct file *file, const struct plan_action *a,
    struct reply *reply)
{
	switch (landing_wanted(a)) {
	case SSH2_FXP_HANDLE:
		file_handle(t, file, reply, &file->to_handle);
		break;
	case SSH2_FXP_ATTRS:
		take_attrs(t, file, a, reply);
		break;
	case SSH2_FXP_EXTENDED_REPLY:
		take_space(t, a, reply);
		break;
	default:
		break;
	}
}

void
landing_fail(struct file *file, const struct plan_action *a, u_int status)
{
	const char *why = fx2txt(status);

	switch (a->ask.op) {
	case LANDING_COPY:
		if (file->status == SSH2_FX_OK)
			file->status = status;
		break;
	case LANDING_SHOW:
		SAY(file, "remote rename \"%s\" to \"%s\": %s", file->hidden,
		    file->dst, why);
		break;
	case LANDING_OWN:
		SAY(file, "remote lstat \"%s\": %s", file->hidden, why);
		break;
	case LANDING_SHOWN:
		SAY(file, "remote lstat \"%s\": %s", file->dst, why);
		break;
	case LANDING_DROP:
		/* It is told if the file is put once more as well. */
		file_say(file, 1, SYSLOG_LEVEL_ERROR,
		    "remote delete \"%s\": %s", file->hidden, why);
		break;
	case LANDING_REMOVE_SECOND:
		SAY(file, "remote delete \"%s\": %s", file->hidden, why);
		break;
	case LANDING_CLOSE:
		SAY(file, "close remote: %s", why);
		break;
	default:
		SAY(file, "remote fsetstat: %s", why);
	}
}

char *
landing_describe(const struct file *file, const struct job *j)
{
	char *text = NULL;

	switch (plan_landing(j) == NULL ? LANDING_LEFT_NOTHING :
	    landing_left(plan_landing(j))) {
	case LANDING_LEFT_HIDDEN:
		xasprintf(&text, "what was put of \"%s\" is \"%s\"", file->dst,
		    file->hidden);
		break;
	case LANDING_LEFT_PERHAPS:
		xasprintf(&text, "what was put of \"%s\" may be \"%s\"",
		    file->dst, file->hidden);
		break;
	case LANDING_LEFT_SECOND:
		xasprintf(&text, "\"%s\" is left beside \"%s\", and can be "
		    "removed", file->hidden, file->dst);
		break;
	default:
		break;
	}
	return text;
}
