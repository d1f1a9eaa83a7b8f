/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * starve: whether the peer's window is what limits what we send.
 *
 * A sender starves while it has used up all credit and the path still holds
 * at least half of it: credit then comes back later than the path is free.
 * If the path holds less, the bytes have arrived, and it is the reader over
 * there that keeps the credit. Only the peer can raise its window, so this
 * is said once, and only where it cost something: a second of starving, and
 * half of the time since it began.
 *
 * Units: microseconds of a monotonic clock. No I/O, no clock, no upstream
 * header. Not thread safe.
 */

#ifndef HAYATE_STARVE_H
#define HAYATE_STARVE_H

#include <stdint.h>

struct starve {			/* all zero to begin with */
	uint64_t last_us;	/* of the last note */
	uint64_t since_us;	/* the time looked at began */
	uint64_t starved_us;	/* how much of it */
	int	 starved;	/* at the last note */
	int	 said;
};

/*
 * The sender starves, or does not, from now on; call it as often as anything
 * moves. Returns 1 once, when it is to be said, which is while it
 * starves; else 0.
 */
int	starve_note(struct starve *, int starves, uint64_t now_us);

#endif /* HAYATE_STARVE_H */
