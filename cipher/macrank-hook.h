/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * macrank: which MAC is the fastest on this processor, and whether GMAC is
 * faster still.
 *
 * Instructions for SHA, carry-less multiplication and AES change the order by
 * a factor of ten, and libcrypto may have been told not to use them, so they
 * are not looked up but timed: some packets of 32 KiB with each, once in a
 * process, less than a millisecond where there are such instructions.
 */

#ifndef HAYATE_MACRANK_HOOK_H
#define HAYATE_MACRANK_HOOK_H

/*
 * The names of a list, the faster first. A MAC of SHA-1 or MD5, or with a tag
 * of less than 128 bits, never moves ahead of one that stood above it: speed
 * is no reason to give a user less than what was preferred. Nor does one that
 * cannot be timed. The caller frees the result.
 */
char	*macrank(const char *list);

/* Whether GMAC is at least as fast as this MAC. */
int	 macrank_gmac_wins(const char *mac);

#endif /* HAYATE_MACRANK_HOOK_H */
