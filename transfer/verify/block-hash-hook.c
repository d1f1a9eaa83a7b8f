/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See block-hash-hook.h. */

#include "includes.h"

#include <sys/types.h>

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#ifdef HAVE_SHA2_H
# include <sha2.h>
#endif

#include "misc.h"
#include "xmalloc.h"

#include "block-hash-hook.h"
#include "blocksum-hook.h"
#include "verify.h"

/* Less than the first cache of a core, and few calls a megabyte */
#define READ_SIZE	(32 * 1024)

struct block_hash {
	SHA2_CTX sha;			/* of the block that is not complete */
	uint64_t in_block;		/* its bytes */
	uint64_t off, end;		/* of the file: what is next */
	size_t	 n;
	unsigned char sum[VERIFY_RANGE / VERIFY_BLOCK * BLOCKSUM_LEN];
};

struct block_hash *
block_hash_new(uint64_t off, uint64_t len)
{
	struct block_hash *x = xcalloc(1, sizeof(*x));

	x->off = off;
	x->end = off + MINIMUM(len, VERIFY_RANGE);
	return x;
}

void
block_hash_free(struct block_hash *x)
{
	free(x);
}

static void
end_block(struct block_hash *x)
{
	if (x->in_block > 0)
		SHA256Final(x->sum + BLOCKSUM_LEN * x->n++, &x->sha);
	x->in_block = 0;
}

/* Nothing more is hashed. */
static void
end_hashing(struct block_hash *x)
{
	end_block(x);
	x->end = x->off;
}

static ssize_t
read_block_part(const struct block_hash *x, int fd, unsigned char *buf,
    size_t len)
{
	ssize_t n;

	len = MINIMUM(len, MINIMUM(x->end - x->off,
	    VERIFY_BLOCK - x->in_block));
	while ((n = pread(fd, buf, len, (off_t)x->off)) == -1 && errno == EINTR)
		;
	return n;
}

static void
add_bytes(struct block_hash *x, const unsigned char *buf, size_t n)
{
	if (x->in_block == 0)
		SHA256Init(&x->sha);
	SHA256Update(&x->sha, buf, n);
	x->off += n;
	x->in_block += n;
	if (x->in_block == VERIFY_BLOCK)
		end_block(x);
}

uint64_t
block_hash_add(struct block_hash *x, int fd, uint64_t most)
{
	unsigned char buf[READ_SIZE];
	uint64_t done = 0;
	ssize_t n = 0;

	while (done < most && x->off < x->end) {
		if ((n = read_block_part(x, fd, buf, sizeof(buf))) <= 0)
			break;
		add_bytes(x, buf, n);
		done += n;
	}
	if (n <= 0 || x->off == x->end)
		end_hashing(x);
	if (n == -1)
		x->n = 0;
	return done;
}

size_t
block_hash_get(const struct block_hash *x, const unsigned char **sums)
{
	*sums = x->sum;
	return x->n;
}
