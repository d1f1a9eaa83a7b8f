/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * wtune-replay: the estimator and the tuner on a simulated path.
 *
 * Commands come one per line; "run" answers with a line of key=value.
 *
 *   tune FLOOR CEILING QUARTERS [WHOLE]   a new tuner (bytes, bytes, gain;
 *                        1 if the socket is known to cover the path)
 *   memory BYTES         the largest sum of all windows of the process
 *   others BYTES         the sum of the other channels' windows
 *   start POS            stream positions begin here (32-bit edges)
 *   path MS MBPS         round trip and megabytes per second, at any time
 *   tcp MS|off|path [MS] the minimal RTT that the socket reports, or "path" for
 *                        the path's; and its current RTT if that differs
 *   tcp queue MS         the minimal RTT that the socket reports; the present
 *                        RTT is that of the path and what waits before it
 *   rival BYTES          another stream keeps as much before the link, and both
 *                        share it by what they have there
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
 * Credit and data take half a round trip each. The channel follows stock's
 * rules for window adjusts.
 */

#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bdp.h"
#include "window-limited.h"
#include "wtune.h"

#define TICK_US		100
#define PIPE		(1 << 16)	/* ticks a byte may travel: 6.5 s */
#define MAXPACKET	32768

/* Bytes that arrive later, by tick. */
struct pipe_line {
	uint64_t at[PIPE];
};

static struct {
	struct wtune_conf conf;
	struct wtune *tuner;
	struct bdp *bdp;

	uint64_t now_us, start, memory, others;
	uint64_t rtt_us, rate;		/* the path */
	uint64_t tcp_us, tcp_now_us;	/* RTTs that the socket reports */
	int	 tcp_true, tcp_queue;
	uint64_t rival;			/* bytes before the link */
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
} s;

static uint64_t
min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Bytes of one tick at a rate, without losing the fractions. */
static uint64_t
per_tick(uint64_t rate)
{
	uint64_t t = s.now_us / TICK_US;

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
	p->at[(s.now_us + delay_us) / TICK_US % PIPE] += bytes;
}

static uint64_t
get(struct pipe_line *p)
{
	uint64_t *at = &p->at[s.now_us / TICK_US % PIPE], bytes = *at;

	*at = 0;
	return bytes;
}

/* Returns what the link takes of the stream in this tick. */
static uint64_t
share_of_link(void)
{
	uint64_t n = per_tick(s.rate);

	if (s.rival != 0)
		n = n * s.queued / (s.queued + s.rival);
	return min_u64(s.queued, n);
}

/* Returns the RTT that the socket reports at present. */
static uint64_t
current_rtt(uint64_t min_us)
{
	if (s.tcp_queue)
		return s.rtt_us + (s.queued + s.rival) * 1000000 / s.rate;
	return s.tcp_now_us ? s.tcp_now_us : min_us;
}

static void
send_some(void)
{
	uint64_t bdp = bdp_bytes(s.rate, s.rtt_us), n;

	n = get(&s.acks);
	if (2 * (s.sent - s.acked) >= s.cwnd)	/* it limits */
		s.cwnd = min_u64(s.cwnd + n, 2 * bdp + 10 * 1448);
	s.acked += n;
	s.credit += get(&s.credits);
	if (s.sender == UINT64_MAX)
		s.made = UINT64_MAX / 2;
	else
		s.made += per_tick(s.sender);
	n = min_u64(s.made, s.credit) - s.sent;
	if (s.sent + n > s.acked + s.cwnd)
		n = s.acked + s.cwnd > s.sent ? s.acked + s.cwnd - s.sent : 0;
	s.sent += n;
	s.queued += n;
	n = share_of_link();
	s.queued -= n;
	put(&s.data, s.rtt_us / 2, n);
}

static void
receive_some(void)
{
	uint64_t n = get(&s.data);

	if (n != 0)
		put(&s.acks, s.rtt_us / 2, n);
	if (s.holes_us != 0) {
		put(&s.order, s.holes_us, n);
		s.waiting += n;
		n = 0;
	}
	n += get(&s.order);
	s.waiting -= min_u64(s.waiting, n);
	s.held += n;
	if (s.now_us < s.stall_until_us ||
	    (s.burst_us != 0 && s.now_us % s.burst_us != 0))
		return;
	s.arrived += s.held;
	s.local_window -= s.held;
	s.held = 0;
}

static void
read_some(void)
{
	uint64_t n = min_u64(s.arrived - s.consumed, per_tick(s.reader));

	s.consumed += n;
	s.run_consumed += n;
	s.unannounced += n;
	if (s.arrived - s.consumed > s.backlog_max)
		s.backlog_max = s.arrived - s.consumed;
}

/* Applies a decision to the channel as wtune-hook.c does. */
static int64_t
decide(void)
{
	uint64_t held = s.window + s.others;
	struct wtune_now now = { s.now_us, s.window, s.consumed,
	    s.arrived - s.consumed, s.memory > held ? s.memory - held : 0 };
	int64_t delta;

	uint64_t rtt_us = s.tcp_true ? s.rtt_us : s.tcp_us;
	bdp_set_rtt(s.bdp, rtt_us, current_rtt(rtt_us));
	bdp_note_out_of_order(s.bdp, min_u64(s.waiting, s.window));
	bdp_consumed(s.bdp, s.consumed, s.now_us);
	delta = wtune_decide(s.tuner, s.bdp, &now);
	if (delta < 0)
		delta = -(int64_t)min_u64(-delta, s.unannounced);
	s.window += delta;
	s.unannounced += delta;
	if (s.window > s.window_max)
		s.window_max = s.window;
	return delta;
}

static void
hook(void)
{
	int64_t delta = 0;

	if (s.unannounced == 0 && s.arrived == s.consumed)
		return;
	bdp_arrived(s.bdp, s.arrived, s.now_us);
	if (bdp_sample_due(s.bdp, s.now_us))
		delta = decide();
	if (s.unannounced == 0 || (s.window - s.local_window <= 3 * MAXPACKET &&
	    s.local_window >= s.window / 2))
		return;
	if (delta <= 0)
		bdp_granted(s.bdp, s.arrived + s.local_window, s.now_us);
	put(&s.credits, s.rtt_us / 2, s.unannounced);
	s.local_window += s.unannounced;
	s.unannounced = 0;
}

static void
report(void)
{
	printf("window=%" PRIu64 " max=%" PRIu64 " backlog=%" PRIu64
	    " consumed=%" PRIu64 " rate=%" PRIu64 " age_us=%" PRIu64
	    " why=%s\n",
	    s.window, s.window_max, s.backlog_max, s.run_consumed,
	    bdp_rate(s.bdp), bdp_last_age(s.bdp),
	    wtune_why_text(wtune_why(s.tuner)));
}

static void
run(double seconds)
{
	uint64_t until = s.now_us + (uint64_t)(seconds * 1e6);

	s.window_max = s.window;
	s.backlog_max = s.run_consumed = 0;
	for (; s.now_us < until; s.now_us += TICK_US) {
		send_some();
		receive_some();
		read_some();
		hook();
	}
	report();
}

/* A moment of a log: time, position and backlog are not simulated. */
static void
sample(const char *arg)
{
	s.waiting = 0;
	if (sscanf(arg, "%" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %"
	    SCNu64, &s.now_us, &s.consumed, &s.arrived, &s.tcp_us,
	    &s.waiting) < 4)
		errx(2, "sample %s: four numbers are needed", arg);
	s.arrived += s.consumed;
	s.tcp_true = 0;
	s.unannounced = s.window;	/* a window may always shrink */
	bdp_arrived(s.bdp, s.arrived, s.now_us);
	if (decide() <= 0)
		bdp_granted(s.bdp, s.consumed + s.window, s.now_us);
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
	s.conf.whole_path = 0;
	if (sscanf(arg, "%" SCNu64 " %" SCNu64 " %" SCNu32 " %d", &s.conf.floor,
	    &s.conf.ceiling, &s.conf.gain_quarters, &s.conf.whole_path) < 3)
		errx(2, "tune %s: three numbers are needed", arg);
	bdp_free(s.bdp);
	wtune_free(s.tuner);
	if ((s.bdp = bdp_new()) == NULL ||
	    (s.tuner = wtune_new(&s.conf)) == NULL)
		err(1, NULL);
	s.window = s.window_max = s.local_window = s.conf.floor;
	s.credit = s.sent + s.conf.floor;
	s.now_us = 1000000;
	s.cwnd = 10 * 1448;
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
		s.memory = strtoull(arg, NULL, 10);
	else if (strcmp(line, "others") == 0)
		s.others = strtoull(arg, NULL, 10);
	else if (strcmp(line, "start") == 0)
		s.consumed = s.arrived = strtoull(arg, NULL, 10);
	else if (strcmp(line, "path") == 0 &&
	    sscanf(arg, "%lf %lf", &ms, &mbps) == 2) {
		s.rtt_us = (uint64_t)(ms * 1e3);
		s.rate = (uint64_t)(mbps * 1e6);
	} else if (strcmp(line, "tcp") == 0) {
		s.tcp_true = strncmp(arg, "path", 4) == 0;
		s.tcp_queue = strncmp(arg, "queue ", 6) == 0;
		arg += s.tcp_queue ? 6 : 0;
		s.tcp_us = (uint64_t)(atof(arg) * 1e3);
		arg += strcspn(arg, " ");
		s.tcp_now_us = (uint64_t)(atof(arg) * 1e3);
	} else if (strcmp(line, "reader") == 0)
		s.reader = strcmp(arg, "stop") == 0 ? 0 :
		    per_second(arg, "fast");
	else if (strcmp(line, "sender") == 0) {
		if (s.sender == UINT64_MAX)
			s.made = s.sent;
		s.sender = per_second(arg, "fast");
	} else if (strcmp(line, "burst") == 0)
		s.burst_us = (uint64_t)(atof(arg) * 1e3);
	else if (strcmp(line, "stall") == 0)
		s.stall_until_us = s.now_us + (uint64_t)(atof(arg) * 1e3);
	else if (strcmp(line, "holes") == 0)
		s.holes_us = (uint64_t)(atof(arg) * 1e3);
	else if (strcmp(line, "rival") == 0)
		s.rival = strtoull(arg, NULL, 10);
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

	s.memory = UINT64_MAX / 4;
	s.tcp_true = 1;
	s.reader = s.sender = UINT64_MAX;
	s.rtt_us = 100000;
	s.rate = 125000000;
	command(first);
	while (fgets(line, sizeof(line), stdin) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		command(line);
	}
	bdp_free(s.bdp);
	wtune_free(s.tuner);
	return 0;
}
