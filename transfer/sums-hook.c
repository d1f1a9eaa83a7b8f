/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See sums-hook.h. */

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

#include "blocksum-hook.h"
#include "sums-hook.h"
#include "verify.h"

/* Less than the first cache of a core, and few calls a megabyte */
#define READ_SIZE	(32 * 1024)

struct sums {
	SHA2_CTX sha;			/* of the block that is not complete */
	uint64_t in_block;		/* its bytes */
	uint64_t off, end;		/* of the file: what is next */
	size_t	 n;
	unsigned char sum[VERIFY_RANGE / VERIFY_BLOCK * BLOCKSUM_LEN];
};

struct sums *
sums_new(uint64_t off, uint64_t len)
{
	struct sums *x = xcalloc(1, sizeof(*x));

	x->off = off;
	x->end = off + MINIMUM(len, VERIFY_RANGE);
	return x;
}

void
sums_free(struct sums *x)
{
	free(x);
}

static void
end_block(struct sums *x)
{
	if (x->in_block > 0)
		SHA256Final(x->sum + BLOCKSUM_LEN * x->n++, &x->sha);
	x->in_block = 0;
}

/* Nothing more is hashed. */
static void
end(struct sums *x)
{
	end_block(x);
	x->end = x->off;
}

static ssize_t
read_some(const struct sums *x, int fd, unsigned char *buf, size_t len)
{
	ssize_t n;

	len = MINIMUM(len, MINIMUM(x->end - x->off,
	    VERIFY_BLOCK - x->in_block));
	while ((n = pread(fd, buf, len, (off_t)x->off)) == -1 && errno == EINTR)
		;
	return n;
}

static void
add(struct sums *x, const unsigned char *buf, size_t n)
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
sums_add(struct sums *x, int fd, uint64_t most)
{
	unsigned char buf[READ_SIZE];
	uint64_t done = 0;
	ssize_t n = 0;

	while (done < most && x->off < x->end) {
		if ((n = read_some(x, fd, buf, sizeof(buf))) <= 0)
			break;
		add(x, buf, n);
		done += n;
	}
	if (n <= 0 || x->off == x->end)
		end(x);
	if (n == -1)
		x->n = 0;
	return done;
}

size_t
sums_get(const struct sums *x, const unsigned char **sums)
{
	*sums = x->sum;
	return x->n;
}
