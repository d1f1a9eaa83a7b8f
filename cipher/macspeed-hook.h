/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * macspeed-hook: measures which MAC is fastest on this processor, and whether
 * GMAC is faster still.
 *
 * Instructions for SHA, AES and carry-less multiplication make a MAC up to ten
 * times as fast, and libcrypto may be configured not to use them. So each MAC
 * is timed once per process, with some packets of 32 KiB. This takes less than
 * a millisecond on a processor with these instructions. Main thread only.
 */

#ifndef HAYATE_MACSPEED_HOOK_H
#define HAYATE_MACSPEED_HOOK_H

/*
 * Returns the list sorted by speed, fastest first, which the caller frees;
 * never NULL: the process ends if out of memory. A name that occurs twice in
 * the list is in the result once. Some MACs never move ahead of one that stood
 * before them, because speed is no reason to weaken what the user preferred:
 * those with SHA-1 or MD5, those with tags of less than 128 bits, and those
 * that cannot be timed. Logs each measurement at -vvv.
 */
char	*macspeed_sort(const char *list);

/*
 * Returns 1 if GMAC is at least as fast as this MAC, or if the MAC cannot be
 * timed: it is unknown, libcrypto fails, or this process has timed 16 names
 * already. Returns 0 if only GMAC cannot be timed.
 */
int	 macspeed_gmac_is_fastest(const char *mac);

#endif /* HAYATE_MACSPEED_HOOK_H */
