/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * wtune-replay: the estimator and the tuner on a simulated path.
 *
 * Commands come one per line; "run" answers with a line of key=value.
 *
 *   tune FLOOR CEILING QUARTERS [WHOLE [AVOID]]   a new tuner (bytes, bytes,
 *                        gain; 1 if the socket is known to cover the path; 1
 *                        for AvoidBufferbloat yes)
 *   memory BYTES         the largest sum of all windows of the process
 *   others BYTES         the sum of the other channels' windows
 *   start POS            stream positions begin here (32-bit edges)
 *   path MS MBPS         round trip and megabytes per second, at any time
 *   tcp MS|off|path [MS] the minimal RTT that the socket reports, or "path" for
 *                        the path's; and its current RTT if that differs
 *   tcp queue MS         the minimal RTT that the socket reports; the present
 *                        RTT is that of the path and what waits before it
 *   rival BYTES|cubic    another stream keeps as much before the link, or as
 *                        much as cubic does; both share the link by that
 *   streams N MS         N streams side by side, each with a receiver and a
 *                        sender like the first, which has not moved yet; each
 *                        begins MS after the one before; "consumed" is the sum
 *   queue BYTES|long     what the link lets wait before it; more is lost
 *   sends cubic|bbr|2bdp congestion control of the sender (2bdp: see below)
 *   reader MBPS|stop|fast
 *   sender MBPS|fast     rate of the application; 0: idle
 *   burst MS             data is held and arrives together (ACK compression)
 *   stall MS             once: no data is in order for this time (a loss)
 *   holes MS             from now on all data is in order only after this time,
 *                        as on a path that always repairs some loss
 *   run SECONDS          simulate and report
 *   sample US CONSUMED BACKLOG RTT_US [WAITING]   a recorded moment, as logged
 *                        with -vvv; WAITING bytes are behind a loss
 *   report               report without running
 *   limited US TIMES 0|1 TIMES moments of US each, in which the sender is
 *                        limited by the window (1) or not; prints when that is
 * recognised
 *
 * The simulated sender slow-starts from ten segments while the congestion
 * window limits it, and keeps at most two BDP in flight. The link serialises.
 *
 * As cubic the sender grows until the queue overflows. Lost bytes are sent
 * again at once, because the model is of windows and queues, not of repair. As
 * BBR it leaves its startup once the rate did not grow in three round trips in
 * which no window limited it, and then keeps the path full and hardly more.
 * Both send packets of 32 KiB, which are consumed when all of one has arrived.
 *
 * Credit and data take half a round trip each. The channel follows stock's
 * rules for window adjusts.
 */

#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <math.h>

#include "bdp.h"
#include "window-limited.h"
#include "wtune.h"

#define TICK_US		100
#define PIPE		(1 << 16)	/* ticks a byte may travel: 6.5 s */
#define MAXPACKET	32768

#define MSS		1448
#define STREAMS_MAX	4

/* Bytes that arrive later, by tick. */
struct pipe_line {
	uint64_t at[PIPE];
};

/* A stream with cubic: its window in segments, and what RFC 9438 calls so */
struct cubic {
	double	 cwnd, w_max, ssthresh;
	uint64_t epoch_us, lost_us;	/* growth since; the last decrease */
};

/* BBR: a round is an RTT. */
struct bbr {
	uint64_t round_us, round_acked, full_rate, rate;
	unsigned int full_rounds;
	int	 window_limits;		/* in this round */
};

static struct stream {
	struct wtune_conf conf;
	struct wtune *tuner;
	struct bdp *bdp;

	uint64_t now_us, memory, others;
	uint64_t begun_us;		/* nothing moves before */
	uint64_t rtt_us, rate;		/* the path */
	uint64_t tcp_us, tcp_now_us;	/* RTTs that the socket reports */
	int	 tcp_true, tcp_queue;
	uint64_t rival;			/* bytes before the link */
	int	 rival_is_cubic;
	struct cubic rival_cubic;
	uint64_t rival_flies;		/* its unacknowledged bytes */
	struct pipe_line rival_acks;
	enum { TWO_BDP, CUBIC, BBR } sends;
	struct cubic cubic;
	struct bbr bbr;
	uint64_t queue;			/* bytes that may wait there */
	double	 rtt_sum;		/* of the ticks of this run, ms */
	uint64_t ticks;
	uint64_t reader, sender;	/* bytes per second; UINT64_MAX: fast */
	uint64_t burst_us, stall_until_us, holes_us;

	uint64_t made, sent, acked, cwnd, credit;	/* the sender's view */
	uint64_t queued;		/* before the link */
	struct pipe_line data, order, acks, credits;
	uint64_t waiting;		/* behind holes */
	uint64_t held;			/* arrived, not yet in order */
	uint64_t arrived, consumed;	/* the receiver's stream */
	uint64_t window, local_window;
	uint64_t unannounced;		/* consumed, in no adjust yet */

	uint64_t window_max, backlog_max, run_consumed;	/* of this run */
} streams[STREAMS_MAX], *s = streams;

static unsigned int nstreams = 1;

static uint64_t
min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Bytes of one tick at a rate, without losing the fractions. */
static uint64_t
per_tick(uint64_t rate)
{
	uint64_t t = s->now_us / TICK_US;

	if (rate == UINT64_MAX)
		return UINT64_MAX / 2;
	return rate * (t + 1) / (1000000 / TICK_US) -
	    rate * t / (1000000 / TICK_US);
}

static void
put(struct pipe_line *p, uint64_t delay_us, uint64_t bytes)
{
	if (delay_us < TICK_US)
		delay_us = TICK_US;
	p->at[(s->now_us + delay_us) / TICK_US % PIPE] += bytes;
}

static uint64_t
get(struct pipe_line *p)
{
	uint64_t *at = &p->at[s->now_us / TICK_US % PIPE], bytes = *at;

	*at = 0;
	return bytes;
}

/* Returns what the link takes of the stream in this tick. */
static uint64_t
share_of_link(void)
{
	uint64_t n = per_tick(s->rate);

	if (s->rival != 0)
		n = n * s->queued / (s->queued + s->rival);
	return min_u64(s->queued, n);
}

/* A loss: the window shrinks, but once in an RTT. */
static void
cubic_lose(struct cubic *c)
{
	if (s->now_us - c->lost_us < s->rtt_us + s->queue * 1000000 / s->rate)
		return;
	c->lost_us = s->now_us;
	c->w_max = c->cwnd;
	c->ssthresh = c->cwnd = fmax(0.7 * c->cwnd, 2);
	c->epoch_us = s->now_us;
}

static void
cubic_grow(struct cubic *c, uint64_t acked)
{
	double n = (double)acked / MSS, t, target;

	if (c->cwnd < c->ssthresh) {
		c->cwnd += n;
		return;
	}
	t = (double)(s->now_us - c->epoch_us + s->rtt_us) / 1e6 -
	    cbrt(c->w_max * 0.3 / 0.4);
	target = 0.4 * t * t * t + c->w_max;
	c->cwnd += n * fmin(fmax(target / c->cwnd - 1, 0.01), 0.5);
}

/* A round of BBR is over: is the pipe full? */
static void
bbr_note_acks(struct bbr *b, uint64_t acked)
{
	uint64_t rate;

	b->round_acked += acked;
	if (s->now_us - b->round_us < s->rtt_us)
		return;
	rate = b->round_acked * 1000000 / (s->now_us - b->round_us);
	if (rate > b->rate)
		b->rate = rate;
	if (!b->window_limits && rate != 0 && b->full_rounds < 3) {
		if (rate > b->full_rate + b->full_rate / 4) {
			b->full_rate = rate;
			b->full_rounds = 0;
		} else
			b->full_rounds++;
	}
	b->round_us = s->now_us;
	b->round_acked = 0;
	b->window_limits = 0;
}

/* Updates the congestion window of the sender. */
static void
take_acks(uint64_t n)
{
	uint64_t bdp = bdp_bytes(s->rate, s->rtt_us);
	uint64_t flies = s->sent - s->acked;

	switch (s->sends) {
	case TWO_BDP:
		if (2 * flies >= s->cwnd)	/* it limits */
			s->cwnd = min_u64(s->cwnd + n, 2 * bdp + 10 * MSS);
		break;
	case CUBIC:
		if (flies + 10 * MSS >= s->cwnd || (2 * flies >= s->cwnd &&
		    s->cubic.cwnd < s->cubic.ssthresh))
			cubic_grow(&s->cubic, n);
		s->cwnd = (uint64_t)(s->cubic.cwnd * MSS);
		break;
	case BBR:
		bbr_note_acks(&s->bbr, n);
		bdp = bdp_bytes(s->bbr.rate, s->rtt_us);
		if (s->bbr.full_rounds >= 3)
			s->cwnd = bdp + bdp / 8;
		else if (s->cwnd < 289 * bdp / 100)	/* startup */
			s->cwnd += n;
		break;
	}
}

/* The other stream, which never waits for its application. */
static void
send_rival(void)
{
	struct cubic *c = &s->rival_cubic;
	uint64_t n = get(&s->rival_acks), cwnd;

	s->rival_flies -= n;
	cubic_grow(c, n);
	cwnd = (uint64_t)(c->cwnd * MSS);
	if (cwnd > s->rival_flies) {
		s->rival += cwnd - s->rival_flies;
		s->rival_flies = cwnd;
	}
}

/* Loses the bytes that do not fit into the queue; they are sent again later. */
static void
drop_some(void)
{
	uint64_t over, mine;

	if (s->queued + s->rival <= s->queue)
		return;
	over = s->queued + s->rival - s->queue;
	mine = s->rival_is_cubic ? over * s->queued / (s->queued + s->rival) :
	    min_u64(over, s->queued);
	s->queued -= mine;
	s->sent -= mine;
	if (mine != 0)
		cubic_lose(&s->cubic);
	if (s->rival_is_cubic && over > mine) {
		s->rival -= over - mine;
		s->rival_flies -= over - mine;
		cubic_lose(&s->rival_cubic);
	}
}

/* Returns the RTT that others on the path see, in milliseconds. */
static double
ms_here(void)
{
	return ((double)s->rtt_us +
	    (double)(s->queued + s->rival) * 1e6 / (double)s->rate) / 1e3;
}

/* Returns the RTT that the socket reports at present. */
static uint64_t
current_rtt(uint64_t min_us)
{
	if (s->tcp_queue)
		return s->rtt_us + (s->queued + s->rival) * 1000000 / s->rate;
	return s->tcp_now_us ? s->tcp_now_us : min_us;
}

static void
send_some(void)
{
	uint64_t n = get(&s->acks), link;

	take_acks(n);
	s->acked += n;
	if (s->rival_is_cubic)
		send_rival();
	s->credit += get(&s->credits);
	if (s->sender == UINT64_MAX)
		s->made = UINT64_MAX / 2;
	else
		s->made += per_tick(s->sender);
	n = min_u64(s->made, s->credit) - s->sent;
	if (s->sent + n > s->acked + s->cwnd)
		n = s->cwnd - min_u64(s->cwnd, s->sent - s->acked);
	else
		s->bbr.window_limits = 1;
	s->sent += n;
	s->queued += n;
	drop_some();
	s->rtt_sum += ms_here();
	s->ticks++;
	link = per_tick(s->rate);
	n = share_of_link();
	s->queued -= n;
	put(&s->data, s->rtt_us / 2, n);
	if (s->rival_is_cubic) {
		n = min_u64(s->rival, link - n);
		s->rival -= n;
		put(&s->rival_acks, s->rtt_us, n);
	}
}

static void
receive_some(void)
{
	uint64_t n = get(&s->data);

	if (n != 0)
		put(&s->acks, s->rtt_us / 2, n);
	if (s->holes_us != 0) {
		put(&s->order, s->holes_us, n);
		s->waiting += n;
		n = 0;
	}
	n += get(&s->order);
	s->waiting -= min_u64(s->waiting, n);
	s->held += n;
	if (s->now_us < s->stall_until_us ||
	    (s->burst_us != 0 && s->now_us % s->burst_us != 0))
		return;
	n = s->held;
	if (s->sends != TWO_BDP)		/* whole packets */
		n -= n % MAXPACKET;
	s->arrived += n;
	s->local_window -= n;
	s->held -= n;
}

static void
read_some(void)
{
	uint64_t n = min_u64(s->arrived - s->consumed, per_tick(s->reader));

	s->consumed += n;
	s->run_consumed += n;
	s->unannounced += n;
	if (s->arrived - s->consumed > s->backlog_max)
		s->backlog_max = s->arrived - s->consumed;
}

/* Applies a decision to the channel as wtune-hook.c does. */
static int64_t
decide(void)
{
	uint64_t held = s->window + s->others;
	struct wtune_now now = { s->now_us, s->window, s->consumed,
	    s->arrived - s->consumed, s->memory > held ? s->memory - held : 0 };
	int64_t delta;

	uint64_t rtt_us = s->tcp_true ? s->rtt_us : s->tcp_us;
	bdp_set_rtt(s->bdp, rtt_us, current_rtt(rtt_us));
	bdp_note_out_of_order(s->bdp, min_u64(s->waiting, s->window));
	bdp_consumed(s->bdp, s->consumed, s->now_us);
	delta = wtune_decide(s->tuner, s->bdp, &now);
	if (delta < 0)
		delta = -(int64_t)min_u64(-delta, s->unannounced);
	s->window += delta;
	s->unannounced += delta;
	if (s->window > s->window_max)
		s->window_max = s->window;
	return delta;
}

static void
hook(void)
{
	uint64_t step = wtune_why(s->tuner) != WTUNE_HOLD_QUEUE ?
	    3 * MAXPACKET : min_u64(3 * MAXPACKET, s->window / 16);
	int64_t delta = 0;

	if (s->unannounced == 0 && s->arrived == s->consumed)
		return;
	bdp_arrived(s->bdp, s->arrived, s->now_us);
	if (bdp_sample_due(s->bdp, s->now_us))
		delta = decide();
	if (s->unannounced == 0 || (s->window - s->local_window <= step &&
	    s->local_window >= s->window / 2))
		return;
	if (delta <= 0)
		bdp_granted(s->bdp, s->arrived + s->local_window, s->now_us);
	put(&s->credits, s->rtt_us / 2, s->unannounced);
	s->local_window += s->unannounced;
	s->unannounced = 0;
}

static void
report(void)
{
	printf("window=%" PRIu64 " max=%" PRIu64 " backlog=%" PRIu64
	    " consumed=%" PRIu64 " rate=%" PRIu64 " age_us=%" PRIu64
	    " ping_ms=%.0f why=%s\n",
	    s->window, s->window_max, s->backlog_max, s->run_consumed,
	    bdp_rate(s->bdp), bdp_last_age(s->bdp),
	    s->ticks == 0 ? 0 : s->rtt_sum / (double)s->ticks,
	    wtune_why_text(wtune_why(s->tuner)));
}

/* One tick of a stream. The queue of the others is a rival to it. */
static void
tick(struct stream *stream, uint64_t queued)
{
	s = stream;
	if (nstreams > 1)
		s->rival = queued - s->queued;
	send_some();
	receive_some();
	read_some();
	hook();
}

static void
run(double seconds)
{
	uint64_t until = s->now_us + (uint64_t)(seconds * 1e6), queued;
	unsigned int i;

	for (i = 0; i < nstreams; i++) {
		streams[i].window_max = streams[i].window;
		streams[i].backlog_max = streams[i].run_consumed = 0;
		streams[i].rtt_sum = 0;
		streams[i].ticks = 0;
	}
	while (streams->now_us < until) {
		for (queued = 0, i = 0; i < nstreams; i++)
			queued += streams[i].queued;
		for (i = 0; i < nstreams; i++) {
			if (streams[i].now_us >= streams[i].begun_us)
				tick(&streams[i], queued);
			streams[i].now_us += TICK_US;
		}
	}
	s = streams;
	for (i = 1; i < nstreams; i++)
		s->run_consumed += streams[i].run_consumed;
	report();
}

static void
begin_streams(const char *arg)
{
	double ms;
	unsigned int i;

	if (sscanf(arg, "%u %lf", &nstreams, &ms) != 2 || nstreams < 1 ||
	    nstreams > STREAMS_MAX)
		errx(2, "streams %s: at most %d, and a time", arg, STREAMS_MAX);
	for (i = 1; i < nstreams; i++) {
		streams[i] = streams[0];
		streams[i].begun_us = s->now_us + (uint64_t)(i * ms * 1e3);
		if ((streams[i].bdp = bdp_new()) == NULL ||
		    (streams[i].tuner = wtune_new(&s->conf)) == NULL)
			err(1, NULL);
	}
}

/* A moment of a log: time, position and backlog are not simulated. */
static void
sample(const char *arg)
{
	s->waiting = 0;
	if (sscanf(arg, "%" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %"
	    SCNu64, &s->now_us, &s->consumed, &s->arrived, &s->tcp_us,
	    &s->waiting) < 4)
		errx(2, "sample %s: four numbers are needed", arg);
	s->arrived += s->consumed;
	s->tcp_true = 0;
	s->unannounced = s->window;	/* a window may always shrink */
	bdp_arrived(s->bdp, s->arrived, s->now_us);
	if (decide() <= 0)
		bdp_granted(s->bdp, s->consumed + s->window, s->now_us);
}

/* Moments of a sender, for window-limited.h. */
static void
update_limited(const char *arg)
{
	static struct window_limited sender;
	static uint64_t now_us = 1, began_us = 1;
	uint64_t us, n;
	int is_limited;

	if (sscanf(arg, "%" SCNu64 " %" SCNu64 " %d", &us, &n,
	    &is_limited) != 3)
		errx(2, "limited %s: three numbers are needed", arg);
	for (; n > 0; n--) {
		now_us += us;
		if (window_limited_update(&sender, is_limited, now_us))
			printf("limited after=%" PRIu64 "\n",
			    now_us - began_us);
	}
}

static void
tune(const char *arg)
{
	s->conf.whole_path = s->conf.avoid_queue = 0;
	if (sscanf(arg, "%" SCNu64 " %" SCNu64 " %" SCNu32 " %d %d",
	    &s->conf.floor, &s->conf.ceiling, &s->conf.gain_quarters,
	    &s->conf.whole_path, &s->conf.avoid_queue) < 3)
		errx(2, "tune %s: three numbers are needed", arg);
	bdp_free(s->bdp);
	wtune_free(s->tuner);
	if ((s->bdp = bdp_new()) == NULL ||
	    (s->tuner = wtune_new(&s->conf)) == NULL)
		err(1, NULL);
	s->window = s->window_max = s->local_window = s->conf.floor;
	s->credit = s->sent + s->conf.floor;
	s->now_us = 1000000;
	s->cwnd = 10 * MSS;
	s->cubic = s->rival_cubic = (struct cubic){ 10, 10, 1e9, 0, 0 };
}

static uint64_t
per_second(const char *arg, const char *word)
{
	if (strcmp(arg, word) == 0)
		return UINT64_MAX;
	return (uint64_t)(atof(arg) * 1e6);
}

static void
command(char *line)
{
	char *arg = line + strcspn(line, " ");
	double ms, mbps;

	if (*arg != '\0')
		*arg++ = '\0';
	if (strcmp(line, "tune") == 0)
		tune(arg);
	else if (strcmp(line, "memory") == 0)
		s->memory = strtoull(arg, NULL, 10);
	else if (strcmp(line, "others") == 0)
		s->others = strtoull(arg, NULL, 10);
	else if (strcmp(line, "start") == 0)
		s->consumed = s->arrived = strtoull(arg, NULL, 10);
	else if (strcmp(line, "path") == 0 &&
	    sscanf(arg, "%lf %lf", &ms, &mbps) == 2) {
		s->rtt_us = (uint64_t)(ms * 1e3);
		s->rate = (uint64_t)(mbps * 1e6);
	} else if (strcmp(line, "tcp") == 0) {
		s->tcp_true = strncmp(arg, "path", 4) == 0;
		s->tcp_queue = strncmp(arg, "queue ", 6) == 0;
		arg += s->tcp_queue ? 6 : 0;
		s->tcp_us = (uint64_t)(atof(arg) * 1e3);
		arg += strcspn(arg, " ");
		s->tcp_now_us = (uint64_t)(atof(arg) * 1e3);
	} else if (strcmp(line, "reader") == 0)
		s->reader = strcmp(arg, "stop") == 0 ? 0 :
		    per_second(arg, "fast");
	else if (strcmp(line, "sender") == 0) {
		if (s->sender == UINT64_MAX)
			s->made = s->sent;
		s->sender = per_second(arg, "fast");
	} else if (strcmp(line, "burst") == 0)
		s->burst_us = (uint64_t)(atof(arg) * 1e3);
	else if (strcmp(line, "stall") == 0)
		s->stall_until_us = s->now_us + (uint64_t)(atof(arg) * 1e3);
	else if (strcmp(line, "holes") == 0)
		s->holes_us = (uint64_t)(atof(arg) * 1e3);
	else if (strcmp(line, "rival") == 0) {
		s->rival_is_cubic = strcmp(arg, "cubic") == 0;
		s->rival = strtoull(arg, NULL, 10);
	} else if (strcmp(line, "streams") == 0)
		begin_streams(arg);
	else if (strcmp(line, "queue") == 0)
		s->queue = strtoull(arg, NULL, 10);
	else if (strcmp(line, "sends") == 0)
		s->sends = strcmp(arg, "cubic") == 0 ? CUBIC :
		    strcmp(arg, "bbr") == 0 ? BBR : TWO_BDP;
	else if (strcmp(line, "run") == 0)
		run(atof(arg));
	else if (strcmp(line, "sample") == 0)
		sample(arg);
	else if (strcmp(line, "report") == 0)
		report();
	else if (strcmp(line, "limited") == 0)
		update_limited(arg);
	else if (*line != '\0' && *line != '#')
		errx(2, "%s: no such command", line);
}

int
main(void)
{
	char line[256], first[] = "tune 2097152 67108864 8";

	s->memory = UINT64_MAX / 4;
	s->tcp_true = 1;
	s->queue = UINT64_MAX / 4;
	s->reader = s->sender = UINT64_MAX;
	s->rtt_us = 100000;
	s->rate = 125000000;
	command(first);
	while (fgets(line, sizeof(line), stdin) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		command(line);
	}
	while (nstreams-- > 0) {
		bdp_free(streams[nstreams].bdp);
		wtune_free(streams[nstreams].tuner);
	}
	return 0;
}
