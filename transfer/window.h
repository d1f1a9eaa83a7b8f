/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * window: how many channels are worth it, because the far end's window limits
 * what is put.
 *
 * A stock server takes 2 MiB in a round trip on one channel. If what is
 * acknowledged in a round trip comes near that, more channels are wanted: 2, 4,
 * 8, 10 in all. A path that grows twofold in each round trip is in slow start,
 * so as many are wanted as it will need when they are there. A server that
 * takes more in a round trip has another window, and gets one channel. On a
 * path of less than 8 ms the window carries 2 Gbit/s, and is no limit.
 *
 * No I/O, no clock, no upstream header, no allocation.
 */

#ifndef HAYATE_WINDOW_H
#define HAYATE_WINDOW_H

#include <stdint.h>

#define WINDOW_BYTES	(2 * 1024 * 1024)

/* All 0 is the state before the first reply. */
struct window {
	unsigned int want;		/* channels; 0 or 1: no more */
	int	 limited;		/* the window is the limit now */
	int	 never;			/* it is not, and never will be */

	/* private */
	uint64_t rtt, since, sum, best;
	unsigned int with;		/* so many "best" was measured */
	int	 beyond;
};

/*
 * "len" bytes were acknowledged at "now", "age" after they were sent, while
 * "has" channels took data. Times are microseconds. The least age is the RTT.
 */
void	window_count(struct window *, uint32_t len, uint64_t age,
    uint64_t now, unsigned int has);

/* Returns 0 if the window is known to be no limit. */
int	window_may_limit(const struct window *);

#endif /* HAYATE_WINDOW_H */
