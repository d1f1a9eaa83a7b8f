/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * See wtune.h for the idea.
 *
 * Rounds. A round is the time that bdp.c needs to tell the age of a credit.
 * It lasts at least that age, so two rounds are two observations. The ages
 * of one round never mix two windows: growth starts a new round, and the
 * credit that carries the growth does not count, because its first byte is
 * the last one of the old window.
 *
 * The question. It finds out whether the window is the limit, and needs no
 * RTT. By Little's law age = window / rate. When two rounds agree on the
 * age, the tuner raises the window and compares the next round with them:
 *
 *   WATCHING ------ two rounds agree on the age: ask ------> ASKED
 *
 *   ASKED ----+---- the age stayed: ask again -------------> ASKED AGAIN
 *             +---- it fell: credits lay before; withdraw -> WATCHING
 *             +---- it rose, and the rate rose: keep ------> WATCHING
 *             +---- it rose, and the rate did not: withdraw
 *             |                                        ----> WATCHING
 *             +---- a loss spoilt the answer: withdraw ----> WATCHING
 *
 *   ASKED  ---+---- the age stayed: ask again -------------> ASKED AGAIN
 *   AGAIN     +---- it fell: none was an answer; withdraw -> WATCHING
 *             +---- it rose: keep what was gained ---------> WATCHING
 *             +---- a loss spoilt the answer: withdraw ----> WATCHING
 *
 *   any state ----- the BDP grows the window, nothing may
 *                   grow it, or the channel idled ---------> WATCHING
 *
 * A sender that the window limits uses new credit as fast as the old. The
 * age stays, the rate rises, and that age is the RTT; raising goes on until it
 * does not help. Any other sender lets the credit lie: the age rises and the
 * rate does not, so the growth is withdrawn. A question costs that growth
 * for one round, so it is asked again only when the rate has changed, or, while
 * no RTT is known, after some seconds if the ages are as low as any have been:
 * no credit is known to lie, and the path may be faster than the window by now.
 * An answer counts for a minute at most: where the RTT has risen, credits seem
 * to lie although the window limits. Behind a jump host sshd takes the RTT of
 * the last leg for known. A loss makes all ages long and spoils one answer. The
 * next answer counts in any case, because a path whose RTT grew looks like a
 * loss in every round. In slow start the age may be that of a queue that
 * overflows, while the rate, as the estimator has it, grows by a half or more:
 * then the window did limit.
 *
 * An answer can be wrong: when a slow sender becomes fast, credits that lay all
 * the while seem to be those that the window limits. A rate that no window of
 * this size can have, and ages far below the RTT that was found, show it.
 *
 * Withdrawing takes many small steps. It goes on beside the states, until
 * the window is down to "withdraw_to" or grows again.
 *
 * Loss. A lost byte comes again one RTT later, or two if it is lost again,
 * and all that arrived after it waits in the kernel until then. With enough
 * loss some byte always waits. The whole stream is then late by one to three
 * RTT, and a window of twice the BDP is used up before its first byte is
 * consumed. The rate is the window's own, window / (RTT + wait), and no
 * multiple of it below (RTT + wait) / RTT would ever raise the window. The
 * question does not help, because the credits are older than the RTT. But
 * the sender does not wait for the lost byte: what it may send goes on
 * arriving. So wait * rate bytes wait in the kernel, or all of the window if
 * that is less. The path holds them beside the BDP, and the need is a multiple
 * of both: the next hole may last longer than any before it, because what
 * closes it may be lost too. A window of a quarter more was used up in half of
 * the transfers whose slow start lost packets, and the sender paused for an RTT
 * or two. While both are all of the window, the window limits, and grows with
 * them. When it limits no longer, neither grows further.
 * Bytes that the reader has not consumed are in order, so they do not count.
 * What waits while the reader lags is forgotten, because the window that it
 * came from was too large.
 *
 * An RTT found by a question is that of the whole path. The estimator gets
 * it, and from then on the window follows the BDP, as it does where the
 * socket knows the RTT.
 */

#include <stdlib.h>

#include "minmax.h"
#include "standing-queue.h"
#include "wtune.h"

/*
 * While the rate still rises, it doubles per RTT (slow start), and the
 * measure is half an RTT old at best when the credit reaches the sender:
 * sent - acknowledged = 2 * measured, and an eighth for the lag of a slot.
 * 3 leaves the rest for what waits in the sender's socket.
 */
#define GAIN_RISING_QUARTERS	12

/* Growth in steps of an eighth at least: a slot of slow start brings 9 %. */
#define STEP(window)		((window) / 8)

/* A rise is measured over an RTT, and this at least: clocks jitter. */
#define RISE_MIN_US		1000

/*
 * Below this age 2 MiB are 105 MB/s: more than most links carry, and a stock
 * sender pays for each question. A socket's RTT still makes windows grow.
 */
#define QUESTION_AGE_MIN_US	20000

/*
 * A sender that the window limits does not grow its congestion window, so
 * each question costs a round or two of slow start. The first question is a
 * large one where no socket knows the RTT. A stock sender is slowed by 8 MiB
 * on a short path.
 */
#define QUESTION_TIMES		2
#define FIRST_QUESTION_TIMES	4

/* One decision raises a window no further than this. */
#define GROW_TIMES_MAX		4

/*
 * Microseconds for which an answer counts: a slow sender has long rounds, and
 * should not be asked all the time. If credits are known to lie unused it
 * counts longer, but not for ever, because the RTT may have risen.
 */
#define ANSWER_US(age)		max_u64(5000000, 16 * (age))
#define SURE_ANSWER_US		60000000

/* Two values that differ by jitter alone: a quarter. */
#define NOT_ABOVE(a, b)		((a) <= (b) + (b) / 4)
#define SAME(a, b)		(NOT_ABOVE(a, b) && NOT_ABOVE(b, a))

/* A rate that shows that a window brought something: an eighth more. */
#define FASTER(a, b)		((a) > (b) + (b) / 8)
#define AS_FAST(a, b)		(!FASTER(a, b) && !FASTER(b, a))

/* A rate that was measured, and may have been a burst: a half more. */
#define FAR_FASTER(a, b)	((a) > (b) + (b) / 2)

/* A credit this old lay unused; half a RTT allows for queues. */
#define LAY_UNUSED(age, rtt)	((age) > (rtt) + (rtt) / 2)

/* A path's RTT falls, but not to a quarter: this was none. */
#define NO_RTT(rtt, age)	((rtt) / 4 > (age))

/* The reader lags if it always leaves more than this of the window. */
#define LAG(window)		((window) / 8)

/* A backlog so large is the reader's, whatever it left before. */
#define LARGE_BACKLOG(window)	((window) / 2)

/* The window that keeps a slow reader busy: its BDP and a quarter. */
#define FOR_SLOW_READER(bdp)	((bdp) + (bdp) / 4)

/* A window above this is too large; it is withdrawn after so long. */
#define TOO_LARGE(need)		((need) + (need) / 2)
#define WITHDRAW_AFTER_US	2000000

/* No byte for this long: the path may have become another. */
#define IDLE_US			10000000

enum state {
	WATCHING,		/* compares the ages of rounds */
	ASKED,			/* raised the window, waits for the answer */
	ASKED_AGAIN		/* the same, after an answer of "yes" */
};

enum answer {
	NO_ANSWER,
	LIMITS,			/* the window limits the rate */
	LIMITED,		/* it did; now something else does */
	GREW,			/* it did: the rate grew, and a queue */
	NO_LIMIT,		/* it does not, and did not */
	SPOILT			/* a loss made the ages long */
};

struct wtune {
	struct wtune_conf conf;
	enum wtune_why why;
	uint64_t last_us;	/* time of the last decision */

	/* the round */
	uint64_t round_us;	/* it began */
	uint64_t last_round_us;	/* the one before began */
	uint64_t backlog_min;	/* of this round */
	int	 reader_lags;	/* in the round before */
	uint64_t round_age;	/* of a round at this window; 0: none yet */
	uint64_t least_age;	/* of all rounds; 0: none yet */

	/* slow start */
	uint64_t rise_us, rise_rate;	/* what the rate is compared with */
	int	 rising;

	/* the question */
	enum state state;
	enum answer last_answer;
	uint64_t asked_from;	/* the window before the first question */
	uint64_t asked_us;	/* the rounds that agreed began */
	uint64_t asked_rate;	/* before the last question */
	uint64_t asked_max;	/* the estimator's, before the first one */
	uint64_t answer_rate;	/* at the last "no"; 0: nothing is known */
	uint64_t answer_us;	/* when that was */

	/* what is withdrawn */
	uint64_t too_large_us;	/* too large since then; 0: it is not */
	uint64_t withdraw_to;	/* bytes; 0: nothing is withdrawn */

	struct standing_queue queue;
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
		[WTUNE_HOLD_QUEUE] = "hold: more would wait in a queue",
		[WTUNE_HOLD_MEMORY] = "hold: at its share of the memory",
		[WTUNE_WITHDRAW_PATH] = "withdraw: the path holds less",
		[WTUNE_WITHDRAW_PAUSE] = "withdraw: a pause spoilt the answer",
		[WTUNE_WITHDRAW_IDLE] = "withdraw: the channel idled",
	};

	return text[why];
}

/* Returns the rate by Little's law. */
static uint64_t
rate_of(uint64_t window, uint64_t age_us)
{
	return window * 1000000 / age_us;
}

/*
 * Returns the bytes that the path holds, with those out of order behind losses.
 */
static uint64_t
held_by_path(const struct bdp *b, uint64_t rate)
{
	return bdp_bytes(rate, bdp_rtt(b)) + bdp_out_of_order(b);
}

/*
 * The window that a path of this rate needs, bytes: a multiple of the BDP, or
 * of the BDP and what waits behind lost bytes, if that is more.
 */
static uint64_t
needed_window(const struct wtune *w, const struct bdp *b, uint64_t rate,
    uint32_t gain_quarters)
{
	return max_u64(bdp_bytes(rate, bdp_rtt(b)) * gain_quarters / 4,
	    held_by_path(b, rate) * w->conf.gain_quarters / 4);
}

/*
 * A path brings a window once in an RTT, so a rate above that refutes an RTT
 * that an age was taken for. The next round will show a shorter one.
 */
static int
rate_refutes_rtt(const struct bdp *b, uint64_t window)
{
	return bdp_rtt(b) == bdp_inband_rtt(b) &&
	    !NOT_ABOVE(bdp_bytes(bdp_rate(b), bdp_rtt(b)), window);
}

/* The window to grow to, were it not for ceiling and memory. */
static uint64_t
wanted_window(const struct wtune *w, const struct bdp *b,
    const struct wtune_now *now)
{
	uint32_t gain = w->rising ? GAIN_RISING_QUARTERS :
	    w->conf.gain_quarters;
	uint64_t rate = bdp_rate(b);

	if (rate_refutes_rtt(b, now->window))
		return 0;
	if (now->backlog > LAG(now->window))	/* the reader may limit */
		return bdp_bytes(rate, bdp_rtt(b)) * gain / 4;
	return needed_window(w, b, rate, gain);
}

/* The rate rises if it is above that of an RTT ago, and a new maximum. */
static void
note_rise(struct wtune *w, const struct bdp *b, uint64_t now_us)
{
	uint64_t rate = bdp_rate(b);

	if (now_us - w->rise_us < max_u64(bdp_rtt(b), RISE_MIN_US))
		return;
	w->rising = !NOT_ABOVE(rate, w->rise_rate) && rate >= bdp_rate_max(b);
	w->rise_rate = rate;
	w->rise_us = now_us;
}

/*
 * Returns by how much this window may grow with regard to memory: see wtune.h.
 */
static uint64_t
share_of_memory(const struct wtune *w, const struct wtune_now *now)
{
	uint64_t floor = w->conf.floor;
	uint64_t grown = now->window - min_u64(now->window, floor);
	uint64_t missing = floor - min_u64(now->window, floor);

	return max_u64(missing,
	    now->free > grown ? (now->free - grown) / 2 : 0);
}

static int
can_grow_window(struct wtune *w, const struct wtune_now *now)
{
	if (now->window >= w->conf.ceiling)
		w->why = WTUNE_HOLD_CEILING;
	else if (share_of_memory(w, now) == 0)
		w->why = WTUNE_HOLD_MEMORY;
	else
		return 1;
	return 0;
}

/*
 * Grow towards "want", as far as one step, ceiling and memory allow, and ask
 * that question, if it is one.
 */
static int64_t
grow_window(struct wtune *w, struct bdp *b, const struct wtune_now *now,
    uint64_t want, enum state question)
{
	uint64_t to = min_u64(want, GROW_TIMES_MAX * now->window);

	to = min_u64(to, w->conf.ceiling);
	to = min_u64(to, now->window + share_of_memory(w, now));
	w->withdraw_to = 0;
	w->too_large_us = 0;
	w->state = question;
	if (question == WATCHING) {
		w->why = WTUNE_GROW_BDP;
		w->round_age = 0;
	} else
		w->why = WTUNE_GROW_EDGE;
	bdp_restart_ages(b);
	w->round_us = now->now_us;
	return (int64_t)(to - now->window);
}

/* Interprets a round of that age after a question. */
static enum answer
judge_answer(const struct wtune *w, const struct bdp *b, uint64_t age,
    uint64_t rate)
{
	if (w->last_answer != SPOILT && bdp_stall_us(b) > w->asked_us)
		return SPOILT;
	if (!NOT_ABOVE(w->round_age, age))	/* the sender became faster */
		return NO_ANSWER;
	if (NOT_ABOVE(age, w->round_age))
		return LIMITS;
	if (FASTER(rate, w->asked_rate))
		return LIMITED;
	return FAR_FASTER(bdp_rate_max(b), max_u64(w->asked_rate,
	    w->asked_max)) ? GREW : NO_LIMIT;
}

/* At this rate the window does not limit; 0: nothing is known. */
static void
note_answer(struct wtune *w, uint64_t rate)
{
	w->answer_rate = rate;
	w->answer_us = w->last_us;
}

/* A round after a question is over. Returns the next question, if any. */
static enum state
take_answer(struct wtune *w, struct bdp *b, uint64_t age, uint64_t rate)
{
	int gained = w->state == ASKED_AGAIN;

	w->state = WATCHING;
	w->last_answer = judge_answer(w, b, age, rate);
	switch (w->last_answer) {
	case SPOILT:
		w->why = WTUNE_WITHDRAW_PAUSE;
		w->withdraw_to = w->asked_from;
		return WATCHING;
	case LIMITS:
		bdp_set_inband_rtt(b, min_u64(age, w->round_age));
		w->asked_rate = rate;
		return ASKED_AGAIN;
	case LIMITED:
		bdp_set_inband_rtt(b, w->round_age);
		gained = 1;
		break;
	case GREW:
		bdp_set_inband_rtt(b, w->least_age);
		gained = 1;
		break;
	case NO_ANSWER:
		gained = 0;
		rate = 0;
		break;
	default:
		break;
	}
	w->why = WTUNE_HOLD_PATH;
	note_answer(w, rate);
	w->round_age = 0;
	if (!gained)
		w->withdraw_to = w->asked_from;
	return WATCHING;
}

/* A client behind a pipe has the whole path, and no socket to ask about it. */
static int
socket_tells_rtt(const struct wtune *w, const struct bdp *b)
{
	return w->conf.whole_path && bdp_rtt_now(b) != 0;
}

/*
 * Returns 1 if the RTT shows that the window does not limit, so that there is
 * nothing to ask. Where the transport's RTT is that of the whole path, no
 * credit that lay unused limits. It is that of the whole path once a credit was
 * as young as that RTT, because no age is below the path's.
 */
static int
rtt_shows_no_limit(struct wtune *w, const struct bdp *b, uint64_t age,
    uint64_t rate, uint64_t window)
{
	uint64_t rtt = bdp_rtt(b);

	if (!LAY_UNUSED(age, rtt) && bdp_inband_rtt(b) == 0)
		w->conf.whole_path = 1;
	if (socket_tells_rtt(w, b))
		return LAY_UNUSED(age, max_u64(rtt, bdp_rtt_now(b)));
	return bdp_inband_rtt(b) != 0 && rate > w->answer_rate &&
	    window >= 2 * bdp_bytes(rate, rtt);
}

/* Returns 1 if a round like this one was already answered. */
static int
is_answered(const struct wtune *w, const struct bdp *b, uint64_t age,
    uint64_t rate)
{
	int sure = bdp_rtt(b) != 0 || LAY_UNUSED(age, w->least_age);

	return w->answer_rate != 0 && AS_FAST(rate, w->answer_rate) &&
	    w->last_us - w->answer_us <
	    (sure ? SURE_ANSWER_US : ANSWER_US(age));
}

/* A round without a question is over. Returns the question, if any. */
static enum state
compare_rounds(struct wtune *w, const struct bdp *b, uint64_t age,
    uint64_t rate, uint64_t window)
{
	uint64_t age_before = w->round_age;
	int no_limit = rtt_shows_no_limit(w, b, age, rate, window);

	w->round_age = age;
	if (no_limit)	/* as good as an answer, unless the RTT may change */
		note_answer(w, socket_tells_rtt(w, b) ? 0 : rate);
	if (no_limit || age_before == 0 || !SAME(age, age_before) ||
	    is_answered(w, b, age, rate))
		return WATCHING;
	w->asked_from = window;
	w->asked_us = w->last_round_us;
	w->asked_rate = rate;
	w->asked_max = bdp_rate_max(b);
	return ASKED;
}

/* Interprets the age of this round. Returns the question to ask, if any. */
static enum state
judge_age(struct wtune *w, struct bdp *b, uint64_t window)
{
	uint64_t age = bdp_age(b), rate;

	if (age < QUESTION_AGE_MIN_US && w->state == WATCHING)
		return WATCHING;
	if (age < bdp_inband_rtt(b))	/* an age is never below the RTT */
		bdp_set_inband_rtt(b, NO_RTT(bdp_inband_rtt(b), age) ?
		    0 : age);
	if (w->least_age == 0 || age < w->least_age)
		w->least_age = age;
	rate = rate_of(window, age);
	return w->state == WATCHING ? compare_rounds(w, b, age, rate, window) :
	    take_answer(w, b, age, rate);
}

/* Ends the round, if it is over. Returns the question to ask, if any. */
static enum state
note_round(struct wtune *w, struct bdp *b, const struct wtune_now *now)
{
	enum state question = WATCHING;

	w->backlog_min = min_u64(w->backlog_min, now->backlog);
	if (w->withdraw_to != 0) {	/* these ages are of many windows */
		bdp_restart_ages(b);
		w->round_age = 0;
		return WATCHING;
	}
	if (bdp_age(b) == 0 || now->now_us - w->round_us < bdp_age(b))
		return WATCHING;
	w->reader_lags = w->backlog_min > LAG(now->window);
	w->backlog_min = UINT64_MAX;
	if (!w->reader_lags)
		question = judge_age(w, b, now->window);
	bdp_next_round(b);
	w->last_round_us = w->round_us;
	w->round_us = now->now_us;
	return question;
}

/* The window that asks, bytes. */
static uint64_t
question_window(const struct wtune *w, const struct bdp *b, uint64_t window)
{
	if (window == w->conf.floor && bdp_rtt_now(b) == 0 &&
	    w->answer_rate == 0)
		return FIRST_QUESTION_TIMES * window;
	return QUESTION_TIMES * window;
}

/*
 * Withdraw what the path has not needed for a while. The rate is the
 * maximum of seconds, so a pause or a lost packet is no reason. Without any
 * RTT no window is known to be too large.
 */
static int64_t
withdraw_window(struct wtune *w, const struct bdp *b,
    const struct wtune_now *now, int idled)
{
	uint64_t need;

	need = needed_window(w, b, bdp_rate_max(b), w->conf.gain_quarters);
	need = max_u64(need, w->conf.floor);
	if (now->window < TOO_LARGE(need) || bdp_rtt(b) == 0)
		w->too_large_us = 0;
	else if (w->too_large_us == 0)
		w->too_large_us = now->now_us;
	if (idled || (w->too_large_us != 0 &&
	    now->now_us - w->too_large_us >= WITHDRAW_AFTER_US)) {
		if (w->withdraw_to == 0)
			w->why = idled ? WTUNE_WITHDRAW_IDLE :
			    WTUNE_WITHDRAW_PATH;
		w->withdraw_to = need;
	}
	if (w->withdraw_to == 0 || now->window <= w->withdraw_to) {
		w->withdraw_to = 0;
		return 0;
	}
	return -(int64_t)(now->window - w->withdraw_to);
}

/*
 * The reader is what limits: whatever the window has above the BDP ends up in
 * our memory.
 */
static int64_t
hold_reader(struct wtune *w, struct bdp *b, const struct wtune_now *now,
    int wanted)
{
	uint64_t need = FOR_SLOW_READER(bdp_bytes(bdp_rate_max(b),
	    bdp_rtt(b)));

	need = max_u64(need, w->conf.floor);
	w->withdraw_to = 0;	/* this takes its place; rounds go on */
	if (wanted || w->reader_lags)
		w->why = WTUNE_HOLD_READER;
	if (w->reader_lags)
		bdp_forget_out_of_order(b);
	if (!w->reader_lags || now->window <= need)
		return 0;
	return -(int64_t)(now->window - need);
}

/* The channel idled, so what is known of the path may be wrong by now. */
static void
reset_path(struct wtune *w, struct bdp *b, const struct wtune_now *now)
{
	bdp_restart_rate(b, now->consumed, now->now_us);
	bdp_restart_ages(b);
	bdp_set_inband_rtt(b, 0);
	w->queue = (struct standing_queue){ .state = SQ_LOOKING };
	w->state = WATCHING;
	w->round_age = w->least_age = w->answer_rate = 0;
}

/*
 * Returns the smallest RTT of the whole path; 0: not known, because a jump host
 * hides a part of it from the socket. A trial beside a full queue sets an
 * in-band RTT as well, but the present RTT of the socket is as long then.
 */
static uint64_t
rtt_without_queue(const struct wtune *w, const struct bdp *b)
{
	if (!w->conf.whole_path && bdp_inband_rtt(b) > bdp_smoothed_rtt(b))
		return 0;
	return bdp_socket_rtt(b);
}

/*
 * Returns the largest window that the queue of the path allows; 0: any. Rounds
 * and questions rest while there is one, because the window then limits.
 */
static uint64_t
limit_by_queue(struct wtune *w, struct bdp *b, const struct wtune_now *now)
{
	struct standing_queue_now q = { .now_us = now->now_us,
	    .window = now->window, .consumed = now->consumed,
	    .backlog = now->backlog, .out_of_order = bdp_out_of_order(b),
	    .min_rtt_us = rtt_without_queue(w, b),
	    .rtt_us = bdp_smoothed_rtt(b) };
	uint64_t limit = w->conf.avoid_queue ?
	    standing_queue_limit(&w->queue, &q) : 0;

	if (limit == 0) {
		if (w->why == WTUNE_HOLD_QUEUE)
			w->why = WTUNE_QUIET;
		return 0;
	}
	w->state = WATCHING;
	w->withdraw_to = 0;
	w->too_large_us = 0;
	w->round_age = 0;
	w->round_us = now->now_us;
	bdp_restart_ages(b);
	w->why = WTUNE_HOLD_QUEUE;
	return limit;
}

/* Moves the window to that limit, as far as memory allows. */
static int64_t
follow_limit(struct wtune *w, const struct wtune_now *now, uint64_t limit)
{
	limit = min_u64(limit, max_u64(w->conf.ceiling, w->conf.floor));
	if (now->window >= limit)
		return -(int64_t)(now->window - limit);
	return (int64_t)min_u64(limit - now->window, share_of_memory(w, now));
}

int64_t
wtune_decide(struct wtune *w, struct bdp *b, const struct wtune_now *now)
{
	int idled = w->last_us != 0 && now->now_us - w->last_us >= IDLE_US;
	enum state question;
	uint64_t want, limit;

	w->last_us = now->now_us;
	if (idled)
		reset_path(w, b, now);
	note_rise(w, b, now->now_us);
	if ((limit = limit_by_queue(w, b, now)) != 0)
		return follow_limit(w, now, limit);
	question = note_round(w, b, now);
	want = wanted_window(w, b, now);
	if (w->reader_lags || now->backlog > LARGE_BACKLOG(now->window))
		return hold_reader(w, b, now,
		    question != WATCHING || want > now->window);
	if (question != WATCHING)
		want = max_u64(want, question_window(w, b, now->window));
	want = max_u64(want, standing_queue_restore(&w->queue));
	want = max_u64(want, w->conf.floor);
	if (now->window < w->conf.floor ||
	    want > now->window + STEP(now->window)) {
		if (can_grow_window(w, now))
			return grow_window(w, b, now, want, question);
		w->state = WATCHING;
	}
	return withdraw_window(w, b, now, idled);
}
