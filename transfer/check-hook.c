/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See check-hook.h. */

#include "includes.h"

#include <sys/types.h>
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "log.h"
#include "misc.h"
#include "progressmeter.h"
#include "xmalloc.h"

#include "check-hook.h"
#include "checks.h"
#include "clock.h"
#include "file-hook.h"
#include "hidden-hook.h"
#include "judge.h"
#include "longopt-hook.h"
#include "server-hook.h"
#include "show-hook.h"
#include "sums-hook.h"
#include "width.h"

/* So much is hashed here before links are served again, in bytes. */
#define SLICE		(4 * 1024 * 1024)

/* A comparison that takes longer than this is shown. */
#define SILENT_US	1000000

extern volatile sig_atomic_t interrupted;
extern int showprogress;

static const char *
local_path(const struct run *t, const struct file *file)
{
	return t->side->is_put ? file->src : file->dst;
}

struct judge *
check_judge(struct checking *c)
{
	return c->is_hidden ? &c->other : &c->judge;
}

/* Ends */

static struct judge_end
end_of_stat(const struct stat *sb)
{
	return (struct judge_end){ .is_there = S_ISREG(sb->st_mode),
	    .size = sb->st_size, .has_time = 1, .mtime = sb->st_mtime,
	    .nsec = sb->st_mtim.tv_nsec };
}

/* A server may tell neither the size nor the type. */
struct judge_end
check_end_of_attrib(const Attrib *a)
{
	struct judge_end e = { .size = a->size, .mtime = a->mtime };

	e.is_there = (a->flags & SSH2_FILEXFER_ATTR_SIZE) != 0 &&
	    ((a->flags & SSH2_FILEXFER_ATTR_PERMISSIONS) == 0 ||
	    S_ISREG(a->perm));
	e.has_time = (a->flags & SSH2_FILEXFER_ATTR_ACMODTIME) != 0;
	return e;
}

static void
look_here(struct run *t, struct file *file, int is_source)
{
	struct checking *c = file->check;
	struct judge_end now = { 0 };

	if (stat(local_path(t, file), &c->seen) == 0)
		now = end_of_stat(&c->seen);
	else
		memset(&c->seen, 0, sizeof(c->seen));
	if (!is_source)
		stat_to_attrib(&c->seen, &c->target);
	judge_looked(&c->judge, is_source, &now);
}

void
check_opened(struct file *file)
{
	struct judge_end now;
	struct stat sb;

	if (file->check == NULL || fstat(file->fd, &sb) == -1)
		return;
	now = end_of_stat(&sb);
	judge_opened(&file->check->judge, &now);
}

/* Begin and end */

static int
is_wanted(const struct run *t)
{
	return t->to == NULL && (t->resume || longopt_verifies());
}

void
check_run(struct run *t)
{
	if (t->to_conn != NULL)
		return;
	t->resumes = t->resume || longopt_get()->resume;
	if (longopt_get()->checksum && !server_has_hashes(t->server))
		fatal("--checksum needs Hayate's sftp-server at the other "
		    "end, which can tell what a file holds; this server "
		    "cannot, and nothing was copied");
	/*
	 * A file is copied in place because it may be the source itself. What
	 * differs from the source is not, and no size has to be set at the end.
	 */
	if (longopt_get()->resume)
		t->in_place = 0;
}

int
check_begin(struct run *t, struct file *file, struct job *j)
{
	const struct judge_conf conf = { .put = t->side->is_put,
	    .resume = t->resumes && !file->anew,
	    .cuts = longopt_get()->resume,
	    .checksum = longopt_get()->checksum,
	    .strict = longopt_verifies(), .preserve = t->preserve,
	    .now = time(NULL) };
	struct judge_end source;
	struct checking *c;
	int is_known = t->side->is_put ||
	    (file->a.flags & SSH2_FILEXFER_ATTR_SIZE) != 0;

	if (!is_wanted(t))
		return 0;
	file->check = c = xcalloc(1, sizeof(*c));
	c->begun_us = clock_us();
	c->is_shared = t->side->is_put;
	c->fd = t->side->is_put ? file->fd : -1;
	if (t->side->is_put && fstat(file->fd, &c->seen) == 0)
		source = end_of_stat(&c->seen);
	else
		source = check_end_of_attrib(&file->a);
	judge_begin(&c->judge, &conf, is_known ? &source : NULL,
	    !t->side->is_put, server_has_hashes(t->server));
	if (conf.put && conf.resume && source.size >= WIDTH_LEAST &&
	    server_is_tuned(t->server)) {
		c->hidden = hidden_name(file->dst);
		left_begin(&c->left);
		left_ask_owner(&c->left);
	}
	checks_begin(t->s, j);
	return 1;
}

static void
close_local(struct checking *c)
{
	if (c->fd != -1 && !c->is_shared)
		close(c->fd);
	c->is_shared = 0;
	c->fd = -1;
}

static void
end_meter(struct checking *c)
{
	if (c->name == NULL)
		return;
	c->done = (off_t)c->judge.verified;
	stop_progress_meter();
	free(c->name);
	c->name = NULL;
}

void
check_forget(struct file *file)
{
	struct checking *c = file->check;

	if (c == NULL)
		return;
	close_local(c);
	end_meter(c);
	sums_free(c->ours);
	free(c->hidden);
	free(c);
	file->check = NULL;
	file->from = 0;
}

void
check_end(struct file *file)
{
	static const char *const hows[] = { NULL, "time", "hashes", "bytes" };
	struct checking *c = file->check;

	if (c == NULL)
		return;
	file->verified = c->judge.verified;
	file->how = file->verified > 0 ? hows[c->judge.how] : NULL;
	check_forget(file);
}

int
check_is_same(const struct file *file, const struct stat *sb)
{
	const struct stat *seen = &file->check->seen;

	return sb->st_ino == seen->st_ino && sb->st_dev == seen->st_dev &&
	    sb->st_size == seen->st_size &&
	    sb->st_mtime == seen->st_mtime &&
	    sb->st_mtim.tv_nsec == seen->st_mtim.tv_nsec;
}

int
check_is_shared(const struct run *t)
{
	return t->side->is_put && t->resumes &&
	    server_handles(t->server) != 0 && !plan_cuts_not(t->s);
}

/* It has the size that was seen, and nobody has written to it since. */
int
check_is_kept(const struct file *file, const Attrib *found)
{
	const Attrib *was = &file->check->target;
	u_int both = was->flags & found->flags;

	return (both & SSH2_FILEXFER_ATTR_SIZE) != 0 &&
	    found->size == was->size &&
	    ((found->flags & SSH2_FILEXFER_ATTR_PERMISSIONS) == 0 ||
	    S_ISREG(found->perm)) &&
	    ((both & SSH2_FILEXFER_ATTR_ACMODTIME) == 0 ||
	    found->mtime == was->mtime) &&
	    ((both & SSH2_FILEXFER_ATTR_UIDGID) == 0 ||
	    found->uid == was->uid);
}

int
check_kept(struct file *file, const Attrib *found)
{
	int is_kept = check_is_kept(file, found);

	if (!is_kept) {
		verbose("\"%s\" is not what was compared, begins again",
		    file->dst);
		file->anew = 1;
	}
	return is_kept;
}

int
check_is_gone(struct file *file, const struct plan_action *a, u_int status)
{
	if (file->from == 0 || status == SSH2_FX_OK)
		return 0;
	file->anew |= a->op == PLAN_SAME;
	if (a->op != PLAN_OPEN || status != SSH2_FX_NO_SUCH_FILE)
		return 0;
	verbose("\"%s\" is not there any more, begins again", file->dst);
	return file->anew = 1;
}

/* Comparison */

static void
fail(struct file *file, struct job *j)
{
	file->failed = 1;
	plan_fail(j);
}

/*
 * Opens a local file that was looked at, for what its name may not be trusted
 * with: somebody may have given it to another file. Returns -1 with errno.
 */
static int
open_seen(const struct run *t, const struct file *file, int how)
{
	struct stat sb;
	int fd = open(local_path(t, file), how | O_NONBLOCK | O_CLOEXEC);

	if (fd == -1 || (fstat(fd, &sb) == 0 && check_is_same(file, &sb)))
		return fd;
	close(fd);
	errno = ESTALE;
	return -1;
}

/* Returns -1 if there is nothing to compare with. */
static int
open_local(struct run *t, struct file *file)
{
	struct checking *c = file->check;

	if (c->fd != -1)
		return 0;
	c->fd = open_seen(t, file, O_RDONLY);
	if (c->fd == -1)
		debug_f("\"%s\" cannot be read: %s", local_path(t, file),
		    strerror(errno));
	return c->fd == -1 ? -1 : 0;
}

/* It goes on behind "off". Draws the meter of a single file that takes long. */
void
check_show(struct run *t, struct file *file, uint64_t off)
{
	struct checking *c = file->check;
	const struct judge *x = check_judge(c);
	const char *slash = strrchr(file->src, '/');
	uint64_t total = MINIMUM(x->source.size, x->target.size);

	c->done = (off_t)off;
	if (c->name != NULL)
		refresh_progress_meter(0);
	else if (t->alone && showprogress && (total > VERIFY_RANGE ||
	    clock_us() - c->begun_us > SILENT_US)) {
		show_finish(t);
		xasprintf(&c->name, "%s: comparing",
		    slash != NULL ? slash + 1 : file->src);
		start_progress_meter(c->name, (off_t)total, &c->done);
	}
}

/* Hashes some of ours. Both sides hash at the same time. */
void
check_sum(struct run *t, struct file *file, struct job *j)
{
	struct checking *c = file->check;
	uint64_t n = sums_add(c->ours, c->fd, SLICE);

	t->worked += n;
	c->asked.off += n;
	if (n > 0)
		check_show(t, file, c->asked.off);
	if (n == SLICE && !interrupted)
		checks_later(t->s, j);
	else
		c->asked.len = 0;
}

/* Returns 1 if the comparison that is under way has come to its end. */
static int
has_compared(struct run *t, struct file *file, struct job *j)
{
	struct checking *c = file->check;
	const unsigned char *ours;
	size_t n;

	if (c->asked.op == JUDGE_MORE) {
		c->asked.op = 0;
		judge_more(&c->judge, !c->has_ended);
		return 1;
	}
	if (c->asked.op == JUDGE_BACK) {
		c->asked.op = 0;
		judge_compared(check_judge(c), MINIMUM(checks_came(j),
		    c->differs - c->asked.off));
		return 1;
	}
	if (c->asked.len > 0)
		check_sum(t, file, j);
	if (c->asked.len > 0 || !c->has_theirs)
		return 0;
	c->asked.op = 0;
	n = sums_get(c->ours, &ours);
	if (c->ntheirs == -1)
		judge_refused(check_judge(c));
	else
		judge_hashed(check_judge(c), ours, n, c->theirs, c->ntheirs);
	sums_free(c->ours);
	c->ours = NULL;
	return 1;
}

/* Returns 1 if it has come to its end at once. */
static int
compare(struct run *t, struct file *file, struct job *j,
    const struct judge_action *a)
{
	struct checking *c = file->check;

	if (open_local(t, file) == -1) {
		judge_compared(check_judge(c), 0);
		return 1;
	}
	check_show(t, file, a->off);
	c->asked = *a;
	if (a->op == JUDGE_HASH) {
		c->has_theirs = 0;
		c->ours = sums_new(a->off, a->len);
		checks_ask(t->s, j, PLAN_HASH, a->off, (uint32_t)a->len);
		return 0;
	}
	verbose("\"%s\": without hashes all that is there is read back",
	    file->dst);
	c->differs = UINT64_MAX;
	checks_back(t->s, j, a->off, a->len);
	return 0;
}

/* One byte is read behind the size that the server has reported. */
static void
read_on(struct run *t, struct file *file, struct job *j,
    const struct judge_action *a)
{
	file->check->asked = *a;
	file->check->has_ended = 0;
	checks_back(t->s, j, a->off, 1);
}

/* Answers */

/* So many bytes need not be moved. */
static void
count_kept(struct run *t, struct file *file, uint64_t bytes)
{
	file->skipped += bytes;
	t->count.bytes += bytes;
}

/* What is not known of a source, the copy finds out; but not what it is. */
static int
refuse_source(struct run *t, struct file *file)
{
	const struct checking *c = file->check;

	if (t->side->is_put || c->judge.source.is_there)
		return 0;
	if (c->status != SSH2_FX_OK)
		SAY(file, "stat remote: %s", fx2txt(c->status));
	else if ((file->a.flags & SSH2_FILEXFER_ATTR_PERMISSIONS) != 0 &&
	    !S_ISREG(file->a.perm))
		SAY(file, "download %s: not a regular file", file->src);
	else
		return 0;
	return 1;
}

static void
copy_from(struct run *t, struct file *file, struct job *j, uint64_t off)
{
	struct checking *c = file->check;

	c->is_copying = 1;
	close_local(c);
	end_meter(c);
	if (refuse_source(t, file)) {
		fail(file, j);
		return;
	}
	if (off > 0)
		debug_f("\"%s\" goes on at %llu of %llu", file->dst,
		    (unsigned long long)off,
		    (unsigned long long)c->judge.source.size);
	file->from = off;
	checks_begin_at(j, off);
	count_kept(t, file, off);
}

static void
dress_local(struct run *t, struct file *file, struct job *j)
{
	int fd = open_seen(t, file, O_RDONLY);

	if (fd == -1 && errno == EACCES)
		fd = open_seen(t, file, O_WRONLY);
	if (fd != -1) {
		file_dress(file, fd);
		close(fd);
		return;
	}
	SAY(file, "\"%s\" is not what was compared: %s", file->dst,
	    strerror(errno));
	fail(file, j);
}

/*
 * The server sets mode and time through a handle, because another user may have
 * given the name to another file. The file is opened for reading, as it may be
 * read-only and no server takes that for a new version; a server that refuses
 * is asked again with the file open for writing. Returns 0 if no request is
 * left.
 */
static int
hold(struct run *t, struct file *file, struct job *j)
{
	struct checking *c = file->check;

	if (c->held != PLAN_HOLD || c->flags != 0) {
		checks_ask(t->s, j, c->held, 0, 0);
		return 1;
	}
	c->held = 0;
	if (c->status != SSH2_FX_OK)
		SAY(file, "remote setstat \"%s\": %s", file->dst,
		    fx2txt(c->status));
	if (file->failed || c->status != SSH2_FX_OK)
		fail(file, j);
	return 0;
}

/* Sets what a copy would have set. Returns 1 if the server does. */
static int
dress(struct run *t, struct file *file, struct job *j)
{
	const Attrib *target = &file->check->target;

	if (!t->preserve || ((target->flags & SSH2_FILEXFER_ATTR_ACMODTIME) &&
	    target->mtime == file->check->judge.source.mtime &&
	    ((target->perm ^ file->a.perm) & 0777) == 0))
		return 0;
	if (!t->side->is_put) {
		dress_local(t, file, j);
		return 0;
	}
	file->check->held = PLAN_HOLD;
	file->check->flags = SSH2_FXF_READ;
	return hold(t, file, j);
}

/* Returns 1 if nothing more is to be asked. */
static int
complete(struct run *t, struct file *file, struct job *j)
{
	file->is_complete = 1;
	checks_complete(j);
	count_kept(t, file, file->check->judge.source.size);
	if (t->resume)
		NOTE(file, "File \"%s\" was not modified", file->dst);
	else
		verbose("\"%s\" is complete", file->dst);
	return !dress(t, file, j);
}

static void
refuse_longer(struct run *t, struct file *file, struct job *j)
{
	if (t->side->is_put)
		SAY(file, "resume \"%s\": destination file same size or "
		    "larger", file->src);
	else
		SAY(file, "Unable to resume download of \"%s\": local file is "
		    "larger than remote", file->dst);
	fail(file, j);
}

static void
refuse_changed(const struct run *t, struct file *file, struct job *j)
{
	if (t->in_place)
		file_is_own(file);
	else if (!file->keeps || !file->failed)
		SAY(file, "\"%s\" changed while it was copied", file->src);
	judge_said(&file->check->judge);
	if (file->check->judge.conf.strict)
		fail(file, j);
}

static void
refuse_other(struct file *file, struct job *j)
{
	SAY(file, "checksum: \"%s\" and \"%s\" differ", file->src, file->dst);
	fail(file, j);
}

/* What is left over */

/* Nothing is believed of it but its size. */
static void
try(struct checking *c, unsigned int number)
{
	struct judge_conf conf = c->judge.conf;
	struct judge_end target = { .is_there = 1,
	    .size = c->left.name[number].size };

	hidden_number(c->hidden, number);
	c->number = number;
	c->is_hidden = 1;
	conf.preserve = 0;
	conf.cuts = 1;
	judge_begin(&c->other, &conf, &c->judge.source, 0,
	    c->judge.has_hashes);
	judge_looked(&c->other, 0, &target);
}

/* Returns 1 if nothing more is to be asked for now. */
static int
look_beside(struct run *t, struct file *file, struct job *j)
{
	struct checking *c = file->check;
	struct left_action a;

	for (;;) {
		left_next(&c->left, clock_us(), &a);
		switch (a.op) {
		case LEFT_FIND:
		case LEFT_SWEEP:
			checks_ask(t->s, j, a.op == LEFT_FIND ? PLAN_FIND :
			    PLAN_SWEEP, a.number, 0);
			return 0;
		case LEFT_WAIT:
			t->waits = 1;
			checks_later(t->s, j);
			return 0;
		case LEFT_TRY:
			try(c, a.number);
			return 1;
		case LEFT_RUNS:
			hidden_number(c->hidden, a.number);
			NOTE(file, "\"%s\" belongs to a copy that still runs",
			    c->hidden);
			break;
		case LEFT_BUSY:
			return 0;
		case LEFT_END:
			return 1;
		}
	}
}

/* What was found is compared up to "off". */
static void
take(struct run *t, struct file *file, struct job *j, uint64_t off)
{
	struct checking *c = file->check;

	if (off > 0) {
		checks_ask(t->s, j, PLAN_TAKE, c->number, 0);
		return;
	}
	NOTE(file, "\"%s\" is not what is copied, begins again", c->hidden);
	c->is_hidden = 0;
}

/* Returns 1 if a search for what is left over has begun. */
static int
searches(struct checking *c, uint64_t off)
{
	if (c->hidden == NULL || off > 0 || c->judge.target.is_there ||
	    c->has_searched)
		return 0;
	c->has_searched = 1;
	left_search(&c->left);
	return 1;
}

/* All is done, but for what is left over. */
static void
end(struct run *t, struct file *file, struct job *j)
{
	struct checking *c = file->check;

	if (c->hidden == NULL)
		return;
	if (!c->is_over)
		left_clean(&c->left);
	c->is_over = 1;
	(void)look_beside(t, file, j);
}

/* The work */

/*
 * The target to "size" bytes, unless it is cut last: another copy may write it.
 * Returns 1 if that is done.
 */
static int
shorten(struct run *t, struct file *file, struct job *j, uint64_t size)
{
	struct checking *c = file->check;
	int fd;

	if (check_is_shared(t) && !c->is_hidden && judge_keep(&c->judge))
		return 1;
	if (t->side->is_put) {
		checks_ask(t->s, j, PLAN_SHORTEN, size, 0);
		return 0;
	}
	if (judge_read_on(&c->judge))
		return 1;
	fd = open_seen(t, file, O_WRONLY);
	judge_cut(&c->judge, fd != -1 && ftruncate(fd, (off_t)size) == 0);
	if (fd != -1)
		close(fd);
	return 1;
}

/* Returns 1 if the next question can be asked at once. */
static int
look(struct run *t, struct file *file, struct job *j, int is_source)
{
	if (is_source == t->side->is_put) {
		look_here(t, file, is_source);
		return 1;
	}
	file->check->status = SSH2_FX_OK;
	checks_ask(t->s, j, PLAN_LOOK, 0, 0);
	return 0;
}

/* The copy can begin, or need not. Returns 1 if something is next at once. */
static int
answer(struct run *t, struct file *file, struct job *j,
    const struct judge_action *a)
{
	struct checking *c = file->check;

	if (c->is_hidden) {
		take(t, file, j, a->off);
		return !c->is_hidden;
	}
	if (searches(c, a->off))
		return 1;
	if (a->op == JUDGE_COPY)
		copy_from(t, file, j, a->off);
	else if (complete(t, file, j))
		end(t, file, j);
	return 0;
}

/* Does what is next. Returns 1 if something else is next at once. */
static int
go_on(struct run *t, struct file *file, struct job *j)
{
	struct judge_action a;

	judge_next(check_judge(file->check), &a);
	switch (a.op) {
	case JUDGE_SOURCE:
	case JUDGE_TARGET:
		return look(t, file, j, a.op == JUDGE_SOURCE);
	case JUDGE_HASH:
	case JUDGE_BACK:
		return compare(t, file, j, &a);
	case JUDGE_CUT:
		return shorten(t, file, j, a.off);
	case JUDGE_MORE:
		read_on(t, file, j, &a);
		return 0;
	case JUDGE_COPY:
	case JUDGE_COMPLETE:
		return answer(t, file, j, &a);
	case JUDGE_LONGER:
		refuse_longer(t, file, j);
		return 0;
	case JUDGE_CHANGED:
		refuse_changed(t, file, j);
		return !file->failed;
	case JUDGE_DIFFERS:
		refuse_other(file, j);
		return 0;
	default:
		end(t, file, j);
		return 0;
	}
}

/* What was asked is lost with its link. */
static void
ask_again(struct checking *c)
{
	c->asked.op = 0;
	sums_free(c->ours);
	c->ours = NULL;
	left_lost(&c->left);
}

int
check_work(struct run *t, struct file *file, struct job *j)
{
	struct checking *c = file->check;
	int was_copying = c->is_copying;

	if (checks_ask_is_lost(j))
		ask_again(c);
	if ((c->held != 0 && hold(t, file, j)) || interrupted || file->failed)
		return 0;
	if (file->is_complete || c->is_over) {
		end(t, file, j);
		return 0;
	}
	if (c->is_copying && !c->is_copied) {
		c->is_copied = 1;
		judge_copied(&c->judge);
	}
	if (c->asked.op != 0 && !has_compared(t, file, j))
		return 0;
	do {
		if (c->hidden != NULL && !c->is_hidden && !c->is_copied &&
		    !look_beside(t, file, j))
			return 0;
	} while (go_on(t, file, j));
	return c->is_copying && !was_copying && !file->failed;
}
