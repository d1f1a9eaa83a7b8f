/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * See wtune-hook.h. Stock keeps this balance for every channel:
 *
 *	local_window_max = local_window + local_consumed + backlog
 *
 * The terms are what the peer may still send, what was consumed and not yet
 * announced, and what arrived and was not yet consumed. If local_window_max
 * and local_consumed rise by the same amount, the next adjust carries the
 * growth; if both fall, it withholds as much. This file writes nothing else
 * of a channel.
 *
 * The state of each channel is in a table by channel number, so that no
 * upstream structure changes.
 */

#include "includes.h"

#include <sys/types.h>

#include <stdlib.h>
#include <string.h>

#include "packet.h"
#define SSHBUF_INTERNAL	/* sshbuf_alloc() */
#include "sshbuf.h"
#include "channels.h"
#include "kex.h"
#include "log.h"
#include "misc.h"

#include "bdp.h"
#include "bulk-hook.h"
#include "clock.h"
#include "hayopt.h"
#include "machine-hook.h"
#include "peer-hook.h"
#include "sshbuf-hook.h"
#include "window-limited.h"
#include "tcp-path.h"
#include "tcpopt-hook.h"
#include "stalls-hook.h"
#include "wtune.h"
#include "wtune-hook.h"

/*
 * The window of a stock session or forwarding. Smaller ones are never changed.
 */
#define STOCK_WINDOW	CHAN_SES_WINDOW_DEFAULT

/*
 * Every unmodified OpenSSH from 8.9 on lets a channel's unsent data fill
 * min(our window, 16 MiB), and moves all of it for each read once its buffer
 * is full. A window of 14 MiB leaves 2 MiB of the buffer free, so that one
 * move serves 64 reads; with 15 MiB it would serve 32. A version string does
 * not show which sender does this, and old versions lose nothing.
 */
#define STOCK_SENDER_MAX	(14 * 1024 * 1024)

/* Twice the BDP: a lost packet costs a round trip of window. */
#define GAIN_QUARTERS		8
/* A stock sender copies all that it may not yet send, so it gets less. */
#define GAIN_STOCK_QUARTERS	6

/* The packet size that stock announces */
#define PACKET_STOCK		(32 * 1024)

/*
 * Unsent bytes in the kernel: 10 ms at the rate that the path delivers. Less
 * would leave the path idle when the sender loses its processor for a time
 * slice.
 */
#define UNSENT_MIN		(128 * 1024)
#define UNSENT_MAX		(16 * 1024 * 1024)	/* of 10 Gbit/s */
#define UNSENT_PER_SECOND	100

/* Microseconds without a large backlog after which a buffer is freed */
#define TRIM_AFTER_US		2000000
#define LARGE_BACKLOG(alloc)	((alloc) / 8)

/* The window limits only while the path holds half of it or more. */
#define HALF_WINDOW(window)	((window) / 2)

/*
 * The window limits only while little of it waits in a queue of the path. A
 * held window (standing-queue.h) leaves a quarter of an RTT there, and limits
 * nothing.
 */
#define RTT_OF_QUEUE(rtt)	((rtt) + MINIMUM((rtt) / 2, (rtt) / 6 + 1000))

/* The bound on unsent bytes stays as long as the want is near it. */
#define FAR_ABOVE(want, bound)	((want) > (bound) + (bound) / 4)
#define FAR_BELOW(want, bound)	((want) < (bound) / 2)

struct chan_state {
	struct bdp *bdp;
	struct wtune *wtune;
	uint64_t consumed;	/* stream position */
	u_int unannounced;	/* of local_consumed, counted in "consumed" */
	enum wtune_why logged;	/* the last reason in the log */
	u_int logged_window;	/* and the window with it */
	int	 adjust_logged;	/* the adjust behind that line as well */
	uint64_t large_us;	/* when there last was a large backlog */
	struct window_limited limited;	/* as a sender */
	u_int peer_window;	/* the largest seen of the peer's */
	uint64_t out_of_order;	/* of struct tcp_path, at the last decision */
	int	 pipe_enlarged;
};

static struct chan_state **states;	/* by channel number */
static size_t nstates;
static uint64_t windows_total;		/* of all channels with a state */
static struct bdp *wire;		/* the rate of the connection */

/* Data channels only: ttys, X11 and agent connections stay small. */
static int
is_data_channel(const struct Channel *c)
{
	return !c->isatty && c->local_window_max >= STOCK_WINDOW &&
	    (c->ctype == NULL || (strncmp(c->ctype, "x11", 3) != 0 &&
	    strncmp(c->ctype, "agent", 5) != 0));
}

static void
state_free(struct chan_state *s)
{
	if (s == NULL)
		return;
	bdp_free(s->bdp);
	wtune_free(s->wtune);
	free(s);
}

/*
 * Returns the largest window of the channel. The buffer must hold it, and a
 * quarter more, which a peer may send beyond it before stock ends the
 * connection.
 */
static uint64_t
get_ceiling(const struct Channel *c)
{
	uint64_t most = machine_options()->window_max, whole = most / 4 * 5;

	if (whole > SSHBUF_SIZE_MAX &&
	    (sshbuf_raise_max(c->output, whole) != 0 ||
	    sshbuf_raise_max(c->extended, whole) != 0))
		return SSHBUF_SIZE_MAX / 5 * 4;
	return most;
}

static struct chan_state *
state_new(const struct ssh *ssh, const struct Channel *c)
{
	struct wtune_conf conf = { .floor = c->local_window_max,
	    .ceiling = get_ceiling(c),
	    .gain_quarters = GAIN_QUARTERS,
	    /* a tunnel loses datagrams where others wait */
	    .avoid_queue = hayopt_get()->avoid_bufferbloat && !c->datagram,
	    /* an sshd's socket may end at a jump host; a mux proxy has none */
	    .whole_path = ssh->kex != NULL && !ssh->kex->server };
	struct chan_state *s;

	if (!peer_is_hayate(ssh)) {
		conf.ceiling = MINIMUM(conf.ceiling, STOCK_SENDER_MAX);
		conf.gain_quarters = GAIN_STOCK_QUARTERS;
	}
	if ((s = calloc(1, sizeof(*s))) == NULL ||
	    (s->bdp = bdp_new()) == NULL ||
	    (s->wtune = wtune_new(&conf)) == NULL) {
		verbose("channel %d: no memory to tune the window", c->self);
		state_free(s);
		return NULL;
	}
	s->logged_window = c->local_window_max;
	windows_total += c->local_window_max;
	return s;
}

static int
has_state(const struct Channel *c)
{
	return c->self >= 0 && (size_t)c->self < nstates &&
	    states[c->self] != NULL;
}

/*
 * The state of a channel, made with its first data. NULL: the channel is
 * not tuned.
 */
static struct chan_state *
get_state(const struct ssh *ssh, const struct Channel *c)
{
	struct chan_state **grown;
	size_t n;

	if (has_state(c))	/* its window may be below stock's by now */
		return states[c->self];
	if (c->self < 0 || !is_data_channel(c))
		return NULL;
	if ((size_t)c->self >= nstates) {
		n = (size_t)c->self + 16;
		if ((grown = recallocarray(states, nstates, n,
		    sizeof(*states))) == NULL)
			return NULL;
		states = grown;
		nstates = n;
	}
	if (states[c->self] == NULL)
		states[c->self] = state_new(ssh, c);
	return states[c->self];
}

void
wtune_channel_free(struct Channel *c)
{
	if (!has_state(c))
		return;
	windows_total -= c->local_window_max;
	state_free(states[c->self]);
	states[c->self] = NULL;
}

static int
is_held(const struct Channel *c)
{
	return has_state(c) &&
	    wtune_why(states[c->self]->wtune) == WTUNE_HOLD_QUEUE;
}

u_int
wtune_adjust_step(const struct Channel *c)
{
	u_int step = MINIMUM(c->local_maxpacket, PACKET_STOCK) * 3;

	return is_held(c) ? MINIMUM(step, c->local_window_max / 16) : step;
}

/*
 * Repeats the test that stock makes next, to know whether it sends an adjust.
 */
static int
adjust_is_due(const struct Channel *c)
{
	return c->type == SSH_CHANNEL_OPEN &&
	    (c->flags & (CHAN_CLOSE_SENT | CHAN_CLOSE_RCVD)) == 0 &&
	    (c->local_window_max - c->local_window >
	    wtune_adjust_step(c) ||
	    c->local_window < c->local_window_max / 2) &&
	    c->local_consumed > 0;
}

/*
 * Returns 1 if the log has this decision already. A withdrawal takes many small
 * steps, a held window moves a little all the time, and one line for each
 * quarter is enough.
 */
static int
is_decision_logged(const struct Channel *c, const struct chan_state *s,
    u_int was)
{
	u_int window = c->local_window_max;

	return wtune_why(s->wtune) == s->logged &&
	    (window == s->logged_window ||
	    ((window < was || is_held(c)) &&
	    window > s->logged_window / 4 * 3 &&
	    window < s->logged_window / 4 * 5));
}

static void
log_decision(const struct Channel *c, struct chan_state *s, u_int was)
{
	const struct bdp *b = s->bdp;

	if (is_decision_logged(c, s, was))
		return;
	s->logged = wtune_why(s->wtune);
	s->logged_window = c->local_window_max;
	s->adjust_logged = 0;
	debug2("channel %d: window %u -> %u, %s (rtt %.1f ms, age %.1f ms, "
	    "rate %.1f MB/s, bdp %llu, behind losses %llu, waiting %zu)",
	    c->self, was, c->local_window_max, wtune_why_text(s->logged),
	    bdp_rtt(b) / 1e3, bdp_last_age(b) / 1e3, bdp_rate(b) / 1e6,
	    (unsigned long long)bdp_bytes(bdp_rate(b), bdp_rtt(b)),
	    (unsigned long long)bdp_out_of_order(b), sshbuf_len(c->output));
}

/* Logs the input of the tuner, for regress/unit/wtune-replay.c. */
static void
log_sample(const struct Channel *c, const struct bdp *b,
    const struct wtune_now *now, uint64_t waiting)
{
	debug3("channel %d: sample %llu %llu %llu %llu %llu", c->self,
	    (unsigned long long)now->now_us, (unsigned long long)now->consumed,
	    (unsigned long long)now->backlog, (unsigned long long)bdp_rtt(b),
	    (unsigned long long)waiting);
}

/*
 * Returns the bytes of the connection that were out of order since the last
 * decision. If nothing could be read for a while, all that came out of order in
 * that time was in the kernel together.
 */
static uint64_t
connection_out_of_order(struct ssh *ssh, struct chan_state *s,
    const struct tcp_path *path)
{
	/* The count is 32 bits wide, and its unit, the MSS, can shrink. */
	uint64_t waiting = path->out_of_order > s->out_of_order ?
	    path->out_of_order - s->out_of_order : 0;

	s->out_of_order = path->out_of_order;
	if (waiting == 0)
		return 0;
	waiting = MAXIMUM(waiting,
	    tcp_path_out_of_order(ssh_packet_get_connection_in(ssh)));
	return MINIMUM(waiting, UINT32_MAX);
}

/* Returns the channel's share of these bytes, by its share of the rate. */
static uint64_t
channel_out_of_order(struct ssh *ssh, struct chan_state *s,
    const struct tcp_path *path, uint64_t now_us)
{
	uint64_t waiting = connection_out_of_order(ssh, s, path), mine, all;

	if (wire == NULL && (wire = bdp_new()) == NULL)
		return 0;
	bdp_set_rtt(wire, path->min_rtt_us, path->rtt_us);
	if (bdp_sample_due(wire, now_us))
		bdp_consumed(wire, path->received, now_us);
	mine = bdp_rate_max(s->bdp);
	all = bdp_rate_max(wire);
	return mine < all ? (uint64_t)((double)waiting * mine / all) : waiting;
}

/*
 * Moves the window by "delta" bytes. Only bytes that were consumed and not yet
 * announced can be withheld.
 */
static void
move_window(struct Channel *c, int64_t delta)
{
	if (delta < 0 && -delta > (int64_t)c->local_consumed)
		delta = -(int64_t)c->local_consumed;
	c->local_window_max += delta;
	c->local_consumed += delta;
	windows_total += delta;
}

/* Samples the path, asks the tuner, moves the window. Returns 1 if it grew. */
static int
tune_window(struct ssh *ssh, struct Channel *c, struct chan_state *s,
    const struct wtune_now *now)
{
	u_int was = c->local_window_max;
	struct tcp_path path;
	uint64_t waiting = 0;

	if (tcp_path_read(ssh_packet_get_connection_in(ssh), &path) == 0) {
		bdp_set_rtt(s->bdp, path.min_rtt_us, path.rtt_us);
		waiting = channel_out_of_order(ssh, s, &path, now->now_us);
		bdp_note_out_of_order(s->bdp, MINIMUM(waiting, now->window));
	}
	bdp_consumed(s->bdp, now->consumed, now->now_us);
	log_sample(c, s->bdp, now, waiting);
	move_window(c, wtune_decide(s->wtune, s->bdp, now));
	log_decision(c, s, was);
	return c->local_window_max > was;
}

/*
 * Frees memory of consumed data in a large buffer, and all of a smaller one
 * that has had no large backlog for a while. Without the delay, a reader in
 * bursts would pay for the growth each time.
 */
static void
trim_buffer(struct Channel *c, struct chan_state *s, uint64_t now_us)
{
	size_t alloc;

	sshbuf_trim(c->output);
	sshbuf_trim(c->extended);
	alloc = sshbuf_alloc(c->output);
	if (alloc <= STOCK_WINDOW ||
	    sshbuf_len(c->output) > LARGE_BACKLOG(alloc))
		s->large_us = now_us;
	else if (sshbuf_len(c->output) == 0 &&
	    now_us - s->large_us >= TRIM_AFTER_US)
		sshbuf_reset(c->output);
}

/* Returns the bytes that arrived and are not consumed yet. */
static u_int
get_backlog(const struct Channel *c)
{
	u_int known = c->local_window + c->local_consumed;

	/* our SOCKS reply counts as consumed and never was in the window */
	return c->local_window_max > known ? c->local_window_max - known : 0;
}

static uint64_t
free_window_memory(const struct hayopt *opt)
{
	return opt->window_memory_max > windows_total ?
	    opt->window_memory_max - windows_total : 0;
}

void
wtune_channel(struct ssh *ssh, struct Channel *c)
{
	const struct hayopt *opt = machine_options();
	u_int backlog = get_backlog(c);
	struct chan_state *s;
	struct wtune_now now;
	int grew = 0;

	if (!opt->window_tuning || (backlog == 0 && c->local_consumed == 0) ||
	    (s = get_state(ssh, c)) == NULL)
		return;
	s->consumed += c->local_consumed - s->unannounced;
	now = (struct wtune_now) { .now_us = clock_us(),
	    .window = c->local_window_max, .consumed = s->consumed,
	    .backlog = backlog, .free = free_window_memory(opt) };
	bdp_arrived(s->bdp, s->consumed + backlog, now.now_us);
	if (bdp_sample_due(s->bdp, now.now_us))
		grew = tune_window(ssh, c, s, &now);
	s->unannounced = c->local_consumed;
	if (adjust_is_due(c)) {
		if (!grew)
			bdp_granted(s->bdp, s->consumed + backlog +
			    c->local_window, now.now_us);
		s->unannounced = 0;
	}
	trim_buffer(c, s, now.now_us);
	if (backlog > BULK_PIPE_STOCK && !s->pipe_enlarged) {
		s->pipe_enlarged = 1;
		bulk_enlarge_pipe(c->wfd);
	}
}

void
wtune_log_adjust(const struct Channel *c)
{
	struct chan_state *s = has_state(c) ? states[c->self] : NULL;
	LogLevel level = s != NULL && s->adjust_logged ?
	    SYSLOG_LEVEL_DEBUG3 : SYSLOG_LEVEL_DEBUG2;

	do_log2(level, "channel %d: window %u sent adjust %u", c->self,
	    c->local_window, c->local_consumed);
	if (s != NULL)
		s->adjust_logged = 1;
}

/* Limits the unsent bytes in the kernel to 10 ms of the path's rate. */
static void
limit_unsent(struct ssh *ssh)
{
	static uint32_t bound;
	uint64_t rate = bulk_path_rate(ssh), want;

	want = rate / UNSENT_PER_SECOND;
	want = MINIMUM(MAXIMUM(want, UNSENT_MIN), UNSENT_MAX);
	if (rate == 0 ||
	    (bound != 0 && !FAR_ABOVE(want, bound) && !FAR_BELOW(want, bound)))
		return;
	if (tcp_path_limit_unsent(ssh_packet_get_connection_out(ssh),
	    want) == 0) {
		debug3("at most %llu bytes unsent in the kernel",
		    (unsigned long long)want);
		bound = want;
	}
}

/* Logs whose window limits, in terms of what the user sees. */
static void
log_window_limited(struct ssh *ssh, const struct Channel *c, u_int window,
    const struct tcp_path *path)
{
	int server = ssh->kex != NULL && ssh->kex->server;

	debug("channel %d: the %s's window limits this %s to %u bytes in each "
	    "round trip of %.1f ms; only the %s can raise it%s", c->self,
	    server ? "client" : "server", server ? "download" : "upload",
	    window, path->min_rtt_us / 1e3, server ? "client" : "server",
	    peer_is_hayate(ssh) ? " (WindowMax, WindowMemoryMax)" :
	    ", and stock OpenSSH has no setting for it");
}

/* Checks whether the peer's window limits what this channel sends. */
static void
check_window_limited(struct ssh *ssh, struct Channel *c)
{
	struct chan_state *s;
	struct tcp_path path;
	int is_limited = 0;

	/* a channel that never used up its credit needs no state */
	if (c->remote_window > 0 && !has_state(c))
		return;
	if ((s = get_state(ssh, c)) == NULL || s->limited.reported)
		return;
	s->peer_window = MAXIMUM(s->peer_window, c->remote_window);
	if (c->remote_window == 0) {
		if (tcp_path_read(ssh_packet_get_connection_out(ssh),
		    &path) == -1)
			return;
		s->peer_window = MAXIMUM(s->peer_window,
		    MINIMUM(path.unacked, UINT_MAX));
		is_limited = path.unacked >= HALF_WINDOW(s->peer_window) &&
		    path.rtt_us < RTT_OF_QUEUE(path.min_rtt_us);
	}
	if (window_limited_update(&s->limited, is_limited, clock_us()))
		log_window_limited(ssh, c, s->peer_window, &path);
}

void
wtune_input(struct ssh *ssh, struct Channel *c)
{
	if (!hayopt_get()->hayate)
		return;
	tcpopt_set(ssh);
	stalls_note_channel(c);
	check_window_limited(ssh, c);
	if (sshbuf_len(c->input) >= STOCK_WINDOW)
		c->io_want &= ~SSH_CHAN_IO_RFD;
	if (sshbuf_len(c->extended) >= STOCK_WINDOW)
		c->io_want &= ~SSH_CHAN_IO_EFD_R;
	if (sshbuf_len(c->input) > 0)
		limit_unsent(ssh);
}
