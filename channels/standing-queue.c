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
 * less than an eighth of its rate then. On a slow path it takes 16 packets, so
 * that a packet more or less does not count, but no longer than this: a window
 * that is too small has to be noticed.
 */
#define PERIOD_RTTS	8
#define PERIOD_MIN_US	200000
#define PERIOD_BYTES	(16 * 32768)
#define LOOKING_MAX_US	4000000
#define HOLDING_MAX_US	1000000

/* An RTT that shows a queue: a quarter above the path's, and 5 ms. */
#define QUEUE_RTT(rtt)	((rtt) + (rtt) / 4 + 5000)

/*
 * With less than this, packets are not lost because the queue is full. The path
 * loses them anyway, and a window needs room for what waits behind them.
 */
#define OVERFLOW_RTT(rtt)	(2 * QUEUE_RTT(rtt))

/*
 * The window that is held, in quarters of the BDP. One more in every eighth
 * period is a probe, as a quarter above the BDP of the smallest RTT is nothing
 * above the BDP of a path whose RTT without our queue is a fifth longer (mobile
 * networks, queues of others).
 */
#define HOLD_QUARTERS	5
#define PROBE_PERIODS	8

/*
 * Beside it: a packet, which is consumed when all of it has arrived, and credit
 * that waits until it is worth an adjust, a 16th or two packets. Both ends may
 * lose their processor for a time slice, in which fast paths carry more than a
 * packet.
 */
#define PACKET		(32 * 1024)
#define UNANNOUNCED(bytes)	min_u64((bytes) / 16, 2 * PACKET)
#define SLICE_US	4000

#define FASTER(a, b)	((a) > (b) + (b) / 8)
#define MAY_BE_FASTER(a, b)	((a) > (b) + (b) / 32)

/*
 * The bytes that periods lack of the rate add up, less a 32nd in each for
 * jitter. A pause of one of the two programs, and the 200 ms in which BBR
 * drains the path, lack less than this. A path that has become half as long
 * again lacks as much in three periods, and a window that is a tenth too small
 * in six, if a period is long.
 */
#define JITTER(bytes)	((bytes) / 32)
#define LACK_MIN_US	300000
#define LACKS(rate, us)	bdp_bytes(rate, max_u64((us) / 8 * 3, LACK_MIN_US))

/* After this many periods the next pause is a short one again. */
#define GOOD_PERIODS	20

/* A smoothed RTT follows within this time. */
#define FALL_MIN_US	200000

/*
 * A window of a long path shrinks by an adjust for each eighth of an RTT. After
 * ten periods in which it did not shrink at all, it cannot.
 */
#define DRAIN_PERIODS	10

/*
 * After a common attempt of connections side by side, the others have two
 * periods and this time to withdraw their windows.
 */
#define COMMON_US	1000000

#define BACKOFF_MIN_US	10000000
#define BACKOFF_MIN_RTTS	100
#define BACKOFF_MAX_US	160000000

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
	    (us >= (q->state == SQ_LOOKING ? LOOKING_MAX_US : HOLDING_MAX_US) ||
	    now->consumed - q->begun_pos >= PERIOD_BYTES);
}

/* Returns the window to hold, in bytes. The rate to hold has to be known. */
static uint64_t
limit_of(const struct standing_queue *q)
{
	uint64_t on_path = bdp_bytes(q->hold_rate, q->hold_rtt) / 4 *
	    (HOLD_QUARTERS + q->probes);

	return on_path + max_u64(PACKET + UNANNOUNCED(on_path),
	    bdp_bytes(q->hold_rate, SLICE_US));
}

/* Returns the RTT while the window is held and no others have a queue. */
static uint64_t
expected_rtt(const struct standing_queue *q)
{
	return limit_of(q) * 1000000 / q->hold_rate;
}

/*
 * Returns 1 if the RTT has not fallen by half of what our own queue would have
 * been. Others fill it then, and get what this stream leaves.
 */
static int
stays_high(const struct standing_queue *q)
{
	return q->rtt_least > (expected_rtt(q) + q->rtt_before) / 2;
}

static void
look(struct standing_queue *q, const struct standing_queue_now *now,
    uint64_t rate)
{
	q->state = SQ_LOOKING;
	q->is_common = q->probes = q->settles = 0;
	q->last_rate = rate;
	begin_period(q, now);
}

/*
 * Ends an attempt that failed. The next one is at a multiple of the pause on
 * the clock of the machine, so that connections side by side, each of which saw
 * the queue of the others, withdraw their windows together. All pauses are
 * 10 s times a power of two, so that the multiples coincide.
 */
static void
back_off(struct standing_queue *q, const struct standing_queue_now *now)
{
	uint64_t pause = max_u64(BACKOFF_MIN_US,
	    min_u64(2 * q->backoff_us, BACKOFF_MAX_US));

	while (pause < BACKOFF_MIN_RTTS * now->min_rtt_us)
		pause *= 2;
	q->backoff_us = pause;
	q->retry_us = (now->now_us / pause + 2) * pause;
	if (q->state == SQ_HOLDING)
		q->least_rtt = 0;	/* the path may have become longer */
	look(q, now, 0);
}

static void
end_looking(struct standing_queue *q, const struct standing_queue_now *now,
    uint64_t rate)
{
	uint64_t rtt = q->least_rtt, last_rate = q->last_rate;
	uint64_t in_flight = bdp_bytes(rate, q->rtt_least);
	int stands = q->rtt_least > QUEUE_RTT(rtt);
	int lags = q->backlog_least > LAG(now->window);
	uint64_t rtt_before = q->rtt_least;
	int loses = now->out_of_order != 0 && q->rtt_least < OVERFLOW_RTT(rtt);
	int is_common = q->is_common;

	look(q, now, rate);
	q->is_common = is_common;
	if (last_rate != 0)
		q->window_before = 0;	/* there was time to restore it */
	if (!stands || lags || loses || now->now_us < q->retry_us)
		return;
	if (is_common)		/* no period before to compare with */
		last_rate = rate;
	if (rate == 0 || last_rate == 0 || FASTER(rate, last_rate) ||
	    FASTER(last_rate, rate))
		return;
	q->hold_rate = (rate + last_rate) / 2;
	q->hold_rtt = rtt;
	q->good = 0;
	if (in_flight < limit_of(q) ||
	    now->window <= limit_of(q) / 8 * 9)
		return;
	q->rtt_before = rtt_before;
	q->window_before = q->window_least = now->window;
	q->state = SQ_DRAINING;
	q->drained = 0;
}

/*
 * The smoothed RTT follows the window before the first period begins. That
 * takes two present RTTs, but no longer than four expected ones: a present RTT
 * that is longer may be due to the queue of others, and waiting costs rate.
 */
static void
begin_holding(struct standing_queue *q, const struct standing_queue_now *now)
{
	q->state = SQ_HOLDING;
	q->settles = 1;
	q->lack = q->last_rate = 0;
	q->good = q->unprobed = 0;
	q->rtt_before = max_u64(q->rtt_before, now->rtt_us);
	begin_period(q, now);
	q->begun_us += min_u64(2 * now->rtt_us, 4 * expected_rtt(q));
	if (q->is_common)
		q->begun_us = max_u64(q->begun_us, q->retry_us +
		    2 * PERIOD_RTTS * now->min_rtt_us + COMMON_US);
}

/*
 * Returns 1 if the RTT has not fallen although the window has. It is smoothed,
 * so it gets a fifth of a second.
 */
static int
fails_at_once(const struct standing_queue *q, uint64_t us,
    const struct standing_queue_now *now)
{
	return q->good == 0 && stays_high(q) &&
	    us >= max_u64(2 * now->min_rtt_us, FALL_MIN_US);
}

static void
end_draining(struct standing_queue *q, const struct standing_queue_now *now)
{
	if (now->window < q->window_least) {
		q->window_least = now->window;
		q->drained = 0;
	} else
		q->drained++;
	if (q->drained == DRAIN_PERIODS)
		back_off(q, now);
	else
		begin_period(q, now);
}

/* Returns 1 if a probe was faster than the period before it. */
static int
window_limits(const struct standing_queue *q, uint64_t rate)
{
	return q->probes && q->last_rate != 0 && FASTER(rate, q->last_rate);
}

static void
end_holding(struct standing_queue *q, const struct standing_queue_now *now,
    uint64_t rate, uint64_t us)
{
	uint64_t due = bdp_bytes(q->hold_rate, us);

	if (FASTER(rate, q->hold_rate) && q->good < GOOD_PERIODS) {
		back_off(q, now);	/* it changes too often */
		return;
	}
	if (FASTER(rate, q->hold_rate) || window_limits(q, rate) ||
	    q->backlog_least > LAG(now->window)) {
		look(q, now, rate);
		return;
	}
	if (!q->probes) {
		q->lack += due;
		q->lack -= min_u64(q->lack, bdp_bytes(rate, us) + JITTER(due));
		/* the probe of a connection beside lowers one rate */
		q->last_rate = max_u64(rate, (3 * q->last_rate + rate) / 4);
	}
	if (q->good == 0 && rate < q->hold_rate / 2)
		q->backoff_us = BACKOFF_MAX_US;	/* the RTT is not the path's */
	if ((q->good == 0 && rate < q->hold_rate / 2) ||
	    q->lack > LACKS(q->hold_rate, us) || stays_high(q)) {
		back_off(q, now);
		return;
	}
	if (++q->good % GOOD_PERIODS == 0)
		q->backoff_us = 0;
	q->probes = !q->probes && (++q->unprobed >= PROBE_PERIODS - 1 ||
	    (q->good > 1 && MAY_BE_FASTER(rate, q->hold_rate)));
	if (q->probes)
		q->unprobed = 0;
	if (rate > q->hold_rate)
		q->hold_rate += (rate - q->hold_rate) / 8;
	q->hold_rtt = min_u64(q->hold_rtt, q->least_rtt);
	begin_period(q, now);
}

/*
 * Returns 1 if a packet was lost while the window is limited. Until the window
 * has worked, a queue that may have overflowed explains the loss.
 */
static int
loses_while_limited(struct standing_queue *q,
    const struct standing_queue_now *now)
{
	int loses = now->out_of_order > q->out_of_order;

	q->out_of_order = now->out_of_order;
	if (!loses || q->state == SQ_LOOKING)
		return 0;
	return (q->state == SQ_HOLDING && !q->settles) ||
	    q->rtt_before < OVERFLOW_RTT(q->least_rtt);
}

uint64_t
standing_queue_limit(struct standing_queue *q,
    const struct standing_queue_now *now)
{
	uint64_t us, rate;

	if (now->min_rtt_us == 0 || now->rtt_us == 0) {
		if (q->begun_us == 0)
			q->window_before = 0;
		q->state = SQ_LOOKING;
		q->begun_us = 0;
		return 0;
	}
	if (q->begun_us == 0)
		begin_period(q, now);
	if (q->least_rtt == 0 || now->min_rtt_us < q->least_rtt)
		q->least_rtt = now->min_rtt_us;
	if (loses_while_limited(q, now)) {
		back_off(q, now);
		return 0;
	}
	if (now->now_us < q->begun_us)	/* the RTT follows the window */
		return limit_of(q);
	if (q->settles)
		begin_period(q, now);
	q->settles = 0;
	if (q->begun_us < q->retry_us && now->now_us >= q->retry_us) {
		look(q, now, 0);	/* all connections begin a period */
		q->is_common = 1;
	}
	if (q->rtt_least == 0 || now->rtt_us < q->rtt_least)
		q->rtt_least = now->rtt_us;
	q->backlog_least = min_u64(q->backlog_least, now->backlog);
	us = now->now_us - q->begun_us;
	if (q->state == SQ_HOLDING && fails_at_once(q, us, now)) {
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
			end_draining(q, now);
		else
			end_holding(q, now, rate, us);
	}
	return q->state == SQ_LOOKING ? 0 : limit_of(q);
}

uint64_t
standing_queue_restore(const struct standing_queue *q)
{
	return q->state == SQ_LOOKING ? q->window_before : 0;
}
