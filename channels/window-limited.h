/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * window-limited: finds out whether the peer's window limits what we send.
 *
 * The window limits if the sender has used up all of it while at least half of
 * its bytes are still on the path, which runs empty before new credit arrives.
 * If fewer are on the path, the others have arrived, and a slow reader at the
 * far end withholds the credit. If the RTT is clearly above the smallest,
 * there is a queue on the path, and more credit would make it longer. The
 * caller decides this before each call, and writes the message (wtune-hook.c).
 *
 * One message per channel is enough, because only the peer can raise its
 * window. There is none if the limit cost little: time is divided into spans of
 * at most 4 seconds, and the window must have limited for at least a second,
 * and at least half of the time, since the present span began.
 *
 * Units: microseconds of a monotonic clock. No I/O, no clock, no upstream
 * header. Not thread safe.
 */

#ifndef HAYATE_WINDOW_LIMITED_H
#define HAYATE_WINDOW_LIMITED_H

#include <stdint.h>

/*
 * Of one channel; zero it before its first use. Only "reported" is for callers.
 */
struct window_limited {
	uint64_t updated_us;	/* time of the last call; 0: none */
	uint64_t since_us;	/* when the present span began */
	uint64_t limited_us;	/* sum in that span, while was_limited */
	int	 was_limited;	/* is_limited at the last call */
	int	 reported;	/* 1 once the function has returned 1 */
};

/*
 * Call it whenever data moves, with is_limited set if the window limits from
 * now on, until the next call.
 *
 * A call begins a new span, and returns 0, if it is the first, if the last one
 * was more than a second ago, or if the span began more than 4 seconds ago; the
 * time since the last call does not count. Any other call returns 1 if the user
 * should be informed now, and sets "reported": at most once, and never if
 * is_limited is 0. Later calls return 0 and need not be made.
 */
int	window_limited_update(struct window_limited *, int is_limited,
    uint64_t now_us);

#endif /* HAYATE_WINDOW_LIMITED_H */
