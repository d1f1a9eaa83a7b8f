/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See stalls-hook.h for the idea. */

#include "includes.h"

#include <sys/types.h>

#include <poll.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>

#include "packet.h"
#include "sshbuf.h"
#include "channels.h"
#include "misc.h"

#include "clock.h"
#include "hayopt.h"
#include "tcp-path.h"
#include "usage.h"
#include "stalls-hook.h"

#define EVERY_US	100000		/* the kernel is asked */
#define SECOND_US	1000000

/* Full means 85 %, because the bytes in flight change by whole packets. */
#define FULL(unacked, window)	((unacked) > (window) / 20 * 17)

/*
 * Unsent bytes that count as none: TCP waits until it can send a large segment.
 */
#define UNSENT_MIN	(64 * 1024)

static struct {
	int	 is_on;
	void	(*sampled)(struct ssh *, const struct stall_stats *);
	struct stall_stats f;
	uint64_t begun_us;
	uint64_t poll_us;		/* when poll() began; 0: it did not */
	int	 is_window_shut, has_input, has_output;	/* of the channels */
	enum stall_stat send_stat, receive_stat;	/* of this poll() */
	uint64_t kernel_us;		/* the kernel */
	uint64_t second_us, second_bytes;	/* with what it began */
	uint64_t mean_rate;		/* bytes per second, on average */
} w;

void
stalls_begin(void (*sampled)(struct ssh *, const struct stall_stats *))
{
	w.is_on = 1;
	w.sampled = sampled;
	w.begun_us = w.second_us = clock_us();
	w.f.n[STAT_MAX_RATE] = hayopt_get()->max_rate;
}

void
stalls_note_channel(const struct Channel *c)
{
	if (!w.is_on || c->isatty)
		return;
	/* Nothing is read for a window that is shut, so it says no more. */
	if (c->remote_window == 0)
		w.is_window_shut = 1;
	if (c->istate == CHAN_INPUT_OPEN)
		w.has_input = 1;
	if (sshbuf_len(c->output) > 0)
		w.has_output = 1;
	w.f.n[STAT_OWN_WINDOW] = MAXIMUM(w.f.n[STAT_OWN_WINDOW],
	    c->local_window_max);
	w.f.n[STAT_PEER_WINDOW] = MAXIMUM(w.f.n[STAT_PEER_WINDOW],
	    c->remote_window);
}

/* Updates the best rate: that of the best second, or the mean delivery rate. */
static void
note_best_rate(const struct tcp_path *path, uint64_t now_us)
{
	uint64_t bytes = path->acked + path->received;
	uint64_t us = now_us - w.second_us, best;

	w.mean_rate += path->delivery_rate / 8 - w.mean_rate / 8;
	if (us < SECOND_US)
		return;
	best = stall_stats_scale(bytes - w.second_bytes, SECOND_US, us);
	best = MAXIMUM(best, w.mean_rate);
	w.f.n[STAT_BEST_RATE] = MAXIMUM(w.f.n[STAT_BEST_RATE], best);
	w.second_us = now_us;
	w.second_bytes = bytes;
}

/*
 * Returns 1 if the send buffer limits: the socket accepts no more although TCP
 * could send more, because all of the buffer is in flight. The kernel's own
 * counter of this stays 0 if a poll waits.
 */
static int
is_sndbuf_limited(const struct tcp_path *path)
{
	return w.send_stat == STAT_WAIT_TCP && path->unsent <= UNSENT_MIN &&
	    !FULL(path->unacked, path->cwnd) &&
	    (path->window == 0 || !FULL(path->unacked, path->window));
}

static void
add_path_sample(const struct tcp_path *path)
{
	uint64_t *n = w.f.n;

	n[STAT_SAMPLES]++;
	n[STAT_RTT_SUM] += path->rtt_us;
	n[STAT_RWND_FULL] += path->window != 0 &&
	    FULL(path->unacked, path->window);
	n[STAT_SNDBUF_FULL] += is_sndbuf_limited(path);
	n[STAT_SENT] = path->acked;
	n[STAT_RECEIVED] = path->received;
	n[STAT_SEGMENTS] = path->segments;
	n[STAT_RESENT] = path->resent;
	n[STAT_MIN_RTT] = path->min_rtt_us;
	n[STAT_MSS] = path->mss;
	n[STAT_TCP_RWND] = MAXIMUM(n[STAT_TCP_RWND], path->window);
	/* A window that is used as it is opened is never seen whole. */
	n[STAT_PEER_WINDOW] = MAXIMUM(n[STAT_PEER_WINDOW], path->unacked);
}

static void
sample_kernel(struct ssh *ssh, uint64_t now_us)
{
	struct tcp_path path;
	int fd = ssh_packet_get_connection_out(ssh);

	w.kernel_us = now_us;
	if (tcp_path_read(fd, &path) == 0) {
		if (w.f.n[STAT_SAMPLES] == 0)
			w.f.n[STAT_LOSS_TOLERANT] = tcp_path_tolerates_loss(fd);
		add_path_sample(&path);
		note_best_rate(&path, now_us);
	}
	(void)usage_read(&w.f);
	w.f.n[STAT_TIME] = now_us - w.begun_us;
}

struct stall_stats
stalls_read(struct ssh *ssh)
{
	/* After ssh_packet_disconnect() the last look is all there is. */
	if (w.is_on && ssh->state != NULL)
		sample_kernel(ssh, clock_us());
	return w.f;
}

void
stalls_prepare_poll(struct ssh *ssh, struct pollfd **pfd, u_int *alloc,
    u_int *active, u_int reserved, struct timespec *timeout)
{
	w.is_window_shut = w.has_input = w.has_output = 0;
	channel_prepare_poll(ssh, pfd, alloc, active, reserved, timeout);
	if (!w.is_on)
		return;
	w.send_stat = ssh_packet_have_data_to_write(ssh) ? STAT_WAIT_TCP :
	    w.is_window_shut ? STAT_WAIT_WINDOW : w.has_input ?
	    STAT_WAIT_INPUT : STAT_COUNT;
	w.receive_stat = w.has_output ? STAT_WAIT_OUTPUT : STAT_WAIT_NET;
	w.poll_us = clock_us();
}

void
stalls_after_poll(struct ssh *ssh, struct pollfd *pfd, u_int active)
{
	uint64_t now_us;

	if (w.is_on && w.poll_us != 0) {
		now_us = clock_us();
		/* Once all input is sent, nothing is waited for. */
		if (w.send_stat != STAT_COUNT)
			w.f.n[w.send_stat] += now_us - w.poll_us;
		w.f.n[w.receive_stat] += now_us - w.poll_us;
		w.poll_us = 0;
		if (now_us - w.kernel_us >= EVERY_US) {
			sample_kernel(ssh, now_us);
			if (w.sampled != NULL)
				w.sampled(ssh, &w.f);
		}
	}
	channel_after_poll(ssh, pfd, active);
}
