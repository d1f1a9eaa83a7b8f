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

#ifndef MACRANK_HOOK_H
#define MACRANK_HOOK_H

/* The names of a list, fastest first; the caller frees it. What cannot be
 * timed comes last. */
char	*macrank(const char *list);

/* Whether GMAC is at least as fast as each MAC for "none" in the list. */
int	 macrank_gmac_wins(const char *list);

#endif /* MACRANK_HOOK_H */
