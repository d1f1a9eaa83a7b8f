/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See bottleneck-ssh-hook.h for the idea. */

#include "includes.h"

#include <sys/types.h>
#include "openbsd-compat/sys-queue.h"

#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "ssh.h"
#include "ssh2.h"
#include "pathnames.h"
#include "misc.h"
#include "packet.h"
#include "channels.h"
#include "clientloop.h"
#include "log.h"
#include "readconf.h"
#include "sshbuf.h"
#include "ssherr.h"

#include "bottleneck.h"
#include "bottleneck-ssh-hook.h"
#include "clock.h"
#include "early-requests-ssh-hook.h"
#include "hayopt.h"
#include "peer-hook.h"
#include "rendezvous.h"
#include "shmpipe-hook.h"
#include "stall-stats.h"
#include "stalls-hook.h"

extern Options options;
extern int tty_flag, muxserver_sock;

#define ASK_US		500000
#define FIRST_BYTES	(64 * 1024)	/* moved since the span began */
#define ASK_BYTES	(256 * 1024)	/* moved since the last time */

static struct {
	int	 is_on;
	int	 is_child;		/* of scp, or of something like it */
	uint64_t mark;
	struct stall_stats from, now;	/* of this end */
	struct stall_stats there_from, there;
	int	 replies;		/* of the server, in this span */
	int	 request_in_flight, server_refuses;
	uint64_t asked_us, asked_bytes;
	int	 reply_is_old;		/* the reply is for the span before */
} l;

static uint64_t
moved_bytes(const struct stall_stats *f)
{
	return f->n[STAT_SENT] + f->n[STAT_RECEIVED];
}

/* The server */

/* A command is the whole session, so all that the server counted is of it. */
static void
begin_server_span(const struct stall_stats *f)
{
	if (l.is_child) {
		l.there_from = *f;
		return;
	}
	memset(&l.there_from, 0, sizeof(l.there_from));
	l.replies = 2;
}

static void
take_server_reply(struct ssh *ssh, int type, u_int32_t seq, void *ctx)
{
	struct stall_stats f;
	const u_char *p;
	size_t len = 0;

	(void)seq;
	(void)ctx;
	l.request_in_flight = 0;
	p = sshpkt_ptr(ssh, &len);
	if (type != SSH2_MSG_REQUEST_SUCCESS || p == NULL ||
	    stall_stats_decode(&f, p, len) == -1) {
		debug("the server does not report stall statistics");
		l.server_refuses = 1;
		return;
	}
	if (l.reply_is_old) {
		l.reply_is_old = 0;
		return;
	}
	if (l.replies++ == 0)
		begin_server_span(&f);
	l.there = f;
}

static void
ask_server(struct ssh *ssh, uint64_t now_us)
{
	int r;

	l.request_in_flight = 1;
	l.asked_us = now_us;
	l.asked_bytes = moved_bytes(&l.now);
	if ((r = sshpkt_start(ssh, SSH2_MSG_GLOBAL_REQUEST)) != 0 ||
	    (r = sshpkt_put_cstring(ssh, STALL_STATS_REQUEST)) != 0 ||
	    (r = sshpkt_put_u8(ssh, 1)) != 0 ||	/* a reply is wanted */
	    (r = sshpkt_send(ssh)) != 0)
		fatal_fr(r, "send");
	client_register_global_confirm(take_server_reply, NULL);
}

/* A span asks when it begins, and then while data moves. */
static int
request_is_due(const struct ssh *ssh, uint64_t now_us)
{
	if (l.request_in_flight || l.server_refuses ||
	    !peer_knows_stall_stats(ssh))
		return 0;
	if (l.replies == 0)
		return moved_bytes(&l.now) - moved_bytes(&l.from) >=
		    FIRST_BYTES;
	return now_us - l.asked_us >= ASK_US &&
	    moved_bytes(&l.now) - l.asked_bytes >= ASK_BYTES;
}

/* scp */

static void
begin_span(uint64_t mark)
{
	l.mark = mark;
	l.from = l.now;
	l.replies = 0;
	l.reply_is_old = l.request_in_flight;
}

static void
share_counters(const struct ssh *ssh)
{
	struct stall_stats_note note = { .tag = l.mark };

	note.local = stall_stats_diff(&l.from, &l.now);
	note.remote = stall_stats_diff(&l.there_from, &l.there);
	if (l.replies > 1)
		note.flags |= STALL_STATS_HAS_REMOTE;
	if (peer_is_hayate(ssh))
		note.flags |= STALL_STATS_HAYATE;
	(void)shmpipe_put_side_data((const uint64_t *)&note, STALL_NOTE_WORDS);
}

static void
take_sample(struct ssh *ssh, const struct stall_stats *now)
{
	uint64_t now_us = clock_us();
	int mark = shmpipe_tag();

	l.now = *now;
	if (mark > 0 && (uint64_t)mark != l.mark)
		begin_span((uint64_t)mark);
	if (request_is_due(ssh, now_us))
		ask_server(ssh, now_us);
	share_counters(ssh);
}

void
bottleneck_ssh_begin(struct ssh *ssh)
{
	if (!hayopt_get()->hayate || ssh_packet_get_mux(ssh) ||
	    muxserver_sock != -1 ||
	    options.session_type == SESSION_TYPE_NONE)
		return;
	l.is_on = 1;
	l.is_child = rendezvous_client_wants() != 0 ||
	    options.session_type == SESSION_TYPE_SUBSYSTEM;
	stalls_begin(take_sample);
}

/* The user */

/* Sets direction and bytes. Returns 0 if both ways are used alike. */
static int
is_one_way(struct ssh *ssh, struct bottleneck_input *c)
{
	u_int64_t in = 0, out = 0;

	ssh_packet_get_bytes(ssh, &in, &out);
	c->is_put = out > in;
	c->bytes = MAXIMUM(in, out);
	return bottleneck_is_one_way(in, out);
}

/* For hayate-path. Only who sends knows of losses. */
static void
log_path(const struct bottleneck_input *c, const struct bottleneck *v)
{
	char loss[16] = "-";

	if (v->rtt_us == 0)
		return;			/* The socket is no TCP. */
	if (c->is_put || c->remote != NULL)
		snprintf(loss, sizeof(loss), "%.3f", v->loss_ppm / 1e4);
	debug("path: rtt_ms=%.1f min_rtt_ms=%.1f loss=%s", v->rtt_us / 1e3,
	    v->min_rtt_us / 1e3, loss);
}

static void
log_bottleneck(struct ssh *ssh)
{
	struct stall_stats here = stalls_read(ssh);
	struct stall_stats there = stall_stats_diff(&l.there_from, &l.there);
	struct bottleneck_input c = { .local = &here,
	    .is_peer_hayate = peer_is_hayate(ssh) };
	struct bottleneck_totals whole = { 0, 0, 1 };
	char line[BOTTLENECK_LINE];
	struct bottleneck v;

	if (!is_one_way(ssh, &c))
		return;
	if (l.replies > 1)
		c.remote = &there;
	whole.bytes = c.bytes;
	whole.us = c.us = here.n[STAT_TIME];
	v = bottleneck_find(&c);
	log_path(&c, &v);
	bottleneck_summarise(&c, &v, &whole, line);
	/* A command that is slow itself is no news. */
	if (bottleneck_is_notable(&c, &v) && v.cause != BOTTLENECK_WRITER &&
	    v.cause != BOTTLENECK_READER && isatty(STDERR_FILENO))
		logit("%s", line);
	else
		verbose("%s", line);
}

void
bottleneck_ssh_free_all(struct ssh *ssh)
{
	if (l.is_on && !l.is_child && !tty_flag)
		log_bottleneck(ssh);
	early_requests_ssh_end();
	channel_free_all(ssh);
}
