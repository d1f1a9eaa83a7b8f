/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See width.h. */

#include <string.h>

#include "minmax.h"
#include "width.h"

/* Connections */

#define PERIOD_US	1000000

/*
 * A period in which each connection has carried less than this lasts longer:
 * loss makes a slow path uneven.
 */
#define PERIOD_BYTES	400000
#define PERIOD_SLOW_US	4000000

/* In percent: what still rises, and what is worth twice as many */
#define RISES		125
#define GAINS		130

/* So often a trial has to bring too little: once may be bad luck. */
#define DOUBTS_MOST	2

/* A trial that fails costs about a second of the transfer. */
#define REST_SECONDS	8

unsigned int
width_want(const struct width *x)
{
	return x->want == 0 ? 1 : x->want;
}

void
width_pause(struct width *x)
{
	x->since = 0;
}

void
width_refused(struct width *x, unsigned int has)
{
	x->want = has;
	x->is_settled = 1;
}

/*
 * The goodput no longer rises: "rate" bytes per second. A connection may carry
 * more until its first loss, so that "best" is no measure of what comes.
 */
static void
judge(struct width *x, uint64_t best, uint64_t rate, uint64_t rest)
{
	unsigned int has = width_want(x);

	if (has > 1 && best * 100 < x->base * GAINS) {
		if (++x->doubts == DOUBTS_MOST) {
			x->want = has / 2;
			x->is_settled = 1;
		}
		return;
	}
	x->doubts = 0;
	if (rest / REST_SECONDS < rate)
		return;
	x->base = rate;
	x->is_settled = has == WIDTH_MOST;
	if (!x->is_settled)
		x->want = 2 * has;
}

void
width_moved(struct width *x, uint64_t bytes, uint64_t rest, unsigned int has,
    uint64_t now)
{
	uint64_t rate;

	if (x->is_settled || has < width_want(x)) {
		x->since = x->last = 0;
		return;
	}
	if (x->since == 0) {
		x->since = max_u64(now, 1);
		x->bytes = 0;
		return;
	}
	x->bytes += bytes;
	if (now - x->since < (x->bytes < (uint64_t)has * PERIOD_BYTES ?
	    PERIOD_SLOW_US : PERIOD_US))
		return;
	rate = x->bytes * 1000000 / (now - x->since);
	if (x->last == 0 || rate * 100 >= x->last * RISES) {
		x->last = max_u64(rate, 1);
		x->since = now;
		x->bytes = 0;
		return;
	}
	judge(x, max_u64(rate, x->last), max_u64(rate, 1), rest);
	x->since = x->last = 0;
}

/* Channels */

#define RTT_LEAST	8000

/*
 * Rates above that of the window in a row show that it is no limit, or if it is
 * ours, that the RTT is less.
 */
#define BEYOND_MOST	3

static const unsigned int levels[] = { 2, 4, 8, 10 };

static uint64_t
window_of(const struct width *w)
{
	return w->window == 0 ? WIDTH_WINDOW : w->window;
}

/* "bytes" were moved in a round trip. */
static void
consider(struct width *w, uint64_t bytes, unsigned int n)
{
	uint64_t cap = window_of(w) * n, need = 0;
	unsigned int i;
	int rises = w->best > 0 && bytes >= w->best + w->best / 2;

	if (n != w->with) {
		/* Channels were added in this period: it tells nothing. */
		w->with = n;
		w->best = 0;
		return;
	}
	w->beyond = n == 1 && bytes > cap + cap / 4 ? w->beyond + 1 : 0;
	if (w->beyond >= BEYOND_MOST && w->is_ours) {
		w->rtt = w->rtt * cap / bytes;
		bytes = cap;
		w->beyond = 0;
	} else if (w->beyond >= BEYOND_MOST)
		w->never = 1;
	w->limited = w->beyond == 0 && bytes >= cap / 10 * 6;
	if (rises && w->beyond == 0 && bytes >= cap / 10 * 3)
		need = 4 * bytes;
	else if (w->limited)
		need = cap;		/* and a little: the next level */
	for (i = 0; need > 0 && i < sizeof(levels) / sizeof(*levels); i++) {
		w->want = (unsigned int)max_u64(w->want, levels[i]);
		if (window_of(w) / 10 * 8 * levels[i] >= need)
			need = 0;
	}
	w->best = max_u64(w->best, bytes);
}

void
width_acked(struct width *w, uint32_t len, uint64_t age, uint64_t now,
    unsigned int has)
{
	if (w->rtt == 0 || age < w->rtt)
		w->rtt = max_u64(age, 1);
	if (w->since == 0) {
		w->since = now;
		return;
	}
	w->bytes += len;
	if (now - w->since < w->rtt)
		return;
	if (w->rtt >= RTT_LEAST && !w->never)
		consider(w, w->bytes * w->rtt / (now - w->since), has);
	w->since = now;
	w->bytes = 0;
}

int
width_may_be_limited(const struct width *w)
{
	return !w->never && (w->rtt == 0 || w->rtt >= RTT_LEAST);
}
