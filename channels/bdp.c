/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * See bdp.h for the idea.
 *
 * Rate. Positions are kept at SLOTS points over about one RTT, and the rate
 * is the distance from the point of a RTT ago to now. With eight points a
 * decision lags the path by an eighth of a RTT, while TCP's slow start doubles
 * in one. Slow start comes in bursts, which a long path does not spread, so
 * eight points may be several RTTs old: a mean over them would lag by as much.
 *
 * After a loss the stream stands still for more than a RTT, and then leaps by
 * more than any link carries, because all that had arrived meanwhile becomes
 * readable at once. So the mean since the point before the stall bounds the
 * rate, until eight times the stall have passed. Slow start pauses too, but
 * for less than a RTT.
 *
 * Maxima and minima are kept in two buckets of SPAN_US, the running one and
 * the one before it. The state has a constant size and is exact to within a
 * bucket. The transport's present RTT is kept so as well, because queues
 * come and go in seconds.
 *
 * Ages. Credits are remembered as (edge, time). A window sends one credit
 * per three packets, far more than needed, so a full ring drops the newest:
 * the oldest outstanding credits are those that complete next.
 */

#include <stdlib.h>

#include "bdp.h"

#define SLOTS		8
#define SLOT_MIN_US	1000	/* a shorter one measures the scheduler */
#define SLOT_UNKNOWN_US	5000	/* no RTT yet: 40 ms in all, a continent's */

#define STALL_MIN_US	(4 * SLOT_MIN_US)
#define STALL_MAX_US	2000000	/* above: the sender was idle */
#define STALL_MEMORY	8	/* times the stall */

/* A pause above this is a stall: a RTT, and a sixteenth for jitter. */
#define STALL_RTT(rtt)	((rtt) + (rtt) / 16)

#define SPAN_US		5000000	/* outlives the repair of a loss */
#define CREDITS		32
#define ROUND_CREDITS	4	/* one alone may be an accident of scheduling */

struct bdp {
	uint64_t rtt_us, rtt_now_us;	/* the transport's */
	uint64_t inband_us;		/* from the ages of credits */

	struct slot {
		uint64_t pos, at_us;
	} slot[SLOTS];
	unsigned int slot_next, slot_used;
	struct slot before_stall;
	uint64_t stall_us;		/* when it was over */
	uint64_t stall_until_us;	/* it bounds the rate until then */
	uint64_t rate;

	uint64_t span_us;		/* when the running bucket began */
	uint64_t rate_max[2];
	uint64_t rtt_min[2];		/* of rtt_now_us */
	uint64_t out_of_order_max[2];		/* bytes behind lost ones */

	struct {
		uint64_t edge, at_us;
	} credit[CREDITS];
	unsigned int credit_first, credit_used;
	uint64_t age_us, last_age_us;
	unsigned int ages;		/* completed in this round */
};

struct bdp *
bdp_new(void)
{
	return calloc(1, sizeof(struct bdp));
}

void
bdp_free(struct bdp *b)
{
	free(b);
}

void
bdp_set_rtt(struct bdp *b, uint64_t rtt_us, uint64_t now_rtt_us)
{
	b->rtt_us = rtt_us;
	b->rtt_now_us = now_rtt_us;
}

void
bdp_set_inband_rtt(struct bdp *b, uint64_t rtt_us)
{
	b->inband_us = rtt_us;
}

uint64_t
bdp_inband_rtt(const struct bdp *b)
{
	return b->inband_us;
}

void
bdp_forget_out_of_order(struct bdp *b)
{
	b->out_of_order_max[0] = b->out_of_order_max[1] = 0;
}

void
bdp_note_out_of_order(struct bdp *b, uint64_t bytes)
{
	if (bytes > b->out_of_order_max[0])
		b->out_of_order_max[0] = bytes;
}

void
bdp_granted(struct bdp *b, uint64_t edge, uint64_t now_us)
{
	unsigned int i;

	if (b->credit_used == CREDITS)
		return;
	i = (b->credit_first + b->credit_used++) % CREDITS;
	b->credit[i].edge = edge;
	b->credit[i].at_us = now_us;
}

void
bdp_arrived(struct bdp *b, uint64_t pos, uint64_t now_us)
{
	uint64_t age;

	while (b->credit_used > 0 && pos > b->credit[b->credit_first].edge) {
		age = now_us - b->credit[b->credit_first].at_us;
		if (age == 0)
			age = 1;	/* 0 means none */
		if (b->age_us == 0 || age < b->age_us)
			b->age_us = age;
		b->ages++;
		b->credit_first = (b->credit_first + 1) % CREDITS;
		b->credit_used--;
	}
}

void
bdp_next_round(struct bdp *b)
{
	if (b->ages >= ROUND_CREDITS)
		b->last_age_us = b->age_us;
	b->age_us = 0;
	b->ages = 0;
}

void
bdp_restart_ages(struct bdp *b)
{
	b->credit_used = 0;
	bdp_next_round(b);
}

void
bdp_restart_rate(struct bdp *b, uint64_t pos, uint64_t now_us)
{
	b->slot_used = b->slot_next = 0;
	b->rate = b->rate_max[0] = b->rate_max[1] = 0;
	bdp_forget_out_of_order(b);
	b->span_us = now_us;
	bdp_consumed(b, pos, now_us);
}

/*
 * Returns the length of a slot, microseconds: an eighth of the best RTT known.
 */
static uint64_t
slot_us(const struct bdp *b)
{
	uint64_t rtt = bdp_rtt(b);

	if (rtt == 0)
		return SLOT_UNKNOWN_US;
	return rtt / SLOTS > SLOT_MIN_US ? rtt / SLOTS : SLOT_MIN_US;
}

/*
 * Returns the youngest slot that is an RTT old, less a sixteenth for jitter;
 * the oldest if there is none or the RTT is not known, because over a shorter
 * time a burst has the rate of the link.
 */
static const struct slot *
find_slot_of_rtt_ago(const struct bdp *b, uint64_t now_us)
{
	uint64_t rtt = bdp_rtt(b) == 0 ? UINT64_MAX : slot_us(b) * SLOTS;
	const struct slot *slot = NULL;
	unsigned int n;

	for (n = 1; n <= b->slot_used; n++) {
		slot = &b->slot[(b->slot_next + SLOTS - n) % SLOTS];
		if (now_us - slot->at_us >= rtt - rtt / 16)
			break;
	}
	return slot;
}

/* Starts new buckets when it is time, and updates the running ones. */
static void
keep_extremes(struct bdp *b, uint64_t now_us)
{
	if (now_us - b->span_us >= SPAN_US) {
		b->rate_max[1] = now_us - b->span_us >= 2 * SPAN_US ?
		    0 : b->rate_max[0];
		b->rate_max[0] = 0;
		b->rtt_min[1] = b->rtt_min[0];
		b->rtt_min[0] = 0;
		b->out_of_order_max[1] = b->out_of_order_max[0];
		b->out_of_order_max[0] = 0;
		b->span_us = now_us;
	}
	if (b->rate > b->rate_max[0])
		b->rate_max[0] = b->rate;
	if (b->rtt_min[0] == 0 || b->rtt_now_us < b->rtt_min[0])
		b->rtt_min[0] = b->rtt_now_us;
}

int
bdp_sample_due(const struct bdp *b, uint64_t now_us)
{
	unsigned int last = (b->slot_next + SLOTS - 1) % SLOTS;

	return b->slot_used == 0 ||
	    now_us - b->slot[last].at_us >= slot_us(b);
}

/* Bytes per second between two points; 0 if there is no time between. */
static uint64_t
rate_between(const struct slot *from, const struct slot *to)
{
	if (to->at_us <= from->at_us)
		return 0;
	return (to->pos - from->pos) * 1000000 / (to->at_us - from->at_us);
}

/* Notes a stall, if there was one between the last slot and now. */
static void
note_stall(struct bdp *b, const struct slot *last, uint64_t now_us)
{
	uint64_t gap = now_us - last->at_us, rtt = bdp_rtt(b);

	if (rtt == 0 || gap < STALL_RTT(rtt) ||
	    gap < STALL_MIN_US || gap > STALL_MAX_US)
		return;
	b->before_stall = *last;
	b->stall_us = now_us;
	b->stall_until_us = now_us + STALL_MEMORY * gap;
}

void
bdp_consumed(struct bdp *b, uint64_t pos, uint64_t now_us)
{
	const struct slot *last = &b->slot[(b->slot_next + SLOTS - 1) % SLOTS];
	struct slot now = { pos, now_us };
	uint64_t mean;

	if (b->slot_used == 0)
		b->span_us = now_us;
	else {
		note_stall(b, last, now_us);
		b->rate = rate_between(find_slot_of_rtt_ago(b, now_us), &now);
		mean = rate_between(&b->before_stall, &now);
		if (now_us < b->stall_until_us && mean < b->rate)
			b->rate = mean;
		keep_extremes(b, now_us);
	}
	b->slot[b->slot_next] = now;
	b->slot_next = (b->slot_next + 1) % SLOTS;
	if (b->slot_used < SLOTS)
		b->slot_used++;
}

uint64_t
bdp_stall_us(const struct bdp *b)
{
	return b->stall_us;
}

uint64_t
bdp_rtt(const struct bdp *b)
{
	return b->inband_us > b->rtt_us ? b->inband_us : b->rtt_us;
}

uint64_t
bdp_socket_rtt(const struct bdp *b)
{
	return b->rtt_us;
}

uint64_t
bdp_smoothed_rtt(const struct bdp *b)
{
	return b->rtt_now_us;
}

uint64_t
bdp_rtt_now(const struct bdp *b)
{
	if (b->rtt_min[1] == 0 || b->rtt_min[0] == 0)
		return b->rtt_min[0] + b->rtt_min[1];
	return b->rtt_min[0] < b->rtt_min[1] ? b->rtt_min[0] : b->rtt_min[1];
}

uint64_t
bdp_age(const struct bdp *b)
{
	return b->ages >= ROUND_CREDITS ? b->age_us : 0;
}

uint64_t
bdp_last_age(const struct bdp *b)
{
	return b->last_age_us;
}

uint64_t
bdp_rate(const struct bdp *b)
{
	return b->rate;
}

uint64_t
bdp_rate_max(const struct bdp *b)
{
	return b->rate_max[0] > b->rate_max[1] ? b->rate_max[0] :
	    b->rate_max[1];
}

uint64_t
bdp_out_of_order(const struct bdp *b)
{
	return b->out_of_order_max[0] > b->out_of_order_max[1] ?
	    b->out_of_order_max[0] : b->out_of_order_max[1];
}

uint64_t
bdp_bytes(uint64_t rate, uint64_t rtt_us)
{
	return rate / 1000000 * rtt_us + rate % 1000000 * rtt_us / 1000000;
}
