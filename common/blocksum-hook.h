/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * blocksum-hook: SHA-256 checksums of the blocks of a file, some MiB at a time.
 *
 * Client and server compare these checksums instead of the bytes of a file
 * (extension check-file-name, PROTOCOL, section 4). Between two calls of
 * blocksum_add() the caller serves its connections.
 *
 * The offset of the descriptor does not move; a pipe or socket is an error. A
 * range may be used by one thread at a time. Out of memory ends the process.
 */

#ifndef HAYATE_BLOCKSUM_HOOK_H
#define HAYATE_BLOCKSUM_HOOK_H

#include <sys/types.h>
#include <stdint.h>

#include "sha256-hook.h"

#define BLOCKSUM_NAME	"sha256"	/* the algorithm's name on the wire */
#define BLOCKSUM_LEN	SHA256_LEN	/* bytes of one checksum */

struct blocksum;	/* a range of a file, and its checksums */

/*
 * Returns a range of "len" bytes at offset "off" that gets one checksum for
 * each "block" bytes. The last block ends with the range or at end of file, so
 * it may be shorter. Block size 0 means one checksum of the whole range, even
 * of an empty one. Memory for all checksums is allocated at once, so the
 * caller bounds their number. It frees the range.
 */
struct blocksum *blocksum_new(uint64_t off, uint64_t len, uint32_t block);

/* Accepts NULL. */
void	blocksum_free(struct blocksum *);

/*
 * Reads and hashes at most "most" bytes more. Returns how many; less than
 * "most" if the range or the file has ended, and 0 from then on. Returns -1
 * with errno set if a read failed, and with EIO after a message if libcrypto
 * failed; the range then has ended, and has no checksums.
 */
int64_t	blocksum_add(struct blocksum *, int fd, uint64_t most);

/*
 * Points "*sums" to the checksums of all blocks that are complete, BLOCKSUM_LEN
 * bytes each, and returns how many there are. They belong to the range.
 */
size_t	blocksum_get(const struct blocksum *, const unsigned char **sums);

#endif /* HAYATE_BLOCKSUM_HOOK_H */
