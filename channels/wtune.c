/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * See wtune.h for the idea.
 *
 * Rounds. A round is what bdp.c needs to tell the age of a credit, and lasts
 * at least that age, so that two rounds are two observations. Ages of one
 * round never mix two windows: growth starts a new one, and the credit that
 * carries the growth does not count, for its first byte is the old window's
 * last.
 *
 * The edge test needs no RTT. By Little's law age = window / rate. Once two
 * rounds agree on the age, the window may be what limits, or it may not:
 * raise it and see. A limited sender uses the new credit as fast as the
 * old, so the age stays and the rate rises: that age is the RTT, and raising
 * goes on until it does not help. Any other sender lets the credit lie: the
 * age rises, not the rate, and the growth is taken back. Asking costs that
 * growth for one round, so it is asked again only when the rate changed.
 * A loss in between makes all ages long and spoils the answer, once: a path
 * whose RTT grew looks like a loss in every round.
 *
 * Loss. A lost byte comes again one RTT later, two if it is lost again, and
 * all that arrived after it waits in the kernel until then. With loss enough
 * some byte always waits: the stream as a whole is late by one to three RTT,
 * and a window of twice the BDP is used up before its first byte is taken.
 * The rate is then the window's own, window / (RTT + wait), and no multiple
 * of it below (RTT + wait) / RTT would ever raise the window; nor is the edge
 * any help, for the credits are older than the RTT. But the sender does not
 * wait for the lost byte: what it may send goes on arriving, so what waits
 * in the kernel is wait * rate in bytes, or all of the window if that is
 * less. The need is the BDP and what waits, and a quarter of both; while
 * both are nearly all of the window, the window limits, and they are doubled,
 * as slow start would. Once it no longer limits, neither grows any further,
 * and the window ends below twice what the path holds. Bytes that the reader
 * leaves lie are in order: they are not counted. What waits while the reader
 * lags is forgotten, for the window it came from was too large.
 *
 * An RTT so found is the whole path's, and goes to the estimator: from then
 * on the window follows the BDP as it does where the socket knows the RTT.
 */

#include <stdlib.h>

#include "wtune.h"

/*
 * While the rate still rises, it doubles per RTT (slow start) and the
 * measure is half an RTT old at best when the credit reaches the sender:
 * sent - acknowledged = 2 * measured, and an eighth for the lag of a slot.
 * 3 leaves the rest for what waits in the sender's socket.
 */
#define GAIN_RISING_QUARTERS	12

/* Growth in steps of an eighth at least: a slot of slow start brings 9 %. */
#define STEP_DIVISOR		8

/*
 * Below this age 2 MiB are 105 MB/s: more than most links carry, and a stock
 * sender pays for each question. A socket's RTT still makes windows grow.
 */
#define EDGE_AGE_MIN_US		20000

/*
 * A sender that the window limits does not grow its congestion window, so
 * each question costs a round or two of slow start: the first is a large one
 * where no socket can tell. A stock sender chokes on 8 MiB of a short path.
 */
#define FIRST_QUESTION	4

/* Jitter that still counts as the same: a quarter. */
#define NOT_ABOVE(a, b)		((a) <= (b) + (b) / 4)
#define SAME(a, b)		(NOT_ABOVE(a, b) && NOT_ABOVE(b, a))

/* A rate that says that a window brought something: an eighth more. */
#define FASTER(a, b)		((a) > (b) + (b) / 8)

/* A reader that never leaves less than this part of the window lags. */
#define LAG_DIVISOR	8

/* How long a third of the window must lie idle before it is withdrawn. */
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

	uint64_t round_us, last_round_us;	/* when this one began, and that */
	uint64_t round_age;	/* of the round before, same window; 0: none */
	int	 probing;	/* the last growth asked a question */
	int	 paid;		/* a growth of this series brought speed */
	uint64_t probed_from;	/* the window before the series */
	uint64_t asked_us;	/* when the round before it began */
	uint64_t asked_rate;	/* of that round */
	int	 excused;	/* the last answer was spoilt by a loss */
	uint64_t answer_rate;	/* when it ended; 0: never asked */

	uint64_t over_since_us;	/* window far above the need since; 0: no */
	int	 withdrawing;
	uint64_t withdraw_to;
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
		[WTUNE_QUIET] = "keep: nothing asks for more",
		[WTUNE_GROW_BDP] = "grow: the path holds more",
		[WTUNE_GROW_EDGE] = "grow: the window is what limits",
		[WTUNE_HOLD_READER] = "hold: the reader lags",
		[WTUNE_HOLD_PATH] = "hold: more window brings nothing",
		[WTUNE_HOLD_CEILING] = "hold: at the ceiling",
		[WTUNE_HOLD_MEMORY] = "hold: at its share of the memory",
		[WTUNE_WITHDRAW_PATH] = "withdraw: the path holds less",
		[WTUNE_WITHDRAW_PAUSE] = "withdraw: a pause spoilt the answer",
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

/*
 * What a path of that rate needs: a multiple of the BDP, or the BDP and what
 * waits behind lost bytes, if that is more.
 */
static uint64_t
need_of(const struct bdp *b, uint64_t rate, uint32_t gain_quarters)
{
	uint64_t path = bdp_bytes(rate, bdp_rtt(b));
	uint64_t held = path + bdp_waiting(b);

	return max_u64(path * gain_quarters / 4, held + held / 4);
}

/* What the path may be given; with loss the window may be all it knows. */
static uint64_t
want_of(const struct wtune *w, const struct bdp *b,
    const struct wtune_now *now)
{
	uint32_t gain = w->rising ? GAIN_RISING_QUARTERS :
	    w->conf.gain_quarters;
	uint64_t path = bdp_bytes(bdp_rate(b), bdp_rtt(b));
	uint64_t held = path + bdp_waiting(b);

	if (now->backlog > now->window / LAG_DIVISOR)
		return path * gain / 4;	/* the reader may be the slow one */
	if (bdp_waiting(b) != 0 && held >= now->window / 4 * 3)
		return max_u64(path * gain / 4, 2 * held);
	return need_of(b, bdp_rate(b), gain);
}

/* Is the rate a quarter above what it was an RTT ago, and a new maximum? */
static void
note_rise(struct wtune *w, const struct bdp *b, uint64_t now_us)
{
	uint64_t rate = bdp_rate(b);

	if (now_us - w->rise_us < max_u64(bdp_rtt(b), 1000))
		return;
	w->rising = !NOT_ABOVE(rate, w->rise_rate) && rate >= bdp_rate_max(b);
	w->rise_rate = rate;
	w->rise_us = now_us;
}

/* How much more of the free memory may be taken: see wtune.h. */
static uint64_t
share(const struct wtune *w, const struct wtune_now *now)
{
	uint64_t grown = now->window - min_u64(now->window, w->conf.floor);

	return now->free > grown ? (now->free - grown) / 2 : 0;
}

static int
may_grow(struct wtune *w, const struct wtune_now *now)
{
	if (now->window >= w->conf.ceiling)
		w->why = WTUNE_HOLD_CEILING;
	else if (share(w, now) == 0)
		w->why = WTUNE_HOLD_MEMORY;
	else
		return 1;
	return 0;
}

/* Grow to "want", no further than fourfold, ceiling and memory allow. */
static int64_t
grow(struct wtune *w, struct bdp *b, const struct wtune_now *now,
    uint64_t want, enum wtune_why why)
{
	uint64_t most = min_u64(FIRST_QUESTION * now->window, want);

	w->withdrawing = 0;
	w->over_since_us = 0;
	w->probing = 0;
	most = min_u64(most, w->conf.ceiling);
	most = min_u64(most, now->window + share(w, now));
	w->why = why;
	if (why == WTUNE_GROW_EDGE)
		w->probing = 1;
	else
		w->round_age = 0;
	bdp_restart_ages(b);
	w->round_us = now->now_us;
	return (int64_t)(most - now->window);
}

/* Little's law. */
static uint64_t
per_second(uint64_t window, uint64_t age_us)
{
	return window * 1000000 / age_us;
}

/* A round after a growth that asked: did it bring speed? */
static int
edge_answer(struct wtune *w, struct bdp *b, uint64_t age, uint64_t window)
{
	w->probing = 0;
	w->excused = !w->excused && bdp_stall_us(b) > w->asked_us;
	if (w->excused) {
		w->why = WTUNE_WITHDRAW_PAUSE;
		w->withdrawing = 1;
		w->withdraw_to = w->probed_from;
		return 0;
	}
	if (NOT_ABOVE(age, w->round_age)) {
		w->paid = 1;
		bdp_set_inband_rtt(b, min_u64(age, w->round_age));
		w->asked_rate = per_second(window, age);
		return 1;
	}
	w->why = WTUNE_HOLD_PATH;
	w->answer_rate = per_second(window, age);
	if (FASTER(w->answer_rate, w->asked_rate)) {	/* some */
		w->paid = 1;
		bdp_set_inband_rtt(b, w->round_age);
	}
	if (!w->paid) {
		w->withdrawing = 1;
		w->withdraw_to = w->probed_from;
	}
	w->round_age = 0;
	return 0;
}

/* A client behind a pipe has the whole path, and no socket to ask about it. */
static int
socket_tells(const struct wtune *w, const struct bdp *b)
{
	return w->conf.whole_path && bdp_rtt_now(b) != 0;
}

/*
 * Where the transport's RTT is the whole path's, credits that lie longer are
 * not what limits, and there is nothing to ask. It is, once a credit was as
 * young as that RTT: no age is below the path's.
 */
static int
edge_is_clear(struct wtune *w, const struct bdp *b, uint64_t age,
    uint64_t rate, uint64_t window)
{
	uint64_t rtt = max_u64(bdp_rtt(b), bdp_rtt_now(b));

	if (age <= bdp_rtt(b) + bdp_rtt(b) / 2 && bdp_inband_rtt(b) == 0)
		w->conf.whole_path = 1;
	if (socket_tells(w, b))
		return age > rtt + rtt / 2;
	return bdp_inband_rtt(b) != 0 && rate > w->answer_rate &&
	    window >= 2 * bdp_bytes(rate, bdp_rtt(b));
}

/* A round is over: does, or may, the window limit? */
static int
edge_limits(struct wtune *w, struct bdp *b, uint64_t window)
{
	uint64_t age = bdp_age(b), rate = per_second(window, age);
	uint64_t age_before = w->round_age, before_us = w->last_round_us;
	int clear;

	if (age < EDGE_AGE_MIN_US)	/* no path to speak of */
		return 0;
	if (age < bdp_inband_rtt(b))	/* an age is never below the RTT */
		bdp_set_inband_rtt(b, age);
	if (w->probing)
		return edge_answer(w, b, age, window);
	clear = edge_is_clear(w, b, age, rate, window);
	w->round_age = age;
	if (clear)	/* remembered as an answer, unless the RTT may tell */
		w->answer_rate = socket_tells(w, b) ? 0 : rate;
	if (clear || age_before == 0 || !SAME(age, age_before) ||
	    (w->answer_rate != 0 && SAME(rate, w->answer_rate)))
		return 0;
	w->paid = 0;
	w->probed_from = window;
	w->asked_us = before_us;
	w->asked_rate = rate;
	return 1;
}

/*
 * Withdraw what the path has not needed for a while. The rate is the
 * maximum of seconds, so a pause or a lost packet is no reason. Without any
 * RTT nothing is known to be too much.
 */
static int64_t
withdraw(struct wtune *w, const struct bdp *b, const struct wtune_now *now,
    int idled)
{
	uint64_t need;

	need = need_of(b, bdp_rate_max(b), w->conf.gain_quarters);
	need = max_u64(need, w->conf.floor);
	if (now->window < need + need / 2 || bdp_rtt(b) == 0)
		w->over_since_us = 0;
	else if (w->over_since_us == 0)
		w->over_since_us = now->now_us;
	if (idled || (w->over_since_us != 0 &&
	    now->now_us - w->over_since_us >= WITHDRAW_AFTER_US)) {
		if (!w->withdrawing)
			w->why = idled ? WTUNE_WITHDRAW_IDLE :
			    WTUNE_WITHDRAW_PATH;
		w->withdrawing = 1;
		w->withdraw_to = need;
	}
	if (!w->withdrawing || now->window <= w->withdraw_to) {
		w->withdrawing = 0;
		return 0;
	}
	return -(int64_t)(now->window - w->withdraw_to);
}

/*
 * The reader is what limits: all that the window exceeds the BDP by ends up
 * in our memory. A quarter of it keeps the reader busy.
 */
static int64_t
hold_reader(struct wtune *w, struct bdp *b, const struct wtune_now *now,
    int wanted)
{
	uint64_t need = bdp_bytes(bdp_rate_max(b), bdp_rtt(b));

	need = max_u64(need + need / 4, w->conf.floor);
	w->withdrawing = 0;	/* this takes its place; rounds go on */
	if (wanted || w->lags)
		w->why = WTUNE_HOLD_READER;
	if (w->lags)
		bdp_restart_waiting(b);
	if (!w->lags || now->window <= need)
		return 0;
	return -(int64_t)(now->window - need);
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
		bdp_set_inband_rtt(b, 0);
		w->round_age = w->answer_rate = 0;
		w->probing = 0;
	}
	note_rise(w, b, now->now_us);
	w->backlog_min = min_u64(w->backlog_min, now->backlog);
	if (w->withdrawing) {
		bdp_restart_ages(b);	/* of no one window */
		w->round_age = 0;
	} else if (bdp_age(b) != 0 &&
	    now->now_us - w->round_us >= bdp_age(b)) {
		w->lags = w->backlog_min > now->window / LAG_DIVISOR;
		w->backlog_min = UINT64_MAX;
		limits = !w->lags && edge_limits(w, b, now->window);
		bdp_next_round(b);
		w->last_round_us = w->round_us;
		w->round_us = now->now_us;
	}
	want = want_of(w, b, now);
	if (now->backlog > now->window / 2 || w->lags)
		return hold_reader(w, b, now, limits || want > now->window);
	if (limits)
		want = max_u64(want, now->window * (now->window ==
		    w->conf.floor && bdp_rtt_now(b) == 0 ?
		    FIRST_QUESTION : 2));
	if (want > now->window + now->window / STEP_DIVISOR) {
		if (may_grow(w, now))
			return grow(w, b, now, want,
			    limits ? WTUNE_GROW_EDGE : WTUNE_GROW_BDP);
		w->probing = 0;
	}
	return withdraw(w, b, now, idled);
}
