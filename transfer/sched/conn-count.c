/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See conn-count.h. */

#include <string.h>

#include "conn-count.h"
#include "minmax.h"

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
#define FAILED_TRIALS_MAX	2

/* A trial that fails costs about a second of the transfer. */
#define REST_SECONDS	8

unsigned int
conn_count_wanted(const struct conn_count *x)
{
	return x->wanted == 0 ? 1 : x->wanted;
}

void
conn_count_pause(struct conn_count *x)
{
	x->since = 0;
}

void
conn_count_refused(struct conn_count *x, unsigned int has)
{
	x->wanted = has;
	x->no_more_trials = 1;
}

/*
 * The goodput no longer rises: "rate" bytes per second. A connection may carry
 * more until its first loss, so that "best" is no measure of what comes.
 */
static void
decide_more(struct conn_count *x, uint64_t best, uint64_t rate, uint64_t rest)
{
	unsigned int has = conn_count_wanted(x);

	if (has > 1 && best * 100 < x->base * GAINS) {
		if (++x->failed_trials == FAILED_TRIALS_MAX) {
			x->wanted = has / 2;
			x->no_more_trials = 1;
		}
		return;
	}
	x->failed_trials = 0;
	if (rest / REST_SECONDS < rate)
		return;
	x->base = rate;
	x->no_more_trials = has == CONN_COUNT_MAX;
	if (!x->no_more_trials)
		x->wanted = 2 * has;
}

void
conn_count_moved(struct conn_count *x, uint64_t bytes, uint64_t rest,
    unsigned int has, uint64_t now)
{
	uint64_t rate;

	if (x->no_more_trials || has < conn_count_wanted(x)) {
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
	decide_more(x, max_u64(rate, x->last), max_u64(rate, 1), rest);
	x->since = x->last = 0;
}

/* Channels */

#define RTT_MIN	8000

/*
 * Rates above that of the window in a row show that it is no limit, or if it is
 * ours, that the RTT is less.
 */
#define BEYOND_MAX	3

static const unsigned int levels[] = { 2, 4, 8, 10 };

static uint64_t
window_of(const struct conn_count *w)
{
	return w->window == 0 ? CHANNEL_WINDOW_STOCK : w->window;
}

/* "bytes" were moved in a round trip. */
static void
consider_round_trip(struct conn_count *w, uint64_t bytes, unsigned int n)
{
	uint64_t cap = window_of(w) * n, need = 0;
	unsigned int i;
	int rises = w->best > 0 && bytes >= w->best + w->best / 2;

	if (n != w->best_conns) {
		/* Channels were added in this period: it tells nothing. */
		w->best_conns = n;
		w->best = 0;
		return;
	}
	w->beyond = n == 1 && bytes > cap + cap / 4 ? w->beyond + 1 : 0;
	if (w->beyond >= BEYOND_MAX && w->window_is_ours) {
		w->rtt = w->rtt * cap / bytes;
		bytes = cap;
		w->beyond = 0;
	} else if (w->beyond >= BEYOND_MAX)
		w->never_limited = 1;
	w->limited = w->beyond == 0 && bytes >= cap / 10 * 6;
	if (rises && w->beyond == 0 && bytes >= cap / 10 * 3)
		need = 4 * bytes;
	else if (w->limited)
		need = cap;		/* and a little: the next level */
	for (i = 0; need > 0 && i < sizeof(levels) / sizeof(*levels); i++) {
		w->wanted = (unsigned int)max_u64(w->wanted, levels[i]);
		if (window_of(w) / 10 * 8 * levels[i] >= need)
			need = 0;
	}
	w->best = max_u64(w->best, bytes);
}

void
conn_count_acked(struct conn_count *w, uint32_t len, uint64_t age, uint64_t now,
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
	if (w->rtt >= RTT_MIN && !w->never_limited)
		consider_round_trip(w, w->bytes * w->rtt / (now - w->since),
		    has);
	w->since = now;
	w->bytes = 0;
}

int
conn_count_may_be_limited(const struct conn_count *w)
{
	return !w->never_limited && (w->rtt == 0 || w->rtt >= RTT_MIN);
}
