/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See standing-queue.h for the idea. */

#include "bdp.h"
#include "minmax.h"
#include "standing-queue.h"

/*
 * A period is eight RTTs, and this at least. A lost packet in one period costs
 * less than an eighth of its rate then. A slow path takes up to a second, so
 * that a packet more or less does not count.
 */
#define PERIOD_RTTS	8
#define PERIOD_MIN_US	200000
#define PERIOD_MAX_US	1000000
#define PERIOD_BYTES	(16 * 32768)

/* An RTT that shows a queue: a quarter above the path's, and 5 ms. */
#define QUEUE_RTT(rtt)	((rtt) + (rtt) / 4 + 5000)

/*
 * With less than this, packets are not lost because the queue is full. The path
 * loses them anyway, and a window needs room for what waits behind them.
 */
#define OVERFLOW_RTT(rtt)	(2 * QUEUE_RTT(rtt))

/* The window that is held, in quarters of the BDP */
#define HOLD_QUARTERS	5

/*
 * Beside it: a packet, which is consumed when all of it has arrived, and credit
 * that waits until it is worth an adjust, a 16th or two packets. Both ends may
 * lose their processor for a time slice.
 */
#define PACKET		(32 * 1024)
#define UNANNOUNCED(bytes)	min_u64((bytes) / 16, 2 * PACKET)
#define SLICE_US	4000

#define FASTER(a, b)	((a) > (b) + (b) / 8)

/*
 * What periods lack of the rate adds up, less a 32nd in each for jitter. A
 * pause of one of the two programs lacks less than this; a path that has become
 * half as long again lacks as much in two periods, and a window that is a tenth
 * too small in six.
 */
#define JITTER(rate)	((rate) / 32)
#define LACKS(rate)	((rate) / 8 * 3)

/* After so many periods the next pause is a short one again. */
#define GOOD_PERIODS	20

/* A smoothed RTT follows within so long. */
#define FALL_MIN_US	200000

/* A window of a long path shrinks by an adjust for each eighth of an RTT. */
#define DRAIN_PERIODS	10
#define BACKOFF_MIN_US	10000000
#define BACKOFF_MAX_US	160000000
#define OTHERS_US	60000000

/* The reader lags if it leaves more than this all the time. */
#define LAG(window)	((window) / 8)

static void
begin_period(struct standing_queue *q, const struct standing_queue_now *now)
{
	q->begun_us = now->now_us;
	q->begun_pos = now->consumed;
	q->rtt_least = 0;
	q->backlog_least = UINT64_MAX;
}

static int
is_period_over(const struct standing_queue *q,
    const struct standing_queue_now *now)
{
	uint64_t us = now->now_us - q->begun_us;

	return us >= max_u64(PERIOD_RTTS * now->min_rtt_us, PERIOD_MIN_US) &&
	    (us >= PERIOD_MAX_US ||
	    now->consumed - q->begun_pos >= PERIOD_BYTES);
}

/* Returns the RTT without a queue of our own. */
static uint64_t
base_rtt(const struct standing_queue *q, const struct standing_queue_now *now)
{
	if (now->now_us < q->others_until_us)
		return max_u64(q->others_rtt, now->min_rtt_us);
	return now->min_rtt_us;
}

static uint64_t
limit_of(const struct standing_queue *q)
{
	uint64_t on_path = bdp_bytes(q->hold_rate, q->hold_rtt) / 4 *
	    HOLD_QUARTERS;

	return on_path + max_u64(PACKET + UNANNOUNCED(on_path),
	    bdp_bytes(q->hold_rate, SLICE_US));
}

static void
look(struct standing_queue *q, const struct standing_queue_now *now,
    uint64_t rate)
{
	q->state = SQ_LOOKING;
	q->last_rate = rate;
	begin_period(q, now);
}

/* The rate fell. Nothing is held for a while. */
static void
back_off(struct standing_queue *q, const struct standing_queue_now *now)
{
	q->backoff_us = q->backoff_us == 0 ? BACKOFF_MIN_US :
	    min_u64(2 * q->backoff_us, BACKOFF_MAX_US);
	q->retry_us = now->now_us + q->backoff_us;
	if (q->state == SQ_HOLDING && q->rtt_least > QUEUE_RTT(q->hold_rtt)) {
		q->others_rtt = q->rtt_least;
		q->others_until_us = now->now_us + OTHERS_US;
	}
	look(q, now, 0);
}

static void
end_looking(struct standing_queue *q, const struct standing_queue_now *now,
    uint64_t rate)
{
	uint64_t rtt = base_rtt(q, now), last_rate = q->last_rate;
	uint64_t in_flight = bdp_bytes(rate, q->rtt_least);
	int stands = q->rtt_least > QUEUE_RTT(rtt);
	int lags = q->backlog_least > LAG(now->window);
	uint64_t rtt_before = q->rtt_least;
	int loses = now->out_of_order != 0 && q->rtt_least < OVERFLOW_RTT(rtt);

	look(q, now, rate);
	if (!stands || lags || loses || rate == 0 || last_rate == 0 ||
	    FASTER(rate, last_rate) ||
	    now->now_us < q->retry_us)
		return;
	q->hold_rate = (rate + last_rate) / 2;
	q->hold_rtt = rtt;
	if (in_flight < limit_of(q) ||
	    now->window <= limit_of(q) / 8 * 9)
		return;
	q->rtt_before = rtt_before;
	q->window_before = now->window;
	q->state = SQ_DRAINING;
	q->drained = 0;
}

static void
begin_holding(struct standing_queue *q, const struct standing_queue_now *now)
{
	q->state = SQ_HOLDING;
	q->lack = q->good = 0;
	q->rtt_before = max_u64(q->rtt_before, now->rtt_us);
	begin_period(q, now);
	q->begun_us += 2 * now->rtt_us;	/* the smoothed RTT follows */
}

/*
 * Returns 1 if the RTT has not fallen by half of what our own queue would have
 * been. Others fill it then, and get what this stream leaves.
 */
static int
stays_high(const struct standing_queue *q)
{
	uint64_t expected = limit_of(q) * 1000000 / q->hold_rate;

	return q->rtt_least > (expected + q->rtt_before) / 2;
}

/* Returns 1 if the RTT has not fallen although the window has. */
static int
fails_at_once(const struct standing_queue *q, uint64_t us,
    const struct standing_queue_now *now)
{
	return q->good == 0 && stays_high(q) &&
	    us >= max_u64(2 * now->min_rtt_us, FALL_MIN_US);
}

static void
end_draining(struct standing_queue *q, const struct standing_queue_now *now,
    uint64_t rate)
{
	if (FASTER(rate, q->hold_rate))
		look(q, now, rate);
	else if (++q->drained == DRAIN_PERIODS)
		back_off(q, now);
	else
		begin_period(q, now);
}

static void
end_holding(struct standing_queue *q, const struct standing_queue_now *now,
    uint64_t rate)
{
	if (FASTER(rate, q->hold_rate) ||
	    q->backlog_least > LAG(now->window)) {
		look(q, now, rate);
		return;
	}
	q->lack += q->hold_rate;
	q->lack -= min_u64(q->lack, rate + JITTER(q->hold_rate));
	if (q->lack > LACKS(q->hold_rate) || stays_high(q)) {
		back_off(q, now);
		return;
	}
	if (++q->good >= GOOD_PERIODS)
		q->backoff_us = 0;
	if (rate > q->hold_rate)
		q->hold_rate += (rate - q->hold_rate) / 8;
	begin_period(q, now);
}

uint64_t
standing_queue_limit(struct standing_queue *q,
    const struct standing_queue_now *now)
{
	uint64_t us, rate;
	int loses;

	if (now->min_rtt_us == 0 || now->rtt_us == 0) {
		q->state = SQ_LOOKING;
		q->begun_us = 0;
		return 0;
	}
	if (q->begun_us == 0)
		begin_period(q, now);
	if (now->now_us < q->begun_us) {	/* the first RTT of HOLDING */
		q->begun_pos = now->consumed;
		q->out_of_order = max_u64(q->out_of_order, now->out_of_order);
		return limit_of(q);
	}
	if (q->rtt_least == 0 || now->rtt_us < q->rtt_least)
		q->rtt_least = now->rtt_us;
	q->backlog_least = min_u64(q->backlog_least, now->backlog);
	us = now->now_us - q->begun_us;
	loses = now->out_of_order > q->out_of_order;
	q->out_of_order = now->out_of_order;
	if (q->state == SQ_HOLDING && (loses || fails_at_once(q, us, now))) {
		back_off(q, now);
		return 0;
	}
	if (q->state == SQ_DRAINING && now->window <= limit_of(q))
		begin_holding(q, now);
	else if (is_period_over(q, now)) {
		rate = (now->consumed - q->begun_pos) * 1000000 / us;
		if (q->state == SQ_LOOKING)
			end_looking(q, now, rate);
		else if (q->state == SQ_DRAINING)
			end_draining(q, now, rate);
		else
			end_holding(q, now, rate);
	}
	return q->state == SQ_LOOKING ? 0 : limit_of(q);
}

uint64_t
standing_queue_restore(struct standing_queue *q)
{
	uint64_t window = q->state == SQ_LOOKING ? q->window_before : 0;

	if (window != 0)
		q->window_before = 0;
	return window;
}
