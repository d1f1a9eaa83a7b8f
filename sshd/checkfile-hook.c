/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See checkfile-hook.h. */

#include "includes.h"

#include <sys/types.h>
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include "log.h"
#include "match.h"
#include "misc.h"
#include "sftp.h"
#include "sshbuf.h"
#include "ssherr.h"

#include "blocksum-hook.h"
#include "checkfile-hook.h"
#include "sftpsrv-hook.h"

/* Bytes that are hashed before the server looks whether its client waits */
#define STEP	(1024 * 1024)

struct request {
	u_int32_t id;
	char	*path, *algorithms;
	u_int64_t off, len;
	u_int32_t block;
};

/* Why there are no checksums */
struct refusal {
	u_int32_t status;
	const char *text;
};

static int
list_has(const char *name, const char *list)
{
	char *found = list == NULL ? NULL : match_list(name, list, NULL);

	free(found);
	return found != NULL;
}

static void
parse_request(struct request *q, struct sshbuf *in)
{
	int r;

	if ((r = sshbuf_get_cstring(in, &q->path, NULL)) != 0 ||
	    (r = sshbuf_get_cstring(in, &q->algorithms, NULL)) != 0 ||
	    (r = sshbuf_get_u64(in, &q->off)) != 0 ||
	    (r = sshbuf_get_u64(in, &q->len)) != 0 ||
	    (r = sshbuf_get_u32(in, &q->block)) != 0)
		fatal_fr(r, "parse");
}

static int
set_refusal(struct refusal *why, u_int32_t status, const char *text)
{
	why->status = status;
	why->text = text;
	return -1;
}

static int
set_refusal_errno(struct refusal *why)
{
	return set_refusal(why, errno == ENOENT || errno == ENOTDIR ||
	    errno == ELOOP ? SSH2_FX_NO_SUCH_FILE : errno == EACCES ||
	    errno == EPERM ? SSH2_FX_PERMISSION_DENIED : SSH2_FX_FAILURE,
	    strerror(errno));
}

/*
 * Opens a regular file. A FIFO is not opened, because that would have side
 * effects.
 */
static int
open_file(const struct request *q, struct stat *sb, struct refusal *why)
{
	int fd;

	if (stat(q->path, sb) == -1)
		return set_refusal_errno(why);
	if (!S_ISREG(sb->st_mode))
		return set_refusal(why, SSH2_FX_FAILURE, "not a regular file");
	fd = open(q->path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd == -1)
		return set_refusal_errno(why);
	if (fstat(fd, sb) == -1 || !S_ISREG(sb->st_mode)) {
		close(fd);
		return set_refusal(why, SSH2_FX_FAILURE, "not a regular file");
	}
	return fd;
}

/* Limits the range to the end of the file. Returns -1 if it is too large. */
static int
bound_range(struct request *q, u_int64_t size, struct refusal *why)
{
	u_int64_t rest = q->off < size ? size - q->off : 0;

	if (q->len == 0 || q->len > rest)
		q->len = rest;
	if (q->len > CHECKFILE_RANGE_MAX)
		return set_refusal(why, SSH2_FX_FAILURE,
		    "more than 64 MiB in one request");
	if (q->block != 0 && (q->len + q->block - 1) / q->block >
	    CHECKFILE_SUMS_MAX)
		return set_refusal(why, SSH2_FX_FAILURE,
		    "more than 4096 blocks in one request");
	return 0;
}

/* Appends the checksums of the range. Returns -1 if there are none. */
static int
sum_range(const struct request *q, int fd, struct sshbuf *sums,
    struct refusal *why)
{
	struct blocksum *x = blocksum_new(q->off, q->len, q->block);
	const unsigned char *p;
	size_t count;
	int64_t n;
	int r;

	do {
		if (sftpsrv_client_waits())
			n = blocksum_add(x, fd, STEP);
		else {
			errno = ECANCELED;
			n = -1;
		}
	} while (n == STEP);
	count = blocksum_get(x, &p);
	if (n == -1)
		set_refusal_errno(why);
	else if ((r = sshbuf_put(sums, p, count * BLOCKSUM_LEN)) != 0)
		fatal_fr(r, "compose");
	blocksum_free(x);
	return n == -1 ? -1 : 0;
}

/* Appends the checksums to "sums". Returns -1 if there are none. */
static int
sum_file(struct request *q, struct sshbuf *sums, struct refusal *why)
{
	struct stat sb;
	int fd, r = -1;

	if (!list_has(BLOCKSUM_NAME, q->algorithms))
		return set_refusal(why, SSH2_FX_FAILURE,
		    "only sha256 is supported");
	if (q->block != 0 && q->block < CHECKFILE_BLOCK_MIN)
		return set_refusal(why, SSH2_FX_BAD_MESSAGE,
		    "blocks of less than 256 bytes");
	if ((fd = open_file(q, &sb, why)) == -1)
		return -1;
	if (bound_range(q, (u_int64_t)sb.st_size, why) == 0)
		r = sum_range(q, fd, sums, why);
	close(fd);
	return r;
}

static void
put_status(struct sshbuf *m, const struct refusal *why, u_int version)
{
	int r;

	if ((r = sshbuf_put_u32(m, why->status)) != 0 ||
	    (version >= 3 && ((r = sshbuf_put_cstring(m, why->text)) != 0 ||
	    (r = sshbuf_put_cstring(m, "")) != 0)))
		fatal_fr(r, "compose");
}

static void
send_answer(const struct request *q, struct sshbuf *out, struct sshbuf *sums,
    const struct refusal *why, u_int version)
{
	struct sshbuf *m;
	int r;

	if ((m = sshbuf_new()) == NULL)
		fatal_f("sshbuf_new failed");
	if ((r = sshbuf_put_u8(m, why->text == NULL ?
	    SSH2_FXP_EXTENDED_REPLY : SSH2_FXP_STATUS)) != 0 ||
	    (r = sshbuf_put_u32(m, q->id)) != 0)
		fatal_fr(r, "compose");
	if (why->text != NULL)
		put_status(m, why, version);
	else if ((r = sshbuf_put_cstring(m, BLOCKSUM_NAME)) != 0 ||
	    (r = sshbuf_putb(m, sums)) != 0)
		fatal_fr(r, "compose");
	if ((r = sshbuf_put_stringb(out, m)) != 0)
		fatal_fr(r, "enqueue");
	sshbuf_free(m);
}

/* Logs at the level of upstream's lines about opened and closed files. */
static void
log_answer(const struct request *q, const struct refusal *why)
{
	if (why->text != NULL)
		logit("hash \"%s\" refused: %s", q->path, why->text);
	else
		logit("hash \"%s\" from %llu bytes %llu", q->path,
		    (unsigned long long)q->off, (unsigned long long)q->len);
}

void
checkfile_answer(u_int32_t id, struct sshbuf *in, struct sshbuf *out,
    const char *denied, u_int version)
{
	struct request q = { .id = id };
	struct refusal why = { SSH2_FX_OK, NULL };
	struct sshbuf *sums;

	parse_request(&q, in);
	if ((sums = sshbuf_new()) == NULL)
		fatal_f("sshbuf_new failed");
	if (list_has("read", denied) || list_has("open", denied))
		set_refusal(&why, SSH2_FX_PERMISSION_DENIED,
		    "reading is denied");
	else
		(void)sum_file(&q, sums, &why);
	log_answer(&q, &why);
	send_answer(&q, out, sums, &why, version);
	sshbuf_free(sums);
	free(q.path);
	free(q.algorithms);
}
