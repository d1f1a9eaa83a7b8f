/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See xresume-hook.h. */

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
#include <unistd.h>

#include "atomicio.h"
#include "log.h"
#include "misc.h"
#include "sftp.h"
#include "sftp-common.h"
#include "sftp-client.h"
#include "xmalloc.h"

#include "blocksum-hook.h"
#include "clock.h"
#include "sftpq-hook.h"
#include "xask-hook.h"
#include "xfetch-hook.h"
#include "xopt-hook.h"
#include "xreport-hook.h"
#include "xresume.h"
#include "xresume-hook.h"
#include "xstripe-hook.h"
#include "xtree-hook.h"

#define SUMS_MAX	(XRESUME_RANGE / XRESUME_BLOCK)

extern volatile sig_atomic_t interrupted;

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
	int	 is_hashed;		/* whole and equal */
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

/* The caller of sftp_download() may know what is there. */
static void
look_at_source(struct copy *c)
{
	if (c->given == NULL) {
		look(c->conn, &c->source);
		if (c->source.is_remote && c->source.is_there)
			c->given = &c->source.a;
	} else {
		c->source.a = *c->given;
		c->source.is_there = is_regular(&c->source.a);
	}
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

/* Both sides hash at the same time. */
static void
compare_hashes(const struct copy *c, struct xresume *x, int fd,
    const struct xresume_action *a)
{
	unsigned char ours[SUMS_MAX * BLOCKSUM_LEN];
	unsigned char theirs[SUMS_MAX * BLOCKSUM_LEN];
	ssize_t n, m;

	xask_send(c->conn, remote_end(c)->path, a->off, a->len, XRESUME_BLOCK);
	n = blocksum_file(fd, a->off, a->len, XRESUME_BLOCK, ours, SUMS_MAX,
	    NULL);
	m = xask_take(c->conn, theirs,
	    (a->len + XRESUME_BLOCK - 1) / XRESUME_BLOCK);
	if (m == -1)
		xresume_refused(x);
	else
		xresume_hashed(x, ours, n == -1 ? 0 : n, theirs, m);
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

static void
compare_bytes(const struct copy *c, struct xresume *x, int fd,
    const struct xresume_action *a)
{
	unsigned char *ours = xmalloc(a->len), *theirs = xmalloc(a->len);

	xresume_compared(x,
	    xask_read(c->conn, remote_end(c)->path, a->off, theirs,
	    a->len) == 0 && read_local(fd, a->off, ours, a->len) == 0 &&
	    memcmp(ours, theirs, a->len) == 0);
	free(ours);
	free(theirs);
}

static void
configure(const struct copy *c, struct xresume_conf *conf)
{
	memset(conf, 0, sizeof(*conf));
	conf->source = c->source.a.size;
	conf->target = c->target.a.size;
	conf->has_times = has_time(&c->source) && has_time(&c->target);
	conf->source_time = c->source.a.mtime;
	conf->target_time = c->target.a.mtime;
	conf->preserve = c->preserve;
	conf->hashes = xask_has_hashes(c->conn);
	conf->ask_all = xopt_get()->checksum;
}

/* Asks and reads until "a" is XRESUME_COPY or XRESUME_DONE. */
static void
compare(const struct copy *c, struct xresume *x, struct xresume_action *a)
{
	struct xresume_conf conf;
	int fd;

	configure(c, &conf);
	memset(a, 0, sizeof(*a));
	memset(x, 0, sizeof(*x));
	a->op = XRESUME_COPY;
	fd = open(local_end(c)->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd == -1) {
		debug_f("\"%s\" cannot be read: %s", local_end(c)->path,
		    strerror(errno));
		return;
	}
	xresume_begin(x, &conf);
	for (;;) {
		xresume_next(x, a);
		if (interrupted || (a->op != XRESUME_HASH &&
		    a->op != XRESUME_READ))
			break;
		if (a->op == XRESUME_HASH)
			compare_hashes(c, x, fd, a);
		else
			compare_bytes(c, x, fd, a);
	}
	close(fd);
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
	if (c->target.a.size > c->source.a.size &&
	    cut(c->conn, &c->target, c->source.a.size) == -1) {
		error("\"%s\" cannot be cut to %llu bytes", c->target.path,
		    (unsigned long long)c->source.a.size);
		return -1;
	}
	if (c->resume)
		logit("File \"%s\" was not modified", c->target.path);
	else
		verbose("\"%s\" is complete", c->target.path);
	return set_attributes(c);
}

static int
call_upstream(struct copy *c)
{
	int ret;

	is_inside = c->is_copied = 1;
	if (c->source.is_remote)
		ret = sftp_download(c->conn, c->source.path, c->target.path,
		    c->given, c->preserve, c->resume, c->sync, c->in_place);
	else
		ret = sftp_upload(c->conn, c->source.path, c->target.path,
		    c->preserve, c->resume, c->sync, c->in_place);
	is_inside = 0;
	return ret;
}

/* The target is there. Keeps what is good of it and copies the rest. */
static int
go_on(struct copy *c)
{
	struct xresume x;
	struct xresume_action a;

	compare(c, &x, &a);
	if (interrupted)
		return -1;
	if (a.off + a.len > 0 && !xresume_is_verified(&x))
		logit("\"%s\": prefix not verified, the server gives no "
		    "hashes: compared the last MiB of %llu bytes",
		    c->target.path, (unsigned long long)a.off);
	if (a.op == XRESUME_DONE) {
		c->is_hashed = x.verified == c->source.a.size;
		return complete(c);
	}
	debug_f("\"%s\" goes on at %llu of %llu", c->target.path,
	    (unsigned long long)a.off, (unsigned long long)c->source.a.size);
	c->resume = a.off > 0 && (c->target.a.size == a.off ||
	    cut(c->conn, &c->target, a.off) == 0);
	if (c->resume)
		c->in_place = 0;	/* nothing lies behind */
	return call_upstream(c);
}

/* With --checksum: compares all of both files. */
static int
verify(struct copy *c)
{
	struct xresume x;
	struct xresume_action a;
	const char *what = "differ";

	look(c->conn, &c->source);
	look(c->conn, &c->target);
	if (c->source.is_there && c->target.is_there &&
	    c->source.a.size == c->target.a.size) {
		compare(c, &x, &a);
		if (interrupted)
			return -1;
		if (a.op == XRESUME_DONE && x.verified == c->source.a.size)
			return 0;
		if (a.op == XRESUME_DONE)
			what = "could not be hashed";
	}
	error("checksum: \"%s\" and \"%s\" %s", c->source.path,
	    c->target.path, what);
	return -1;
}

/* A copy has ended well. Is it what was asked for? */
static int
judge(struct copy *c)
{
	int checksum = xopt_get()->checksum;

	if (c->is_copied && has_changed(c->conn, &c->source)) {
		error("\"%s\" changed while it was copied", c->source.path);
		if (checksum)
			return -1;
	}
	return checksum && !c->is_hashed ? verify(c) : 0;
}

static int
copy_file(struct copy *c)
{
	int ret, resume = c->resume || xopt_get()->resume;

	if (xopt_get()->checksum && !xask_has_hashes(c->conn))
		fatal("--checksum: this server does not hash files (it lacks "
		    "check-file-name), nothing was copied");
	look_at_source(c);
	if (!c->source.is_there)
		return call_upstream(c);	/* which says what is wrong */
	if (resume)
		look(c->conn, &c->target);
	if (c->target.is_there && (xopt_get()->resume ||
	    c->target.a.size <= c->source.a.size))
		ret = go_on(c);
	else {
		c->resume = c->target.is_there;	/* to be refused as longer */
		ret = call_upstream(c);
	}
	return ret == 0 && !interrupted ? judge(c) : ret;
}

/* In a tree the file is ours to report, otherwise the caller does it. */
static int
copy_and_report(struct copy *c)
{
	struct sftp_conn *conn = c->conn;
	int is_tuned = sftpq_is_tuned(conn), ret;
	uint64_t begun_us = clock_us();
	uint64_t bytes = is_tuned ? sftpq_moved(conn) : 0;

	if (xreport_expects())
		return copy_file(c);
	xreport_expect_file(c->target.is_remote, c->source.path,
	    c->target.path);
	ret = copy_file(c);
	if (is_tuned)
		bytes = sftpq_moved(conn) - bytes;
	else if (ret == 0 && c->is_copied)
		bytes = c->source.a.size;
	xreport_file(bytes, clock_us() - begun_us, ret);
	return ret;
}

/* Is this for the functions below? */
static int
is_wanted(const struct sftp_conn *conn, int resume)
{
	return !is_inside && (xresume_is_asked() ||
	    (resume && !xask_is_stock(conn)));
}

/*
 * A copy that can be resumed grows in order and under its name, also where
 * there was nothing yet. What --checksum alone verifies may be striped.
 */
static int
has_to_resume(void)
{
	return is_inside && (xopt_get()->resume || !xopt_get()->checksum);
}

int
xresume_put(struct sftp_conn *conn, const char *local, const char *remote,
    int preserve, int resume, int sync, int in_place, int *ret)
{
	struct copy c = { .conn = conn, .source = { .path = local },
	    .target = { .path = remote, .is_remote = 1 },
	    .preserve = preserve, .resume = resume, .sync = sync,
	    .in_place = in_place };

	if (!is_wanted(conn, resume) && !resume && !sync &&
	    xtree_put_sparse(conn, local, remote, preserve, in_place, ret))
		return 1;
	if (!is_wanted(conn, resume))
		return xstripe_put(conn, local, remote, preserve,
		    resume || sync || has_to_resume(), in_place, ret);
	*ret = copy_and_report(&c);
	return 1;
}

int
xresume_get(struct sftp_conn *conn, const char *remote, const char *local,
    Attrib *a, int preserve, int resume, int sync, int in_place, int *ret)
{
	struct copy c = { .conn = conn, .target = { .path = local },
	    .source = { .path = remote, .is_remote = 1 }, .given = a,
	    .preserve = preserve, .resume = resume, .sync = sync,
	    .in_place = in_place };

	if (!is_wanted(conn, resume))
		return xfetch_get(conn, remote, local, a, preserve, resume,
		    sync, in_place, ret);
	*ret = copy_and_report(&c);
	return 1;
}

u_int
xresume_open_flag(void)
{
	return is_inside ? 0 : SSH2_FXF_APPEND;
}

int
xresume_is_asked(void)
{
	return xopt_get()->resume || xopt_get()->checksum;
}
