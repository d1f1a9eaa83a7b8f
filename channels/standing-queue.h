/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * standing-queue: how small a window may be without a loss of rate.
 *
 * What a sender has in flight above the BDP stays in the queue of the narrowest
 * link, where everybody else waits behind it. The sender's congestion control
 * does not see that while the window limits it: BBR needs to have been limited
 * by the path, and cubic needs a loss. The receiver sees it, because the RTT of
 * its own packets stays above the smallest RTT. So it holds the window at
 * 1.25 * BDP, and a little more for whole packets, if the rate stays:
 *
 *   LOOKING  ----- the RTT stayed high for a period, and the rate
 *                  did not change ---------------------------------> DRAINING
 *   DRAINING --+-- the window is withdrawn ------------------------> HOLDING
 *              +-- it did not shrink in ten periods ---------------> LOOKING *
 *   HOLDING  --+-- the rate grew by an eighth, of late or by a probe
 *              |                                                    -> LOOKING
 *              +-- the reader lags --------------------------------> LOOKING
 *              +-- a packet was lost, so the path loses some -----> LOOKING *
 *              +-- the RTT did not fall: the queue is of others,
 *              |   or the path has become longer ------------------> LOOKING *
 *              +-- the rate fell ----------------------------------> LOOKING *
 *
 * While the window is held, a quarter above the BDP shows whether the path has
 * become faster, and half above it, the probe, in every eighth period at least.
 *
 * After each way out the window of before is due again. Those with a star are
 * failures, and so is a rate that grows before 20 good periods. The pause until
 * the next attempt doubles with each failure, from 10 to 160 s, and 20 good
 * periods reset it. Attempts begin at multiples of the pause on the machine's
 * clock: of copies side by side each sees the queue of the others, and they
 * must withdraw their windows together. So up to twice the pause passes.
 *
 * No attempt begins within 5 to 10 s of a loss, unless the queue was so long
 * that it may have overflowed.
 *
 * Without an RTT of the transport nothing is held. Units: bytes, microseconds
 * of a monotonic clock that all processes share. No I/O, no clock, no upstream
 * header. Not thread safe.
 */

#ifndef HAYATE_STANDING_QUEUE_H
#define HAYATE_STANDING_QUEUE_H

#include <stdint.h>

/* Begins with all members 0. All are private to standing-queue.c. */
struct standing_queue {
	enum {
		SQ_LOOKING, SQ_DRAINING, SQ_HOLDING
	} state;
	uint64_t begun_us, begun_pos;	/* of the period */
	uint64_t rtt_least;		/* in it; 0: none yet */
	uint64_t backlog_least;		/* in it */
	uint64_t last_rate;		/* of the period before; 0: none. In
					 * HOLDING the best of late, without
					 * probes */
	int	 is_common;		/* others may attempt as well */

	uint64_t hold_rate;		/* that the window has to carry */
	uint64_t hold_rtt;		/* the path's, when it was begun */
	uint64_t window_before;		/* when the withdrawal began */
	uint64_t rtt_before;		/* in the period before */
	uint64_t window_least;		/* since then */
	unsigned int drained;		/* periods in which it did not shrink */
	uint64_t lack;			/* bytes, over several periods */
	unsigned int good;		/* periods that the window is held */
	unsigned int unprobed;		/* those since a probe */
	int	 probes;		/* in this period */
	int	 settles;		/* its first period is not begun */

	uint64_t out_of_order;		/* at the last call */

	uint64_t retry_us;		/* nothing is held before */
	uint64_t backoff_us;		/* unit of pauses, one to two of it */
	uint64_t least_rtt;		/* the path's, as far as is known */
};

/* The caller's view at one moment */
struct standing_queue_now {
	uint64_t now_us;
	uint64_t window;
	uint64_t consumed;	/* stream position */
	uint64_t backlog;	/* arrived, not yet consumed */
	uint64_t out_of_order;	/* behind lost ones, of the last seconds */
	uint64_t min_rtt_us;	/* of the path; 0: not known */
	uint64_t rtt_us;	/* at present, smoothed; 0: not known */
};

/*
 * Returns the largest window that the path needs, 32 KiB or more; 0: no limit
 * is known. The limit may be above the present window. Call it for each sample;
 * time and position never fall.
 */
uint64_t standing_queue_limit(struct standing_queue *,
    const struct standing_queue_now *);

/*
 * Returns the window from before the limit, for a period or two after it has
 * ended; else 0.
 */
uint64_t standing_queue_restore(const struct standing_queue *);

#endif /* HAYATE_STANDING_QUEUE_H */
