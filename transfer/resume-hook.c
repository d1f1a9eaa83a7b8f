/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See resume-hook.h. */

#include "includes.h"

#include <sys/types.h>
#include <sys/stat.h>
#include <sys/time.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "atomicio.h"
#include "log.h"
#include "misc.h"
#include "progressmeter.h"
#include "sftp.h"
#include "sftp-common.h"
#include "sftp-client.h"
#include "xmalloc.h"

#include "blocksum-hook.h"
#include "check-hook.h"
#include "clock.h"
#include "copy-hook.h"
#include "hidden-hook.h"
#include "longopt-hook.h"
#include "report-hook.h"
#include "resume-hook.h"
#include "server-hook.h"
#include "verify.h"
#include "width.h"

#define SUMS_MAX	(VERIFY_RANGE / VERIFY_BLOCK)
#define PIECE		(32 * 1024)

/* A comparison that takes longer than this is shown. */
#define SILENT_US	1000000

/* A source that was written so many seconds ago, or later, is still new. */
#define RECENT_S	2

extern volatile sig_atomic_t interrupted;
extern int showprogress;

/* What is known of one end of a copy */
struct end {
	const char *path;
	int	 is_remote;
	int	 is_there;		/* a regular file of known size */
	Attrib	 a;			/* without owner */
	struct timespec mtime;		/* of a local file */
};

struct copy {
	struct sftp_conn *conn;
	struct end source, target;
	Attrib	*given;			/* by the caller; NULL: none */
	int	 preserve, resume, sync, in_place;
	int	 is_copied;
	int	 is_compared;		/* whole and equal */
	const char *how;		/* what was verified; NULL: nothing */
	uint64_t verified;		/* so many bytes */
};

/* A comparison, and its meter */
struct comparison {
	const struct copy *c;
	int	 fd;			/* of the local end */
	uint64_t differs;		/* what was read back, at this offset */
	uint64_t total, begun_us;
	off_t	 done;
	char	*name;			/* in the meter; NULL: none */
	const char *how;		/* see report_verified(); NULL: not */
};

static int is_inside;			/* sftp_upload() was called from here */

/* Ends */

static int
stat_local(struct end *e)
{
	struct stat sb;

	if (stat(e->path, &sb) == -1)
		return -1;
	stat_to_attrib(&sb, &e->a);
	e->mtime = sb.st_mtim;
	return 0;
}

static int
is_regular(const Attrib *a)
{
	return (a->flags & SSH2_FILEXFER_ATTR_SIZE) != 0 &&
	    ((a->flags & SSH2_FILEXFER_ATTR_PERMISSIONS) == 0 ||
	    S_ISREG(a->perm));
}

static void
look(struct sftp_conn *conn, struct end *e)
{
	int r = e->is_remote ? sftp_stat(conn, e->path, 1, &e->a) :
	    stat_local(e);

	e->is_there = r == 0 && is_regular(&e->a);
}

static void
look_at_source(struct copy *c)
{
	look(c->conn, &c->source);
	c->given = c->source.is_remote && c->source.is_there ? &c->source.a :
	    NULL;
}

static int
has_time(const struct end *e)
{
	return (e->a.flags & SSH2_FILEXFER_ATTR_ACMODTIME) != 0;
}

static int
has_changed(struct sftp_conn *conn, const struct end *before)
{
	struct end now = *before;

	look(conn, &now);
	return !now.is_there || now.a.size != before->a.size ||
	    (has_time(&now) && now.a.mtime != before->a.mtime) ||
	    now.mtime.tv_nsec != before->mtime.tv_nsec;
}

/* Cuts a file to "size" bytes. Returns -1 if it then has another size. */
static int
cut(struct sftp_conn *conn, struct end *e, uint64_t size)
{
	Attrib a;
	int r;

	attrib_clear(&a);
	a.flags = SSH2_FILEXFER_ATTR_SIZE;
	a.size = size;
	r = e->is_remote ? sftp_setstat(conn, e->path, &a) :
	    truncate(e->path, (off_t)size);
	if (r == 0)
		look(conn, e);
	return r == 0 && e->is_there && e->a.size == size ? 0 : -1;
}

/* Comparison */

static const struct end *
local_end(const struct copy *c)
{
	return c->source.is_remote ? &c->target : &c->source;
}

static const struct end *
remote_end(const struct copy *c)
{
	return c->source.is_remote ? &c->source : &c->target;
}

/* It goes on behind "off". Draws the meter, if it takes long. */
static void
show(struct comparison *p, uint64_t off)
{
	const char *slash = strrchr(p->c->source.path, '/');

	p->done = (off_t)off;
	if (p->name != NULL)
		refresh_progress_meter(0);
	else if (showprogress && (p->total > VERIFY_RANGE ||
	    clock_us() - p->begun_us > SILENT_US)) {
		xasprintf(&p->name, "%s: comparing",
		    slash != NULL ? slash + 1 : p->c->source.path);
		start_progress_meter(p->name, (off_t)p->total, &p->done);
	}
}

static ssize_t
sum_ours(struct comparison *p, const struct verify_action *a,
    unsigned char *sums)
{
	uint64_t at;
	ssize_t n, all = 0;

	for (at = 0; at < a->len; at += VERIFY_BLOCK, all += n) {
		n = blocksum_file(p->fd, a->off + at,
		    MINIMUM(a->len - at, VERIFY_BLOCK), VERIFY_BLOCK,
		    sums + all * BLOCKSUM_LEN, 1, NULL);
		if (n == -1)
			return 0;
		show(p, a->off + at);
	}
	return all;
}

/* Both sides hash at the same time. */
static void
compare_hashes(struct comparison *p, struct verify *x,
    const struct verify_action *a)
{
	unsigned char ours[SUMS_MAX * BLOCKSUM_LEN];
	unsigned char theirs[SUMS_MAX * BLOCKSUM_LEN];
	struct sftp_conn *conn = p->c->conn;
	ssize_t n, m;
	u_int id;

	id = check_send(conn, remote_end(p->c)->path, a->off, a->len,
	    VERIFY_BLOCK);
	n = sum_ours(p, a, ours);
	m = check_take(conn, id, theirs,
	    (a->len + VERIFY_BLOCK - 1) / VERIFY_BLOCK);
	if (m == -1)
		verify_refused(x);
	else
		verify_hashed(x, ours, n, theirs, m);
}

static int
read_local(int fd, uint64_t off, unsigned char *buf, size_t len)
{
	ssize_t n;

	while (len > 0) {
		n = pread(fd, buf, len, (off_t)off);
		if (n == -1 && errno == EINTR)
			continue;
		if (n <= 0)
			return -1;
		buf += n;
		off += n;
		len -= n;
	}
	return 0;
}

/* Takes what was read back, in any order. Returns 0 to get no more. */
static int
compare_piece(void *arg, uint64_t off, const u_char *theirs, size_t len)
{
	struct comparison *p = arg;
	unsigned char ours[PIECE];
	size_t n;

	for (; len > 0; off += n, theirs += n, len -= n) {
		n = MINIMUM(len, sizeof(ours));
		if (read_local(p->fd, off, ours, n) == 0 &&
		    memcmp(ours, theirs, n) == 0)
			continue;
		p->differs = MINIMUM(p->differs, off);
		break;
	}
	show(p, off);
	return !interrupted && p->differs == UINT64_MAX;
}

static void
compare_bytes(struct comparison *p, struct verify *x,
    const struct verify_action *a)
{
	uint64_t end;

	verbose("\"%s\": without hashes all that is there is read back",
	    p->c->target.path);
	p->differs = UINT64_MAX;
	end = a->off + check_read(p->c->conn, remote_end(p->c)->path, a->off,
	    a->len, compare_piece, p);
	verify_compared(x, MINIMUM(end, p->differs) - a->off);
}

/*
 * Whether an earlier copy has set the time of the target. Such a time is of
 * whole seconds, unlike that of a write; and in the second in which the source
 * was written, the target may have been written as well.
 */
static int
has_set_time(const struct copy *c)
{
	return c->preserve && !longopt_get()->checksum &&
	    has_time(&c->source) && has_time(&c->target) &&
	    c->source.a.mtime == c->target.a.mtime &&
	    c->target.mtime.tv_nsec == 0 &&
	    (time_t)c->source.a.mtime + RECENT_S < time(NULL);
}

static void
compare_ends(struct comparison *p, int same_time, struct verify_action *a)
{
	const struct copy *c = p->c;
	struct verify_conf conf = { .source = c->source.a.size,
	    .target = c->target.a.size, .same_time = same_time,
	    .hashes = server_has_hashes(c->conn) };
	struct verify x;

	p->total = MINIMUM(conf.source, conf.target);
	verify_begin(&x, &conf);
	for (;;) {
		verify_next(&x, a);
		if (interrupted || (a->op != VERIFY_HASH &&
		    a->op != VERIFY_READ))
			break;
		show(p, a->off);
		p->how = a->op == VERIFY_HASH ? "hashes" : "bytes";
		if (a->op == VERIFY_HASH)
			compare_hashes(p, &x, a);
		else
			compare_bytes(p, &x, a);
	}
	if (p->how == NULL && same_time)
		p->how = "time";
}

/* Asks and reads until "a" is VERIFY_COPY or VERIFY_DONE. */
static void
compare(struct copy *c, int same_time, struct verify_action *a)
{
	struct comparison p = { .c = c, .begun_us = clock_us() };

	memset(a, 0, sizeof(*a));
	a->op = VERIFY_COPY;
	p.fd = open(local_end(c)->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (p.fd == -1) {
		debug_f("\"%s\" cannot be read: %s", local_end(c)->path,
		    strerror(errno));
		return;
	}
	compare_ends(&p, same_time, a);
	c->how = p.how;
	if (p.name != NULL) {
		p.done = (off_t)a->off;
		stop_progress_meter();
	}
	free(p.name);
	close(p.fd);
}

/* The copy */

/* Sets what upstream sets when it has copied a file. */
static int
set_attributes(struct copy *c)
{
	Attrib a = c->source.a;
	struct timeval tv[2];
	int same = has_time(&c->target) &&
	    c->target.a.mtime == c->source.a.mtime &&
	    ((c->target.a.perm ^ c->source.a.perm) & 0777) == 0;

	if (!c->preserve || same)
		return 0;
	a.flags &= SSH2_FILEXFER_ATTR_PERMISSIONS |
	    SSH2_FILEXFER_ATTR_ACMODTIME;
	a.perm &= 0777;
	if (c->target.is_remote)
		return sftp_setstat(c->conn, c->target.path, &a);
	if ((a.flags & SSH2_FILEXFER_ATTR_PERMISSIONS) != 0 &&
	    chmod(c->target.path, a.perm) == -1)
		error("local chmod \"%s\": %s", c->target.path,
		    strerror(errno));
	memset(tv, 0, sizeof(tv));
	tv[0].tv_sec = a.atime;
	tv[1].tv_sec = a.mtime;
	if (has_time(&c->source) && utimes(c->target.path, tv) == -1)
		error("local set times \"%s\": %s", c->target.path,
		    strerror(errno));
	return 0;
}

/* Nothing is to be copied. Returns as the function of upstream. */
static int
complete(struct copy *c)
{
	if (c->resume)
		logit("File \"%s\" was not modified", c->target.path);
	else
		verbose("\"%s\" is complete", c->target.path);
	return set_attributes(c);
}

static int
call_stock(struct copy *c)
{
	c->is_copied = 1;
	if (c->source.is_remote)
		return sftp_download(c->conn, c->source.path, c->target.path,
		    c->given, c->preserve, c->resume, c->sync, c->in_place);
	return sftp_upload(c->conn, c->source.path, c->target.path,
	    c->preserve, c->resume, c->sync, c->in_place);
}

static int
call_upstream(struct copy *c)
{
	int ret;

	is_inside = 1;
	ret = call_stock(c);
	is_inside = 0;
	return ret;
}

/*
 * Compares the target, and cuts it behind what is equal. A server may empty the
 * file first and then make it as long, so what it cut is compared again.
 */
static void
find_begin(struct copy *c, struct verify_action *a)
{
	compare(c, has_set_time(c), a);
	if (interrupted || a->off == c->target.a.size)
		return;
	if (a->off > 0 && cut(c->conn, &c->target, a->off) == 0) {
		if (c->target.is_remote)
			compare(c, 0, a);
		if (a->off == c->target.a.size)
			return;
	}
	a->op = VERIFY_COPY;
	a->off = 0;
}

/* Keeps what is good of the target and copies the rest. */
static int
copy_from(struct copy *c, const struct verify_action *a)
{
	c->verified = a->op == VERIFY_DONE ? c->source.a.size : a->off;
	if (a->op == VERIFY_DONE) {
		c->is_compared = 1;
		return complete(c);
	}
	debug_f("\"%s\" goes on at %llu of %llu", c->target.path,
	    (unsigned long long)a->off,
	    (unsigned long long)c->source.a.size);
	c->resume = a->off > 0;
	return call_upstream(c);
}

/* The target is there. */
static int
go_on(struct copy *c)
{
	struct verify_action a;

	find_begin(c, &a);
	return interrupted ? -1 : copy_from(c, &a);
}

/*
 * A put over several channels was killed, and has left its file under a hidden
 * name (hidden-hook.h), which may have holes. What is equal of it gets the
 * name of the target, if no copy writes to it any more, and the name is free.
 * No time is believed. Returns 1 if so.
 */
static int
take_hidden(struct copy *c, struct hidden *h, struct verify_action *a)
{
	struct copy from = *c;

	from.preserve = 0;
	while ((from.target.path = hidden_next(h)) != NULL) {
		if (!hidden_is_dead(h)) {
			logit("\"%s\" belongs to a copy that still runs",
			    from.target.path);
			continue;
		}
		look(c->conn, &from.target);
		from.target.a.flags &= ~SSH2_FILEXFER_ATTR_ACMODTIME;
		if (!from.target.is_there)
			continue;
		find_begin(&from, a);
		if (interrupted)
			return 0;
		if (a->off == 0)
			logit("\"%s\" is not what is copied, begins again",
			    from.target.path);
		else if (sftp_rename(c->conn, from.target.path,
		    c->target.path, 1) == 0) {
			c->how = from.how;
			hidden_taken(h);
			look(c->conn, &c->target);
			return c->target.is_there;
		}
	}
	return 0;
}

/* The target is there or not. */
static int
go_on_or_begin(struct copy *c, struct hidden *h)
{
	struct verify_action a;

	if (c->target.is_there && (longopt_get()->resume ||
	    c->target.a.size <= c->source.a.size))
		return go_on(c);
	/* A copy that only slept may have written behind the cut. */
	if (h != NULL && !c->target.is_there && take_hidden(c, h, &a))
		return c->target.a.size == a.off ? copy_from(c, &a) : go_on(c);
	if (interrupted)
		return -1;
	c->resume = c->target.is_there;	/* to be refused as longer */
	return call_upstream(c);
}

static struct hidden *
look_for_hidden(const struct copy *c)
{
	if (!c->target.is_remote || c->source.a.size < WIDTH_LEAST ||
	    !server_is_tuned(c->conn))
		return NULL;
	return hidden_look(c->conn, c->target.path, c->source.a.size,
	    &c->source.mtime);
}

/* With --checksum: compares all of both files. */
static int
verify(struct copy *c)
{
	struct verify_action a;

	look(c->conn, &c->source);
	look(c->conn, &c->target);
	if (c->source.is_there && c->target.is_there &&
	    c->source.a.size == c->target.a.size) {
		compare(c, 0, &a);
		if (interrupted)
			return -1;
		c->verified = c->source.a.size;
		if (a.op == VERIFY_DONE)
			return 0;
	}
	c->verified = 0;
	error("checksum: \"%s\" and \"%s\" differ", c->source.path,
	    c->target.path);
	return -1;
}

/* A copy has ended well. Is it what was asked for? */
static int
judge(struct copy *c)
{
	if (c->is_copied && has_changed(c->conn, &c->source)) {
		error("\"%s\" changed while it was copied", c->source.path);
		if (longopt_verifies())
			return -1;
	}
	return longopt_get()->checksum && !c->is_compared ? verify(c) : 0;
}

/*
 * What a listing told of the source may be old. It is enough to believe in the
 * time of a target that is as old, which saves a request for each file.
 */
static void
look_at_both(struct copy *c, int resume)
{
	int is_told = c->given != NULL;

	if (is_told) {
		c->source.a = *c->given;
		c->source.is_there = is_regular(c->given);
	} else
		look_at_source(c);
	if (resume && c->source.is_there)
		look(c->conn, &c->target);
	if (is_told && !(c->target.is_there && has_set_time(c) &&
	    c->target.a.size == c->source.a.size))
		look_at_source(c);
}

static int
copy_file(struct copy *c)
{
	int ret, resume = c->resume || longopt_get()->resume;
	struct hidden *h;

	if (longopt_get()->checksum && !server_has_hashes(c->conn))
		fatal("--checksum: this server does not hash files (it lacks "
		    "check-file-name), nothing was copied");
	look_at_both(c, resume);
	if (!c->source.is_there)
		return call_upstream(c);	/* which says what is wrong */
	/*
	 * A file is copied in place because it may be the source itself. What
	 * differs from the source is not, and no size has to be set at the end.
	 */
	if (longopt_get()->resume)
		c->in_place = 0;
	h = resume ? look_for_hidden(c) : NULL;
	ret = go_on_or_begin(c, h);
	if (ret == 0 && !interrupted && h != NULL)
		hidden_remove(h);
	hidden_free(h);
	if (ret == 0 && !interrupted)
		ret = judge(c);
	report_verified(c->verified > 0 ? c->how : NULL, c->verified,
	    ret == 0 && !c->is_copied);
	return ret;
}

/* In a tree the file is ours to report, otherwise the caller does it. */
static int
copy_and_report(struct copy *c, int (*copy)(struct copy *))
{
	struct sftp_conn *conn = c->conn;
	int is_tuned = server_is_tuned(conn), ret;
	uint64_t begun_us = clock_us();
	uint64_t bytes = is_tuned ? server_moved(conn) : 0;
	struct stat sb;

	if (report_expects())
		return copy(c);
	report_expect_file(c->target.is_remote ? REPORT_PUT : REPORT_GET,
	    c->source.path, c->target.path);
	ret = copy(c);
	if (is_tuned)
		bytes = server_moved(conn) - bytes;
	else if (ret == 0 && c->is_copied &&
	    stat(local_end(c)->path, &sb) == 0)
		bytes = sb.st_size;
	report_file(REPORT_IN_BOTH, bytes, clock_us() - begun_us, ret);
	return ret;
}

/* Is this for the functions below? */
static int
is_wanted(const struct sftp_conn *conn, int resume)
{
	return !is_inside && (longopt_verifies() ||
	    (resume && !server_is_stock(conn)));
}

/* In a tree that upstream copies nobody else reports the file. */
static int
is_only_reported(void)
{
	return !is_inside && report_is_wanted() && !report_expects();
}

int
resume_put(struct sftp_conn *conn, const char *local, const char *remote,
    int preserve, int resume, int sync, int in_place, int *ret)
{
	struct copy c = { .conn = conn, .source = { .path = local },
	    .target = { .path = remote, .is_remote = 1 },
	    .preserve = preserve, .resume = resume, .sync = sync,
	    .in_place = in_place };

	if (!is_wanted(conn, resume) && is_only_reported()) {
		*ret = copy_and_report(&c, call_stock);
		return 1;
	}
	if (!is_wanted(conn, resume))
		return !resume && !sync && copy_put(conn, local, remote,
		    preserve, in_place, ret);
	*ret = copy_and_report(&c, copy_file);
	return 1;
}

int
resume_get(struct sftp_conn *conn, const char *remote, const char *local,
    Attrib *a, int preserve, int resume, int sync, int in_place, int *ret)
{
	struct copy c = { .conn = conn, .target = { .path = local },
	    .source = { .path = remote, .is_remote = 1 }, .given = a,
	    .preserve = preserve, .resume = resume, .sync = sync,
	    .in_place = in_place };

	if (!is_wanted(conn, resume) && is_only_reported()) {
		*ret = copy_and_report(&c, call_stock);
		return 1;
	}
	if (!is_wanted(conn, resume))
		return !resume && !sync && copy_get(conn, remote, local, a,
		    preserve, in_place, ret);
	*ret = copy_and_report(&c, copy_file);
	return 1;
}

u_int
resume_open_flag(void)
{
	return is_inside ? 0 : SSH2_FXF_APPEND;
}
