/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * macspeed-hook: finds the fastest MAC on this processor, and whether GMAC is
 * faster still.
 *
 * Instructions for SHA, AES and carry-less multiplication make a MAC up to ten
 * times as fast, and libcrypto may be configured not to use them. So the MACs
 * are timed: each one once in a process, with some packets of 32 KiB. This
 * takes less than a millisecond on a processor with these instructions.
 */

#ifndef HAYATE_MACSPEED_HOOK_H
#define HAYATE_MACSPEED_HOOK_H

/*
 * Returns the list with the fastest first, which the caller frees. Some MACs
 * never move ahead of one that stood before them: those with SHA-1 or MD5,
 * those with tags of less than 128 bits, because speed is no reason to weaken
 * what the user preferred, and those that cannot be timed.
 */
char	*macspeed_sort(const char *list);

/* Returns 1 if GMAC is at least as fast as this MAC. */
int	 macspeed_gmac_is_fastest(const char *mac);

#endif /* HAYATE_MACSPEED_HOOK_H */
