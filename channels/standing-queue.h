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
 * 1.25 * BDP, if the rate stays:
 *
 *   LOOKING  ----- the RTT stayed high for a period, and the rate
 *                  did not grow -----------------------------------> DRAINING
 *   DRAINING --+-- the window is withdrawn ------------------------> HOLDING
 *              +-- the rate grew by an eighth: the path is faster -> LOOKING
 *              +-- it could not be withdrawn in ten periods -------> LOOKING
 *   HOLDING  --+-- the rate grew by an eighth ---------------------> LOOKING
 *              +-- the reader lags --------------------------------> LOOKING
 *              +-- a packet was lost, so the path loses some -----> LOOKING
 *              +-- the RTT did not fall: the queue is of others,
 *              |   or the path has become longer ------------------> LOOKING
 *              +-- the rate fell ----------------------------------> LOOKING
 *
 * A quarter above the BDP is a probe as well. If the path becomes faster, so
 * does the stream.
 *
 * After the last three the whole window is due again at once, and the next
 * attempt is at least 10 s away, twice as long after each further one, up to
 * 160 s. If the RTT did not fall meanwhile, it is that of the path with the
 * queues of others, and for a minute only a longer one is a queue.
 *
 * After a loss nothing is held for some seconds, unless the queue was so long
 * that it may have overflowed.
 *
 * Without an RTT of the transport nothing is held. Units: bytes, microseconds.
 * No I/O, no clock, no upstream header. Not thread safe.
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
	uint64_t last_rate;		/* of the period before; 0: none */

	uint64_t hold_rate;		/* that the window has to carry */
	uint64_t hold_rtt;		/* the path's, when it was begun */
	uint64_t window_before;		/* when the withdrawal began */
	uint64_t rtt_before;		/* in the period before */
	unsigned int drained;		/* periods since then */
	uint64_t lack;			/* of that rate, over several periods */
	unsigned int good;		/* periods that the window is held */

	uint64_t out_of_order;		/* at the last call */

	uint64_t retry_us;		/* nothing is held before */
	uint64_t backoff_us;		/* the last pause */
	uint64_t others_rtt;		/* with queues of others */
	uint64_t others_until_us;	/* it is valid until then */
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
 * Returns the largest window that the path needs; 0: no limit is known. Call it
 * for each sample.
 */
uint64_t standing_queue_limit(struct standing_queue *,
    const struct standing_queue_now *);

/*
 * Returns the window that the channel had before the limit, if the limit has
 * just ended; else 0. Each is returned once.
 */
uint64_t standing_queue_restore(struct standing_queue *);

#endif /* HAYATE_STANDING_QUEUE_H */
