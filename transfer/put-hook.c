/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * See put-hook.h: upload_dir_internal() and sftp_upload() of upstream, in
 * steps.
 */

#include "includes.h"

#include <sys/types.h>
#include <sys/stat.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log.h"
#include "sshbuf.h"
#include "ssherr.h"
#include "xmalloc.h"

#include "check-hook.h"
#include "file-hook.h"
#include "from-hook.h"
#include "hidden-hook.h"
#include "landing-hook.h"
#include "put-hook.h"
#include "server-hook.h"
#include "sparse-hook.h"
#include "steps.h"
#include "verdict-hook.h"

/* Returns 1 if a file is looked at before it is opened: see judge_old(). */
static int
looks_first(const struct run *t)
{
	return t->in_place && !server_has_limits(t->server);
}

/* Requests */

/* Leaves out a hole. Returns how many bytes are to be sent, at "*off". */
static size_t
skip_hole(struct run *t, struct file *file, const struct plan_action *a,
    off_t *off)
{
	size_t len;

	*off = a->off;
	if (!file->sparse)
		return a->len;
	len = sparse_next(file->fd, off, a->len);
	if ((uint64_t)*off != a->off) {
		t->count.bytes += *off - a->off;
		file->skipped += *off - a->off;
		plan_skip(t->s, a->id, *off);
	}
	return len;
}

/* One file alone ends the process, as in upstream, when it is in order. */
static void
cannot_read(struct run *t, struct file *file, struct job *j)
{
	if (t->alone)
		t->read_errno = errno;
	else
		SAY(file, "read local \"%s\": %s", file->src,
		    strerror(errno));
	file->failed = 1;
	plan_fail(j);
}

/*
 * Less than "len" is the end of the file, or what was read before an error:
 * then the file fails. A file system may give less before the end, which would
 * be taken for it.
 */
static size_t
read_local(struct run *t, struct file *file, struct job *j, u_char *p,
    size_t len, off_t off)
{
	uint64_t begun_us = verdict_call();
	size_t done = 0;
	ssize_t n = 0;

	do {
		n = pread(file->fd, p + done, len - done, off + done);
		if (n > 0)
			done += n;
	} while ((n > 0 && done < len && off + done < file->size) ||
	    (n == -1 && errno == EINTR));
	if (n == -1)
		cannot_read(t, file, j);
	verdict_has_read(t, begun_us);
	return done;
}

/* Reads into the message; without data there is no message. */
static void
send_write(struct run *t, struct file *file, const struct plan_action *a)
{
	struct sshbuf *m = link_begin(t->link, SSH2_FXP_WRITE, a->id);
	const struct handle *h = a->second && a->lane == 0 ?
	    &file->to_handle : file_on(file, a->lane);
	off_t off;
	size_t n, len = skip_hole(t, file, a, &off);
	int r;

	if ((r = sshbuf_put_string(m, h->id, h->len)) != 0 ||
	    (r = sshbuf_put_u64(m, a->at + (off - a->off))) != 0)
		fatal_fr(r, "compose");
	n = read_local(t, file, a->job, link_data(t->link, len), len, off);
	if (n == 0)
		link_cancel(t->link);
	else {
		debug3("Sent message SSH2_FXP_WRITE I:%u O:%llu S:%zu", a->id,
		    (unsigned long long)off, n);
		link_end_data(t->link, len, n);
	}
	plan_sent(t->s, a->id, n);
}

/* A directory is writable for the time of the transfer. */
static void
send_path(struct run *t, struct file *file, const struct plan_action *a)
{
	Attrib attrs = file->a;

	if (a->op == PLAN_MKDIR)
		attrs.perm |= S_IWUSR | S_IXUSR;
	file_send_path(t, a, a->op == PLAN_MKDIR ? SSH2_FXP_MKDIR :
	    a->op == PLAN_SETSTAT ? SSH2_FXP_SETSTAT :
	    a->op == PLAN_RENEW ? SSH2_FXP_REMOVE : SSH2_FXP_STAT, file->dst,
	    a->op == PLAN_MKDIR || a->op == PLAN_SETSTAT ? &attrs : NULL);
	if (a->op == PLAN_SETSTAT)
		file->seen.flags = 0;
}

/* Returns 1 if the file of the server has its old bytes when it is open. */
static int
keeps_old(const struct run *t, const struct file *file, const struct job *j)
{
	return file->clears || file->over || file->keeps || file->from > 0 ||
	    (t->in_place && !file->sparse && !file->empties &&
	    !plan_was_not_cut(j));
}

/* What opens a file of the server */
static void
send_open(struct run *t, struct file *file, const struct plan_action *a)
{
	unsigned int number;

	if (a->op == PLAN_OPEN_NEW && plan_landing(a->job) != NULL &&
	    landing_way(plan_landing(a->job), &number) == LANDING_IS_HIDDEN) {
		hidden_number(file->hidden, number);
		file_send_open(t, a, file->hidden, SSH2_FXF_WRITE |
		    SSH2_FXF_CREAT | SSH2_FXF_EXCL, &file->a);
	} else if (a->op == PLAN_JOIN)
		file_send_open(t, a, file->hidden, SSH2_FXF_WRITE, NULL);
	else if (a->op == PLAN_REOPEN)
		file_send_open(t, a, file->dst, SSH2_FXF_WRITE, NULL);
	else
		file_send_open(t, a, file->dst, SSH2_FXF_WRITE |
		    (file->from > 0 ? 0 : SSH2_FXF_CREAT) |
		    (a->op == PLAN_OPEN_NEW ? SSH2_FXF_EXCL :
		    keeps_old(t, file, a->job) ? 0 : SSH2_FXF_TRUNC),
		    &file->a);
}

static void
send_sync(struct run *t, struct file *file, const struct plan_action *a)
{
	const struct handle *h = file_on(file, a->lane);
	struct sshbuf *m = link_begin(t->link, SSH2_FXP_EXTENDED, a->id);
	int r;

	debug2("Sending SSH2_FXP_EXTENDED(fsync@openssh.com)");
	if ((r = sshbuf_put_cstring(m, "fsync@openssh.com")) != 0 ||
	    (r = sshbuf_put_string(m, h->id, h->len)) != 0)
		fatal_fr(r, "compose");
	link_end(t->link);
}

static void
put_send(struct run *t, struct file *file, const struct plan_action *a)
{
	const struct handle *h = file_on(file, a->lane);

	switch (a->op) {
	case PLAN_MKDIR:
	case PLAN_STAT:
	case PLAN_SEEN:
	case PLAN_RENEW:
	case PLAN_SETSTAT:
		send_path(t, file, a);
		break;
	case PLAN_OPEN:
	case PLAN_OPEN_NEW:
	case PLAN_JOIN:
	case PLAN_REOPEN:
		send_open(t, file, a);
		break;
	case PLAN_LANDING:
		landing_send(t, file, a);
		break;
	case PLAN_WRITE:
		send_write(t, file, a);
		break;
	case PLAN_CLEAR:
	case PLAN_CUT:
	case PLAN_TRUNCATE:
		file_send_size(t, a, h);
		break;
	case PLAN_SYNC:
		send_sync(t, file, a);
		break;
	case PLAN_ATTRS:
		file_send_handle(t, a, h, SSH2_FXP_FSETSTAT, &file->a);
		break;
	default:
		file_send_handle(t, a, h, a->op == PLAN_FSTAT ||
		    a->op == PLAN_SIZE || a->op == PLAN_SAME ?
		    SSH2_FXP_FSTAT : SSH2_FXP_CLOSE, NULL);
	}
}

/* Replies */

/*
 * A file without bytes loses none. One that is copied over in place may be the
 * source itself, by another name or host.
 */
static int
may_empty(const struct run *t, const struct file *file, const Attrib *found)
{
	return (!t->in_place && !file->over) ||
	    ((found->flags & SSH2_FILEXFER_ATTR_SIZE) != 0 && found->size == 0);
}

/*
 * What was found where a file is put in place, at a server that may not be able
 * to cut it: paramiko's empties it, and then makes it as long. A longer one is
 * emptied when it is opened, unless it may be the source, which grows.
 */
static void
judge_old(const struct run *t, struct file *file, struct job *j,
    const Attrib *found)
{
	struct stat sb;

	if (!looks_first(t))
		return;
	if ((found->flags & SSH2_FILEXFER_ATTR_PERMISSIONS) != 0 &&
	    !S_ISREG(found->perm))
		steps_set_old(j, 0);	/* Nothing can be cut. */
	else if ((found->flags & SSH2_FILEXFER_ATTR_SIZE) == 0)
		return;
	else if (found->size <= file->size)
		steps_set_old(j, found->size);
	else if (file->over)
		steps_go_home(j);
	else
		file->empties = fstat(file->fd, &sb) == 0 &&
		    (uint64_t)sb.st_size == file->size;
}

/* What may be the source is written over, as scp does it with any file. */
static void
keep_own(const struct run *t, struct file *file, struct job *j,
    const Attrib *found)
{
	struct stat sb;
	Attrib a;

	if (t->in_place || fstat(file->fd, &sb) == -1)
		return;
	stat_to_attrib(&sb, &a);
	if (!file_is_same(found, &a))
		return;
	file->keeps = 1;
	file->sparse = 0;
	file->changed = sb.st_ctim;
	steps_keep(j);
}

/* A server may keep times in steps of two seconds. */
#define TIME_STEP	2

/* The server does what a lost lane was sent after we have set the time. */
static enum plan_result
judge_time(const struct run *t, struct file *file, const Attrib *seen)
{
	int64_t diff = (int64_t)seen->mtime - (int64_t)file->a.mtime;

	if (!t->preserve || (seen->flags & SSH2_FILEXFER_ATTR_ACMODTIME) == 0 ||
	    (diff <= TIME_STEP && diff >= -TIME_STEP))
		return PLAN_OK;
	if (file->looks++ == 0)
		return PLAN_EOF;
	SAY(file, "\"%s\" has another time than \"%s\"", file->dst,
	    file->src);
	return PLAN_OK;
}

/* A lost lane may have changed it since. Once more is enough. */
static enum plan_result
take_late(const struct run *t, struct file *file,
    const struct plan_action *a, const Attrib *seen)
{
	if (!hidden_is_file(seen))
		return PLAN_OK;
	if (seen->size == (file->is_complete ? file->size : file->end))
		return judge_time(t, file, seen);
	if (file->looks++ > 0) {
		SAY(file, "\"%s\" has another size than \"%s\"", file->dst,
		    file->src);
		file->failed = 1;
		plan_fail(a->job);
	}
	return PLAN_FAILED;
}

/* All hosts that wrote a file have to see the same one. */
static enum plan_result
take_seen(struct run *t, struct file *file, const struct plan_action *a,
    struct reply *reply)
{
	Attrib seen;
	enum plan_result result;

	file_attrs(t, reply, &seen);
	if (a->lane == 0 && plan_is_late(a->job) &&
	    (result = take_late(t, file, a, &seen)) != PLAN_OK)
		return result;
	if (file->seen.flags == 0)
		file->seen = seen;
	if (file_is_same(&seen, &file->seen))
		return PLAN_OK;
	verbose("\"%s\" is another file for another host, and is sent to the "
	    "first one", file->dst);
	return PLAN_FAILED;
}

/*
 * It could not be cut. A device has no old bytes, and what has the right size
 * is whole. If it begins once more, the text is dropped.
 */
static enum plan_result
take_size(struct run *t, struct file *file, const struct plan_action *a,
    struct reply *reply)
{
	Attrib found;

	if (file_is_other(t, reply, &found) == PLAN_OK ||
	    ((found.flags & SSH2_FILEXFER_ATTR_SIZE) != 0 &&
	    found.size == a->off))
		return PLAN_OK;
	SAY(file, "\"%s\" has another size than was put, and the server did "
	    "not set it", file->dst);
	file->failed = 1;
	return PLAN_FAILED;
}

/*
 * What was opened without its beginning being sent has to be what was compared,
 * what a further link has opened the file of the first, and what was opened
 * once more has to have all that was acknowledged.
 */
static enum plan_result
take_same(struct run *t, struct file *file, const struct plan_action *a,
    struct reply *reply)
{
	Attrib found;

	file_attrs(t, reply, &found);
	if (a->lane == plan_lane(a->job) && plan_is_looked_at(a->job))
		return check_kept(file, &found) ? PLAN_OK : PLAN_FAILED;
	if (!hidden_is_file(&found))
		return PLAN_FAILED;
	if (a->lane != plan_lane(a->job)) {
		if (landing_is_same(file, &found))
			return PLAN_OK;
		verbose("what a further link opened as \"%s\" is another "
		    "file", file->hidden);
		return PLAN_FAILED;
	}
	return found.size >= a->off ? PLAN_OK : PLAN_FAILED;
}

static enum plan_result
put_reply(struct run *t, struct file *file, const struct plan_action *a,
    struct reply *reply, uint32_t *len)
{
	Attrib found;

	(void)len;
	if (a->op == PLAN_OPEN || a->op == PLAN_OPEN_NEW ||
	    a->op == PLAN_REOPEN || a->op == PLAN_JOIN) {
		file_handle(t, file, reply, file_on(file, a->lane));
		file->has_data = 1;
		if (a->op == PLAN_OPEN || a->op == PLAN_OPEN_NEW)
			check_opened(file);
		if (a->op == PLAN_OPEN_NEW || (a->op == PLAN_OPEN &&
		    !keeps_old(t, file, a->job)))
			steps_set_old(a->job, 0);
	} else if (a->op == PLAN_LANDING) {
		landing_take(t, file, a, reply);
	} else if (a->op == PLAN_SEEN) {
		return take_seen(t, file, a, reply);
	} else if (a->op == PLAN_SAME) {
		return take_same(t, file, a, reply);
	} else if (a->op == PLAN_FSTAT) {
		return file_is_other(t, reply, &found);
	} else if (a->op == PLAN_SIZE) {
		return take_size(t, file, a, reply);
	} else if (a->op == PLAN_MKDIR) {
		file->is_new = 1;
	} else if (a->op == PLAN_STAT && plan_kind(a->job) == PLAN_FILE) {
		file_attrs(t, reply, &found);
		file->sparse &= S_ISREG(found.perm) &&
		    may_empty(t, file, &found);
		judge_old(t, file, a->job, &found);
		keep_own(t, file, a->job, &found);
	} else if (a->op == PLAN_STAT)
		return file_found_dir(t, file, reply);
	return PLAN_OK;
}

/* A file was looked at, and is not there, or nothing is known of it. */
static void
note_absent(struct file *file, int is_absent)
{
	file->sparse &= is_absent;
	file->empties |= is_absent;
}

static void
put_fail(struct run *t, struct file *file, const struct plan_action *a,
    u_int status)
{
	const char *why = fx2txt(status);

	(void)t;
	if (a->op == PLAN_SEEN)
		verbose("\"%s\" is not at each host: %s", file->dst, why);
	if (a->op == PLAN_JOIN || a->op == PLAN_SEEN || a->op == PLAN_RENEW ||
	    a->op == PLAN_SAME)
		return;		/* It goes over fewer links, or once more. */
	if (a->op == PLAN_LANDING)
		landing_fail(file, a, status);
	else if (a->op == PLAN_STAT && plan_kind(a->job) == PLAN_FILE) {
		note_absent(file, status == SSH2_FX_NO_SUCH_FILE);
		return;
	} else if (a->op == PLAN_STAT)
		SAY(file, "stat remote: %s", why);
	else if (a->op == PLAN_OPEN || a->op == PLAN_REOPEN)
		SAY(file, "dest open \"%s\": %s", file->dst, why);
	else if (a->op == PLAN_CLOSE || a->op == PLAN_PART)
		SAY(file, "close remote: %s", why);
	else if (a->op == PLAN_SYNC)
		SAY(file, "remote fsync: %s", why);
	else if (a->op == PLAN_TRUNCATE || a->op == PLAN_ATTRS)
		SAY(file, "remote fsetstat: %s", why);
	else if (a->op == PLAN_SETSTAT)
		file_say(file, 1, SYSLOG_LEVEL_ERROR,
		    "remote setstat \"%s\": %s", file->dst, why);
	else if (a->op == PLAN_WRITE && file->status == SSH2_FX_OK)
		file->status = status;
	else if (a->op == PLAN_SIZE)
		SAY(file, "\"%s\" was not cut, and its size is unknown: %s",
		    file->dst, why);
	/* Upstream ignores attributes. */
	if (a->op == PLAN_STAT || a->op == PLAN_OPEN || a->op == PLAN_CLOSE ||
	    a->op == PLAN_REOPEN || a->op == PLAN_PART || a->op == PLAN_WRITE ||
	    a->op == PLAN_SIZE || a->op == PLAN_SYNC)
		file->failed = 1;
}

/* Local work */

/* Returns 0, or -1 with a text. */
static int
begin_dir(struct run *t, struct file *file)
{
	struct stat sb;

	debug2_f("upload local dir \"%s\" to remote \"%s\"", file->src,
	    file->dst);
	if (file->depth >= FILE_DEPTH_MAX) {
		SAY(file, "Maximum directory depth exceeded: %d levels",
		    file->depth);
		return -1;
	}
	if (stat(file->src, &sb) == -1) {
		SAY(file, "stat local \"%s\": %s", file->src, strerror(errno));
		return -1;
	}
	if (!S_ISDIR(sb.st_mode)) {
		SAY(file, "\"%s\" is not a directory", file->src);
		return -1;
	}
	if (t->print && t->print != SFTP_PROGRESS_ONLY)
		file_say(file, 0, TEXT_OUT, "Entering %s\n", file->src);
	stat_to_attrib(&sb, &file->a);
	file->a.perm &= 01777;
	return 0;
}

/* Returns 0, or -1 with a text. */
static int
begin_file(struct run *t, struct file *file, struct stat *sb)
{
	debug2_f("upload local \"%s\" to remote \"%s\"", file->src, file->dst);
	if ((file->fd = open(file->src, O_RDONLY)) == -1) {
		SAY(file, "open local \"%s\": %s", file->src, strerror(errno));
		return -1;
	}
	if (fstat(file->fd, sb) == -1) {
		SAY(file, "fstat local \"%s\": %s", file->src,
		    strerror(errno));
		return -1;
	}
	if (!S_ISREG(sb->st_mode)) {
		SAY(file, "local \"%s\" is not a regular file", file->src);
		return -1;
	}
	file->size = sb->st_size;
	stat_to_attrib(sb, &file->a);
	file->a.perm &= 0777;
	return 0;
}

static void
go_on(struct run *t, struct file *file, struct job *j, const struct stat *sb)
{
	/* The rest of a file is sent whole, to where it belongs. */
	if (file->from > 0) {
		file->over = plan_over(j, file->is_new, check_is_shared(t));
		return;
	}
	/* What tells no limits may refuse a WRITE behind the end. */
	file->sparse = server_handles(t->server) != 0 && !plan_cuts_not(t->s) &&
	    sparse_is_worth(sb, landing_may_begin(t, file->size), t->alone) &&
	    sparse_has_hole(file->fd, sb);
	landing_start(t, file, j);
	file->over = plan_over(j, file->is_new, check_is_shared(t));
	file->empties = file->is_new && !file->over;
	file->keeps = 0;
	/* What was compared, and differs, is not the source. */
	if (file->sparse || (looks_first(t) ? !file->empties : !t->in_place &&
	    !t->resumes && !file->is_new && file->hidden == NULL))
		plan_look(j);
	file->clears = !t->in_place && !file->over && !t->alone &&
	    !file->is_new && file->hidden == NULL && plan_clear(t->s, j);
}

void
put_go_on(struct run *t, struct file *file, struct job *j)
{
	struct stat sb;

	if (fstat(file->fd, &sb) == 0)
		go_on(t, file, j, &sb);
}

static void
put_begin(struct run *t, struct file *file, struct job *j)
{
	struct stat sb;

	if ((file_is_dir(j) ? begin_dir(t, file) :
	    begin_file(t, file, &sb)) != 0) {
		file->failed = 1;
		plan_fail(j);
		return;
	}
	plan_set_size(t->s, j, file->size);
	file->a.flags &= ~SSH2_FILEXFER_ATTR_SIZE;
	file->a.flags &= ~SSH2_FILEXFER_ATTR_UIDGID;
	if (!t->preserve)
		file->a.flags &= ~SSH2_FILEXFER_ATTR_ACMODTIME;
	if (plan_kind(j) == PLAN_FILE && !check_begin(t, file, j))
		go_on(t, file, j, &sb);
}

static void
put_settle(struct run *t, struct file *file, const struct plan_action *a)
{
	struct stat sb;

	(void)t;
	file->end = a->off;
	if (file->keeps && plan_is_whole(a->job) && (a->off < file->size ||
	    fstat(file->fd, &sb) == -1 ||
	    sb.st_ctim.tv_sec != file->changed.tv_sec ||
	    sb.st_ctim.tv_nsec != file->changed.tv_nsec))
		file_is_own(file);
	if (file->status != SSH2_FX_OK)
		SAY(file, "write remote \"%s\": %s", file->dst,
		    fx2txt(file->status));
	if (file->hidden != NULL && plan_has_failed(a->job))
		file->failed = 1;
	close(file->fd);
	file->fd = -1;
}

/* A server may not tell apart names that differ only in case. */
static void
add_name(struct file *file, const char *name)
{
	file->folds = 1;
	if (file_new_name(file, name, NULL) == 0)
		return;
	file_name(file, name, NULL);
	file->names[file->nnames - 1].is_like = 1;
}

/* Names are read at once, so that no descriptor is held. */
static void
list_dir(struct file *file, struct job *j)
{
	struct dirent *dp;
	DIR *dirp = opendir(file->src);

	if (dirp == NULL) {
		SAY(file, "local opendir \"%s\": %s", file->src,
		    strerror(errno));
		file->failed = 1;
		plan_fail(j);
		return;
	}
	while ((errno = 0, dp = readdir(dirp)) != NULL) {
		if (dp->d_ino != 0 && strcmp(dp->d_name, ".") != 0 &&
		    strcmp(dp->d_name, "..") != 0)
			add_name(file, dp->d_name);
	}
	if (errno != 0) {
		SAY(file, "local readdir \"%s\": %s", file->src,
		    strerror(errno));
		file->failed = 1;
	}
	closedir(dirp);
	file_last_name(file);
}

static void
put_end(struct run *t, struct file *file, struct job *j)
{
	char *left;

	if (plan_kind(j) == PLAN_DIR && !file->failed && !from_is_root(file))
		list_dir(file, j);
	if (plan_kind(j) != PLAN_FILE)
		return;
	file_close(t, file);
	if ((left = landing_describe(file, j)) != NULL)
		SAY(file, "%s", left);
	free(left);
	if (file->failed && file->depth > 0)
		SAY(file, "upload \"%s\" to \"%s\" failed", file->src,
		    file->dst);
}

/* Sets what an entry is. Returns 0, or -1 with a text. */
static int
look_up(struct run *t, struct file *file, const char *name,
    struct stat *sb)
{
	if (lstat(file->src, sb) == -1) {
		NOTE(file, "local lstat \"%s\": %s", name, strerror(errno));
		file->failed = 1;
		t->ret = -1;
		return -1;
	}
	if (S_ISLNK(sb->st_mode) && t->follow && stat(file->src, sb) == -1) {
		NOTE(file, "local stat \"%s\": %s", name, strerror(errno));
		file->failed = 1;
		t->ret = -1;
		return -1;
	}
	if (S_ISDIR(sb->st_mode) || S_ISREG(sb->st_mode))
		return 0;
	NOTE(file, "%s: not a regular file", name);
	return -1;
}

static void
put_add(struct run *t, struct file *dir, struct job *job,
    const struct name *name)
{
	struct file *file = file_new(sftp_path_append(dir->src, name->name),
	    sftp_path_append(dir->dst, name->name), dir->depth + 1);
	struct stat sb;
	enum plan_kind kind = PLAN_NOTE;

	memset(&sb, 0, sizeof(sb));
	if (look_up(t, file, name->name, &sb) == 0)
		kind = S_ISDIR(sb.st_mode) ? PLAN_DIR : PLAN_FILE;
	file->is_new = dir->is_new && kind == PLAN_FILE;
	file->is_like = name->is_like || (dir->is_like && !dir->is_new);
	job = file_add(t, job, kind, file, sb.st_size);
	if (file->is_like)
		steps_go_alone(job);
	if (kind == PLAN_FILE)
		from_tell_apart(file, job);
}

const struct side put_side = { 1, NULL, NULL, put_send, put_reply,
    put_fail, put_begin, put_settle, put_end, put_add };
