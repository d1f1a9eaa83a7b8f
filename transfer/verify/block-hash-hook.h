/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * block-hash-hook: the SHA-256 of the blocks of a local file, a few MiB at a
 * time, so that somebody else is served between them. They are what
 * blocksum_file() gives for blocks of VERIFY_BLOCK bytes.
 */

#ifndef HAYATE_BLOCK_HASH_HOOK_H
#define HAYATE_BLOCK_HASH_HOOK_H

#include <sys/types.h>
#include <stdint.h>

struct block_hash;

/* Of VERIFY_RANGE bytes at most. block_hash_free() accepts NULL. */
struct block_hash *block_hash_new(uint64_t off, uint64_t len);
void	block_hash_free(struct block_hash *);

/*
 * Hashes at most "most" bytes more. Returns how many; 0: all is hashed, or the
 * file has ended, or cannot be read, and then there is no sum at all.
 */
uint64_t block_hash_add(struct block_hash *, int fd, uint64_t most);

/* The sums so far, of whole blocks and of the last one. Returns how many. */
size_t	block_hash_get(const struct block_hash *, const unsigned char **);

#endif /* HAYATE_BLOCK_HASH_HOOK_H */
