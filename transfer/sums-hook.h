/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * sums-hook: the SHA-256 of the blocks of a local file, a few MiB at a time, so
 * that somebody else is served between them. They are what blocksum_file()
 * gives for blocks of VERIFY_BLOCK bytes.
 */

#ifndef HAYATE_SUMS_HOOK_H
#define HAYATE_SUMS_HOOK_H

#include <sys/types.h>
#include <stdint.h>

struct sums;

/* Of VERIFY_RANGE bytes at most. sums_free() accepts NULL. */
struct sums *sums_new(uint64_t off, uint64_t len);
void	sums_free(struct sums *);

/*
 * Hashes at most "most" bytes more. Returns how many; 0: all is hashed, or the
 * file has ended, or cannot be read, and then there is no sum at all.
 */
uint64_t sums_add(struct sums *, int fd, uint64_t most);

/* The sums so far, of whole blocks and of the last one. Returns how many. */
size_t	sums_get(const struct sums *, const unsigned char **);

#endif /* HAYATE_SUMS_HOOK_H */
