/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * See wtune.h for the idea.
 *
 * Rounds.  A round is what bdp.c needs to tell the age of a credit.  Ages of
 * one round never mix two windows: growth starts a new one, and the credit
 * that carries the growth does not count, for its first byte is the old
 * window's last.
 *
 * The edge test needs no RTT.  Double the window and look at the age: a
 * limited sender uses the new credit as fast as the old one (age unchanged,
 * double again), any other lets it lie (age doubles, hold).  It costs one
 * doubling to find out, which is why it needs the rate to fall by half
 * before it asks again.
 */

#include <stdlib.h>

#include "wtune.h"

/*
 * While the rate still rises, it doubles per RTT (slow start) and the
 * measure is half an RTT old at best when the credit reaches the sender:
 * sent - acknowledged = 2 * measured, and an eighth for the lag of a slot.
 * 3 leaves a half for what waits in the sender's socket; at 2 slow start
 * stalls on every path, at 4 the peak overshoots for nothing.
 */
#define GAIN_RISING_QUARTERS	12

/* Growth in steps of an eighth at least: a slot of slow start brings 9 %. */
#define STEP_DIVISOR		8

/* Below this age 2 MiB are 400 MB/s: processors limit, no probe can tell. */
#define EDGE_AGE_MIN_US		5000

/* Jitter that still counts as the same age: a quarter. */
#define SAME_AGE(a, ref)	((a) <= (ref) + (ref) / 4)

/* How long half the window must be idle before it is withdrawn. */
#define WITHDRAW_AFTER_US	2000000

/* No byte for this long: the path may have become another. */
#define IDLE_US			10000000

struct wtune {
	struct wtune_conf conf;
	enum wtune_why why;

	uint64_t last_us;	/* of the last decision */
	uint64_t backlog_min;	/* of this round */
	int	 lags;		/* the reader, in the last round */

	uint64_t rise_us, rise_rate;	/* a mark to see the rate rise from */
	int	 rising;

	uint64_t ref_age;	/* age at which growth paid; 0: never probed */
	uint64_t hold_rate;	/* rate when probing ended; 0: it has not */

	uint64_t over_since_us;	/* window twice what is needed since; 0: no */
	int	 withdrawing;
};

struct wtune *
wtune_new(const struct wtune_conf *conf)
{
	struct wtune *w;

	if ((w = calloc(1, sizeof(*w))) == NULL)
		return NULL;
	w->conf = *conf;
	w->rising = 1;
	w->backlog_min = UINT64_MAX;
	return w;
}

void
wtune_free(struct wtune *w)
{
	free(w);
}

enum wtune_why
wtune_why(const struct wtune *w)
{
	return w->why;
}

const char *
wtune_why_text(enum wtune_why why)
{
	static const char *const text[] = {
		[WTUNE_QUIET] = "stock window suffices",
		[WTUNE_GROW_BDP] = "grow: the path holds more",
		[WTUNE_GROW_EDGE] = "grow: the window is what limits",
		[WTUNE_HOLD_READER] = "hold: the reader lags",
		[WTUNE_HOLD_PATH] = "hold: more window brings nothing",
		[WTUNE_HOLD_CEILING] = "hold: at the ceiling",
		[WTUNE_HOLD_BUDGET] = "hold: the process has no more to give",
		[WTUNE_WITHDRAW_PATH] = "withdraw: the path holds less",
		[WTUNE_WITHDRAW_IDLE] = "withdraw: the channel idled",
	};

	return text[why];
}

static uint64_t
min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t
max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Is the rate a quarter above what it was an RTT ago? */
static void
note_rise(struct wtune *w, const struct bdp *b, uint64_t now_us)
{
	uint64_t rate = bdp_rate(b);

	if (now_us - w->rise_us < max_u64(bdp_rtt(b), 1000))
		return;
	w->rising = rate > w->rise_rate + w->rise_rate / 4;
	w->rise_rate = rate;
	w->rise_us = now_us;
}

/* What the path was seen to hold, by the best RTT there is. */
static uint64_t
path_holds(const struct wtune *w, const struct bdp *b, uint64_t rate)
{
	return bdp_bytes(rate, max_u64(bdp_rtt(b), w->ref_age));
}

/* Grow to "want", no further than twofold, ceiling and budget allow. */
static int64_t
grow(struct wtune *w, struct bdp *b, const struct wtune_now *now,
    uint64_t want, enum wtune_why why)
{
	uint64_t most = min_u64(2 * now->window, want);

	w->withdrawing = 0;
	w->over_since_us = 0;
	if (now->window >= w->conf.ceiling) {
		w->why = WTUNE_HOLD_CEILING;
		return 0;
	}
	if (now->budget == 0) {
		w->why = WTUNE_HOLD_BUDGET;
		return 0;
	}
	most = min_u64(most, w->conf.ceiling);
	most = min_u64(most, now->window + now->budget);
	w->why = why;
	bdp_restart_ages(b);
	return (int64_t)(most - now->window);
}

/* A round is over: did the credits of this window get older? */
static int
edge_limits(struct wtune *w, const struct bdp *b)
{
	uint64_t age = bdp_age(b);

	if (age < EDGE_AGE_MIN_US)	/* none, or no path to speak of */
		return 0;
	if (w->hold_rate != 0 && bdp_rate_max(b) < w->hold_rate / 2) {
		w->ref_age = age;	/* another path: ask again */
		w->hold_rate = 0;
		return 1;
	}
	if (w->hold_rate == 0 &&
	    (w->ref_age == 0 || SAME_AGE(age, w->ref_age))) {
		w->ref_age = w->ref_age == 0 ? age : min_u64(age, w->ref_age);
		return 1;
	}
	if (w->hold_rate == 0 || bdp_rate_max(b) > w->hold_rate)
		w->hold_rate = bdp_rate_max(b);
	w->why = WTUNE_HOLD_PATH;
	return 0;
}

/*
 * Withdraw what the path has not needed for a while.  The rate is the
 * maximum of seconds, so a pause or a lost packet is no reason.
 */
static int64_t
withdraw(struct wtune *w, const struct bdp *b, const struct wtune_now *now,
    int idled)
{
	uint64_t need;

	need = path_holds(w, b, bdp_rate_max(b)) * w->conf.gain_quarters / 4;
	need = max_u64(need, w->conf.floor);
	if (w->withdrawing && now->window <= need)
		w->withdrawing = 0;
	if (idled && now->window > need) {
		w->withdrawing = 1;
		w->why = WTUNE_WITHDRAW_IDLE;
	}
	if (now->window < 2 * need)
		w->over_since_us = 0;
	else if (w->over_since_us == 0)
		w->over_since_us = now->now_us;
	else if (!w->withdrawing &&
	    now->now_us - w->over_since_us >= WITHDRAW_AFTER_US) {
		w->withdrawing = 1;
		w->why = WTUNE_WITHDRAW_PATH;
	}
	return w->withdrawing ? -(int64_t)(now->window - need) : 0;
}

int64_t
wtune_decide(struct wtune *w, struct bdp *b, const struct wtune_now *now)
{
	int idled = w->last_us != 0 && now->now_us - w->last_us >= IDLE_US;
	int limits = 0;
	uint64_t want;

	w->last_us = now->now_us;
	if (idled) {
		bdp_restart_rate(b, now->taken, now->now_us);
		bdp_restart_ages(b);
		w->rising = 1;
		w->ref_age = w->hold_rate = 0;
	}
	note_rise(w, b, now->now_us);
	w->backlog_min = min_u64(w->backlog_min, now->backlog);
	if (bdp_age(b) != 0) {
		w->lags = w->backlog_min > now->window / 8;
		w->backlog_min = UINT64_MAX;
		limits = !w->lags && edge_limits(w, b);
		bdp_next_round(b);
	}
	want = bdp_bytes(bdp_rate(b), bdp_rtt(b)) * (w->rising ?
	    GAIN_RISING_QUARTERS : w->conf.gain_quarters) / 4;
	if (now->backlog > now->window / 2 || w->lags) {
		if (want > now->window || limits || w->lags)
			w->why = WTUNE_HOLD_READER;
		return 0;
	}
	if (want > now->window + now->window / STEP_DIVISOR)
		return grow(w, b, now, want, WTUNE_GROW_BDP);
	if (limits)
		return grow(w, b, now, 2 * now->window, WTUNE_GROW_EDGE);
	return withdraw(w, b, now, idled);
}
