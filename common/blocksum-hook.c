/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See blocksum-hook.h. */

#include "includes.h"

#include <sys/types.h>

#include <errno.h>
#include <unistd.h>
#ifdef HAVE_SHA2_H
# include <sha2.h>
#endif

#include "blocksum-hook.h"

/* Fits into the first-level cache and needs few system calls per MiB. */
#define READ_SIZE	(32 * 1024)

/* Bytes between two calls of keep_going() */
#define CALL_EACH	(1024 * 1024)

/* Sums at max "len" bytes. Returns how many there were, -1 after an error. */
static int64_t
hash_block(int fd, uint64_t off, uint64_t len, unsigned char *sum,
    int (*keep_going)(void))
{
	unsigned char buf[READ_SIZE];
	SHA2_CTX ctx;
	uint64_t done = 0, ask = 0;
	ssize_t n = 1;

	SHA256Init(&ctx);
	while (done < len && n != 0) {
		if (keep_going != NULL && done >= ask) {
			if (!keep_going()) {
				errno = ECANCELED;
				return -1;
			}
			ask = done + CALL_EACH;
		}
		n = pread(fd, buf,
		    len - done < sizeof(buf) ? len - done : sizeof(buf),
		    (off_t)(off + done));
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1)
			return -1;
		SHA256Update(&ctx, buf, n);
		done += n;
	}
	SHA256Final(sum, &ctx);
	return (int64_t)done;
}

ssize_t
blocksum_file(int fd, uint64_t off, uint64_t len, uint32_t block,
    unsigned char *sums, size_t max, int (*keep_going)(void))
{
	uint64_t done = 0, want;
	size_t n = 0;
	int64_t got;

	if (block == 0 && max > 0)
		return hash_block(fd, off, len, sums, keep_going) == -1 ? -1 :
		    1;
	while (n < max && done < len) {
		want = len - done < block ? len - done : block;
		got = hash_block(fd, off + done, want, sums + n * BLOCKSUM_LEN,
		    keep_going);
		if (got == -1)
			return -1;
		if (got == 0)
			break;		/* the file ends between two blocks */
		n++;
		done += (uint64_t)got;
		if ((uint64_t)got < want)
			break;
	}
	return (ssize_t)n;
}
