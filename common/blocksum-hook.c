/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See blocksum-hook.h. */

#include "includes.h"

#include <sys/types.h>

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "misc.h"
#include "xmalloc.h"

#include "blocksum-hook.h"

/* Fits into the first-level cache and needs few system calls per MiB. */
#define READ_SIZE	(32 * 1024)

struct blocksum {
	struct sha256 *sha;	/* of the block that is not complete */
	uint64_t in_block;	/* its bytes so far */
	uint64_t block;		/* bytes of a complete one */
	uint64_t off, end;	/* of the file: what is not hashed yet */
	int	 is_whole;	/* one checksum, even of no bytes */
	size_t	 n;		/* checksums */
	unsigned char *sums;
};

struct blocksum *
blocksum_new(uint64_t off, uint64_t len, uint32_t block)
{
	struct blocksum *x = xcalloc(1, sizeof(*x));

	x->off = off;
	x->end = len < UINT64_MAX - off ? off + len : UINT64_MAX;
	x->is_whole = block == 0;
	x->block = x->is_whole ? UINT64_MAX : block;
	x->sha = sha256_new();
	x->sums = xcalloc(len / x->block + 1, BLOCKSUM_LEN);
	return x;
}

void
blocksum_free(struct blocksum *x)
{
	if (x == NULL)
		return;
	sha256_free(x->sha);
	free(x->sums);
	free(x);
}

static int
begin_block(struct blocksum *x)
{
	return sha256_begin(x->sha, MINIMUM(x->block, x->end - x->off));
}

static int
end_block(struct blocksum *x)
{
	x->in_block = 0;
	return sha256_end(x->sha, x->sums + BLOCKSUM_LEN * x->n++);
}

/* The bytes may be of several blocks. Returns -1 if libcrypto failed. */
static int
hash_bytes(struct blocksum *x, const unsigned char *buf, size_t len)
{
	size_t n;

	for (; len > 0; buf += n, len -= n) {
		n = MINIMUM(len, x->block - x->in_block);
		if ((x->in_block == 0 && begin_block(x) == -1) ||
		    sha256_add(x->sha, buf, n) == -1)
			return -1;
		x->in_block += n;
		if (x->in_block == x->block && end_block(x) == -1)
			return -1;
	}
	return 0;
}

/* The range or the file has ended, and with it the last block. */
static int
end_range(struct blocksum *x)
{
	int is_empty = x->is_whole && x->n == 0 && x->in_block == 0;

	x->end = x->off;
	if (is_empty && begin_block(x) == -1)
		return -1;
	return is_empty || x->in_block > 0 ? end_block(x) : 0;
}

static ssize_t
read_range(const struct blocksum *x, int fd, unsigned char *buf, uint64_t len)
{
	ssize_t n;

	len = MINIMUM(len, x->end - x->off);
	while ((n = pread(fd, buf, len, (off_t)x->off)) == -1 && errno == EINTR)
		;
	return n;
}

/* The range ends without a checksum. */
static int64_t
end_without_sums(struct blocksum *x, int err)
{
	x->end = x->off;
	x->n = 0;
	x->in_block = 0;
	x->is_whole = 0;
	errno = err;
	return -1;
}

int64_t
blocksum_add(struct blocksum *x, int fd, uint64_t most)
{
	unsigned char buf[READ_SIZE];
	uint64_t done = 0;
	ssize_t n = 1;

	while (done < most && x->off < x->end && n > 0) {
		n = read_range(x, fd, buf, MINIMUM(most - done, sizeof(buf)));
		if (n == -1)
			return end_without_sums(x, errno);
		if (hash_bytes(x, buf, (size_t)n) == -1)
			return end_without_sums(x, EIO);
		x->off += (uint64_t)n;
		done += (uint64_t)n;
	}
	if ((n == 0 || x->off == x->end) && end_range(x) == -1)
		return end_without_sums(x, EIO);
	return (int64_t)done;
}

size_t
blocksum_get(const struct blocksum *x, const unsigned char **sums)
{
	*sums = x->sums;
	return x->n;
}
