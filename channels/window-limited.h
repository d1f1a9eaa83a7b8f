/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * starve: whether the peer's window is what limits what we send.
 *
 * A sender starves while it has used up all credit and the path still holds
 * at least half of it: the path is then free before new credit comes. If the
 * path holds less, the bytes have arrived, and the reader at the far end keeps
 * the credit. If the RTT has grown by a half, a queue stands on the path, and
 * more credit would make it longer. Only the peer can raise its window, so
 * starve says this once, and only where it cost something: a second of
 * starving, and half of the time since it began.
 *
 * Units: microseconds of a monotonic clock. No I/O, no clock, no upstream
 * header. Not thread safe.
 */

#ifndef HAYATE_WINDOW_LIMITED_H
#define HAYATE_WINDOW_LIMITED_H

#include <stdint.h>

struct window_limited {			/* all zero to begin with */
	uint64_t updated_us;	/* of the last note */
	uint64_t since_us;	/* when the time looked at began */
	uint64_t limited_us;	/* how much of it the sender starved */
	int	 was_limited;	/* at the last note */
	int	 reported;		/* once is enough */
};

/*
 * The sender is_limited, or does not, from now on. Call it as often as anything
 * moves. Returns 1 once, when the log should say so, else 0.
 */
int	window_limited_update(struct window_limited *, int is_limited,
    uint64_t now_us);

#endif /* HAYATE_WINDOW_LIMITED_H */
