/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * See wtune-hook.h. Stock keeps this balance for every channel:
 *
 *	local_window_max = local_window + local_consumed + backlog
 *
 * what the peer may still send, what was taken and not yet announced, what
 * arrived and was not yet taken. Raising local_window_max and
 * local_consumed by the same amount makes the next adjust carry the growth;
 * lowering both withholds it. Nothing else of a channel is written here.
 *
 * State per channel lives in a table by channel number, so no upstream
 * structure changes.
 */

#include "includes.h"

#include <sys/types.h>

#include <errno.h>
#include <fcntl.h>
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
#include "clock.h"
#include "hayopt.h"
#include "peer-hook.h"
#include "starve.h"
#include "tcp-path.h"
#include "wtune.h"
#include "wtune-hook.h"

/* What a stock session or forwarding offers; smaller ones are meant small. */
#define STOCK_WINDOW	CHAN_SES_WINDOW_DEFAULT

/*
 * Every unmodified OpenSSH from 8.9 on lets a channel's unsent data fill
 * min(our window, 16 MiB), and moves all of it for each read once its buffer
 * is full. At 14 MiB there are 2 MiB of air, so that one move pays for 64
 * reads; at 15 it would be 32. The version string does not tell who has it,
 * and old versions lose nothing.
 */
#define STOCK_SENDER_MAX	(14 * 1024 * 1024)

/* Twice the BDP: a lost packet costs a round trip of window. */
#define GAIN_QUARTERS		8
/* A stock sender copies all it may not yet send: be frugal. */
#define GAIN_STOCK_QUARTERS	6

/*
 * Unsent bytes in the kernel: 10 ms at the rate that the path delivers.
 * Less starves a sender that loses its processor for a time slice.
 */
#define UNSENT_MIN		(128 * 1024)
#define UNSENT_MAX		(4 * 1024 * 1024)
#define UNSENT_PER_SECOND	100
#define UNSENT_EVERY_US		100000

/*
 * sshd reads 256 KiB from its socket per poll, after a loss even a whole
 * window, poll by poll; a program's pipe takes 64 of them. So it holds as
 * much as a poll brings. A megabyte would use up a user's share of pipes.
 */
#define PIPE_SIZE		(256 * 1024)

/* A backlog comes back within this, or the memory goes. */
#define TRIM_AFTER_US		2000000

struct chan_state {
	struct bdp *bdp;
	struct wtune *wtune;
	uint64_t taken;		/* stream position */
	u_int consumed;		/* local_consumed that "taken" includes */
	enum wtune_why said;	/* in the log, and the window with it */
	u_int said_window;
	uint64_t emptied_us;	/* when a large backlog was last gone */
	struct starve starve;	/* as a sender */
	u_int peer_window;	/* the most credit seen of the peer */
	uint64_t behind_holes;	/* of struct tcp_path, when last looked at */
};

static struct chan_state **states;	/* by channel number */
static size_t nstates;
static uint64_t windows_total;		/* of all channels with a state */
static struct bdp *wire;		/* the connection's own rate */

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

static struct chan_state *
state_new(const struct ssh *ssh, const struct Channel *c)
{
	struct wtune_conf conf = { .floor = c->local_window_max,
	    .ceiling = hayopt_get()->window_max,
	    .gain_quarters = GAIN_QUARTERS,
	    /* an sshd's socket may end at a jump host, a mux proxy has none */
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
	s->said_window = c->local_window_max;
	windows_total += c->local_window_max;
	return s;
}

static int
has_state(const struct Channel *c)
{
	return c->self >= 0 && (size_t)c->self < nstates &&
	    states[c->self] != NULL;
}

/* The state of a channel, made with its first data; NULL: leave it alone. */
static struct chan_state *
state_of(const struct ssh *ssh, const struct Channel *c)
{
	struct chan_state **grown;
	size_t n;

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

/* The very test that stock makes next, to know whether it will announce. */
static int
adjust_is_due(const struct Channel *c)
{
	return c->type == SSH_CHANNEL_OPEN &&
	    (c->flags & (CHAN_CLOSE_SENT | CHAN_CLOSE_RCVD)) == 0 &&
	    (c->local_window_max - c->local_window >
	    c->local_maxpacket * 3 ||
	    c->local_window < c->local_window_max / 2) &&
	    c->local_consumed > 0;
}

static void
log_decision(const struct Channel *c, struct chan_state *s, u_int was)
{
	enum wtune_why why = wtune_why(s->wtune);

	/* a withdrawal comes in many small steps */
	if (why == s->said && (c->local_window_max == s->said_window ||
	    (c->local_window_max < was &&
	    c->local_window_max > s->said_window / 4 * 3)))
		return;
	s->said = why;
	s->said_window = c->local_window_max;
	debug2("channel %d: window %u -> %u, %s (rtt %.1f ms, age %.1f ms, "
	    "rate %.1f MB/s, bdp %llu, behind losses %llu, waiting %zu)", c->self, was,
	    c->local_window_max, wtune_why_text(why),
	    bdp_rtt(s->bdp) / 1e3, bdp_last_age(s->bdp) / 1e3,
	    bdp_rate(s->bdp) / 1e6,
	    (unsigned long long)bdp_bytes(bdp_rate(s->bdp), bdp_rtt(s->bdp)),
	    (unsigned long long)bdp_waiting(s->bdp), sshbuf_len(c->output));
}

/* The program that reads may have all that one poll brought. */
static void
widen_pipe(const struct Channel *c)
{
#ifdef F_SETPIPE_SZ
	int size = fcntl(c->wfd, F_GETPIPE_SZ);

	if (size > 0 && size < PIPE_SIZE &&
	    fcntl(c->wfd, F_SETPIPE_SZ, PIPE_SIZE) == -1)
		debug2("channel %d: the pipe stays at %d bytes: %s", c->self,
		    size, strerror(errno));
#else
	(void)c;
#endif
}

/*
 * Bytes of this channel that wait behind lost ones: its share, by rate, of
 * the connection's. Where nothing could be read for a while, all that came
 * out of order meanwhile waited together.
 */
static uint64_t
waiting_of(struct ssh *ssh, struct chan_state *s, const struct tcp_path *path,
    uint64_t now_us)
{
	uint64_t waiting = path->behind_holes - s->behind_holes, mine, all;

	s->behind_holes = path->behind_holes;
	if (wire == NULL && (wire = bdp_new()) == NULL)
		return 0;
	bdp_set_rtt(wire, path->min_rtt_us, path->rtt_us);
	if (bdp_due(wire, now_us))
		bdp_taken(wire, path->received, now_us);
	if (waiting == 0)
		return 0;
	waiting = MAXIMUM(waiting,
	    tcp_path_waiting(ssh_packet_get_connection_in(ssh)));
	mine = bdp_rate_max(s->bdp);
	all = bdp_rate_max(wire);
	waiting = MINIMUM(waiting, UINT32_MAX);
	return mine < all ? (uint64_t)((double)waiting * mine / all) : waiting;
}

/* Sample the path, ask the tuner and move the window; returns true if it grew. */
static int
decide(struct ssh *ssh, struct Channel *c, struct chan_state *s,
    const struct wtune_now *now)
{
	u_int was = c->local_window_max;
	struct tcp_path path;
	uint64_t waiting = 0;
	int64_t delta;

	if (tcp_path_read(ssh_packet_get_connection_in(ssh), &path) == 0) {
		bdp_set_rtt(s->bdp, path.min_rtt_us, path.rtt_us);
		waiting = waiting_of(ssh, s, &path, now->now_us);
		bdp_waits(s->bdp, MINIMUM(waiting, now->window));
	}
	bdp_taken(s->bdp, now->taken, now->now_us);
	/* what wtune-replay reads */
	debug3("channel %d: sample %llu %llu %llu %llu %llu", c->self,
	    (unsigned long long)now->now_us, (unsigned long long)now->taken,
	    (unsigned long long)now->backlog,
	    (unsigned long long)bdp_rtt(s->bdp), (unsigned long long)waiting);
	delta = wtune_decide(s->wtune, s->bdp, now);
	if (delta < 0 && -delta > (int64_t)c->local_consumed)
		delta = -(int64_t)c->local_consumed;
	c->local_window_max += delta;
	c->local_consumed += delta;
	windows_total += delta;
	log_decision(c, s, was);
	if (was == STOCK_WINDOW && delta > 0)
		widen_pipe(c);
	return delta > 0;
}

/*
 * A buffer that held a large backlog is given back when it has not held one
 * for a while: not at once, or a reader in bursts would pay for its growth
 * again and again.
 */
static void
trim(struct Channel *c, struct chan_state *s, uint64_t now_us)
{
	size_t alloc = sshbuf_alloc(c->output);

	if (alloc <= STOCK_WINDOW || sshbuf_len(c->output) > alloc / 8)
		s->emptied_us = now_us;
	else if (sshbuf_len(c->output) == 0 &&
	    now_us - s->emptied_us >= TRIM_AFTER_US)
		sshbuf_reset(c->output);
}

void
wtune_channel(struct ssh *ssh, struct Channel *c)
{
	const struct hayopt *opt = hayopt_get();
	u_int known = c->local_window + c->local_consumed, backlog;
	struct chan_state *s;
	struct wtune_now now;
	int grew = 0;

	/* a SOCKS reply of ours counts as consumed and never was in the window */
	backlog = c->local_window_max > known ? c->local_window_max - known : 0;
	if (!opt->window_tuning || (backlog == 0 && c->local_consumed == 0) ||
	    (s = state_of(ssh, c)) == NULL)
		return;
	s->taken += c->local_consumed - s->consumed;
	now = (struct wtune_now) { clock_us(), c->local_window_max, s->taken,
	    backlog, opt->window_memory_max > windows_total ?
	    opt->window_memory_max - windows_total : 0 };
	bdp_arrived(s->bdp, s->taken + backlog, now.now_us);
	if (bdp_due(s->bdp, now.now_us))
		grew = decide(ssh, c, s, &now);
	s->consumed = c->local_consumed;
	if (adjust_is_due(c)) {
		if (!grew)
			bdp_granted(s->bdp, s->taken + backlog +
			    c->local_window, now.now_us);
		s->consumed = 0;
	}
	trim(c, s, now.now_us);
}

/* Follow the path with what may wait in the kernel, ten times a second. */
static void
bound_unsent(struct ssh *ssh)
{
	static uint64_t checked_us;
	static uint32_t bound;
	uint64_t now_us = clock_us(), want;
	struct tcp_path path;
	int fd;

	if (checked_us != 0 && now_us - checked_us < UNSENT_EVERY_US)
		return;
	checked_us = now_us;
	fd = ssh_packet_get_connection_out(ssh);
	if (tcp_path_read(fd, &path) == -1)
		return;
	want = path.delivery_rate / UNSENT_PER_SECOND;
	want = MINIMUM(MAXIMUM(want, UNSENT_MIN), UNSENT_MAX);
	if (bound != 0 && want <= bound + bound / 4 && want >= bound / 2)
		return;
	if (tcp_path_bound_unsent(fd, want) == 0) {
		debug3("at most %llu bytes unsent in the kernel",
		    (unsigned long long)want);
		bound = want;
	}
}

/* Who else could do something, in the words of the one who reads the log. */
static void
log_starved(struct ssh *ssh, const struct Channel *c, u_int window,
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

/* Does the peer's window hold up what we send? */
static void
note_starved(struct ssh *ssh, struct Channel *c)
{
	struct chan_state *s;
	struct tcp_path path;
	int starves = 0;

	/* who never used up its credit needs no state */
	if (c->remote_window > 0 && !has_state(c))
		return;
	if ((s = state_of(ssh, c)) == NULL || s->starve.said)
		return;
	s->peer_window = MAXIMUM(s->peer_window, c->remote_window);
	if (c->remote_window == 0) {
		if (tcp_path_read(ssh_packet_get_connection_out(ssh),
		    &path) == -1)
			return;
		s->peer_window = MAXIMUM(s->peer_window,
		    MINIMUM(path.unacked, UINT_MAX));
		starves = path.unacked >= s->peer_window / 2;
	}
	if (starve_note(&s->starve, starves, clock_us()))
		log_starved(ssh, c, s->peer_window, &path);
}

void
wtune_input(struct ssh *ssh, struct Channel *c)
{
	if (!hayopt_get()->hayate)
		return;
	note_starved(ssh, c);
	if (sshbuf_len(c->input) >= STOCK_WINDOW)
		c->io_want &= ~SSH_CHAN_IO_RFD;
	if (sshbuf_len(c->extended) >= STOCK_WINDOW)
		c->io_want &= ~SSH_CHAN_IO_EFD_R;
	if (sshbuf_len(c->input) > 0)
		bound_unsent(ssh);
}
