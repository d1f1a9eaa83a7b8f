/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See bottleneck.h for the idea. */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "minmax.h"
#include "bottleneck.h"

/* Percent of the time */
#define MAJOR		50	/* minimum of a cause */
#define BUSY		85	/* a process that runs, or wants to */
#define READER_MIN		30 /* a reader, with a second sign */

/* A copy with less cannot be analysed. */
#define LEAST_US	700000
#define LEAST_BYTES	(512 * 1024)
#define LEAST_SAMPLES	4
#define LEAST_RESENT	3

/*
 * Sizes for the advice on sysctl. The kernel enlarges a buffer only as far as
 * it is used, so the advice is for a path of 10 Gbit/s: a sender that a buffer
 * limits cannot know what the path carries.
 */
#define BUFFER_LEAST	(16 * 1024 * 1024)
#define BUFFER_MOST	(1024 * 1024 * 1024)
#define BUFFER_RATE	1250000000ULL	/* bytes per second */

static unsigned int
percent_of(const struct stall_stats *f, enum stall_stat which)
{
	return f == NULL ? 0 : stall_stats_percent(f, which);
}

static int
set_cause(struct bottleneck *v, enum bottleneck_cause cause, int is_remote,
    unsigned int percent)
{
	v->cause = cause;
	v->is_remote = is_remote;
	v->percent = percent;
	return 1;
}

/* The other direction of a copy has less than one part in this number. */
#define ONE_WAY		4

int
bottleneck_is_one_way(uint64_t sent, uint64_t received)
{
	return min_u64(sent, received) < max_u64(sent, received) / ONE_WAY;
}

/* The ssh or sshd that sends the data, and the one that receives it */
static const struct stall_stats *
sending_ssh(const struct bottleneck_input *c)
{
	return c->is_put ? c->local : c->remote;
}

static const struct stall_stats *
receiving_ssh(const struct bottleneck_input *c)
{
	return c->is_put ? c->remote : c->local;
}

static const struct stall_stats *
source_files(const struct bottleneck_input *c)
{
	return c->is_put ? c->local_files : c->remote_files;
}

static const struct stall_stats *
target_files(const struct bottleneck_input *c)
{
	return c->is_put ? c->remote_files : c->local_files;
}

/* Records a process that has a processor all of the time, or wants one. */
static void
check_cpu(struct bottleneck *v, const struct stall_stats *f, int is_remote,
    int is_files)
{
	unsigned int percent, queue;

	if (f == NULL)
		return;
	queue = percent_of(f, STAT_WAIT_CPU);
	percent = percent_of(f, STAT_CPU) + queue;
	if (percent < BUSY || percent <= v->percent)
		return;
	set_cause(v, BOTTLENECK_CPU, is_remote, percent > 100 ? 100 : percent);
	v->is_files = is_files;
	v->lacks_cpu = queue > percent_of(f, STAT_CPU);
}

static int
find_cpu(const struct bottleneck_input *c, struct bottleneck *v)
{
	check_cpu(v, c->local, 0, 0);
	check_cpu(v, c->remote, 1, 0);
	check_cpu(v, c->local_files, 0, 1);
	check_cpu(v, c->remote_files, 1, 1);
	return v->cause == BOTTLENECK_CPU;
}

static unsigned int
disk_percent(const struct stall_stats *f, enum stall_stat which)
{
	struct stall_stats disk;
	uint64_t other;

	if (f == NULL)
		return 0;
	disk = *f;
	other = f->n[STAT_CPU] + f->n[STAT_WAIT_CPU];
	disk.n[which] -= min_u64(disk.n[which], other);
	return stall_stats_percent(&disk, which);
}

/* A disk that is read is the bottleneck only if the network waits for it. */
static int
find_disk(const struct bottleneck_input *c, struct bottleneck *v)
{
	unsigned int reads = disk_percent(source_files(c), STAT_FILE_READ);
	unsigned int writes = disk_percent(target_files(c), STAT_FILE_WRITE);

	if (percent_of(sending_ssh(c), STAT_WAIT_TCP) >= MAJOR ||
	    percent_of(sending_ssh(c), STAT_WAIT_WINDOW) >= MAJOR)
		reads = 0;
	if (writes >= MAJOR && writes >= reads)
		return set_cause(v, BOTTLENECK_DISK_WRITE, c->is_put, writes);
	if (reads >= MAJOR)
		return set_cause(v, BOTTLENECK_DISK_READ, !c->is_put, reads);
	return 0;
}

/*
 * Returns the bytes that the path holds without a queue, at the rate of the
 * copy.
 */
static uint64_t
path_bytes(const struct bottleneck_input *c, const struct bottleneck *v)
{
	return stall_stats_scale(c->bytes, v->min_rtt_us, c->us);
}

/* Returns 1 if there is a standing queue: the path carries no more. */
static int
has_standing_queue(const struct bottleneck *v)
{
	return v->rtt_us > v->min_rtt_us + v->min_rtt_us / 2 + 5000;
}

/* Returns 1 if the RTT shows that packets are queued somewhere. */
static int
has_some_queue(const struct bottleneck *v)
{
	return v->rtt_us > v->min_rtt_us + v->min_rtt_us / 8;
}

static unsigned int
percent_of_samples(const struct stall_stats *f, enum stall_stat which)
{
	return (unsigned int)min_u64(100, stall_stats_scale(f->n[which], 100,
	    f->n[STAT_SAMPLES]));
}

/*
 * Loss leaves Reno 1.22 segments in an RTT, divided by the root of the share
 * that is lost, and cubic not much more on long paths.
 */
static int
is_loss_limited(const struct bottleneck_input *c, const struct stall_stats *f,
    const struct bottleneck *v)
{
	double rate = (double)c->bytes / (double)c->us, each;

	if (f->n[STAT_LOSS_TOLERANT] != 0)
		return 0;
	if (f->n[STAT_RESENT] < LEAST_RESENT || v->loss_ppm == 0 ||
	    v->min_rtt_us == 0 || v->rtt_us > v->min_rtt_us * 13 / 10)
		return 0;
	each = 1.22 * (double)f->n[STAT_MSS] / (double)v->rtt_us;
	return rate * rate * v->loss_ppm / 1e6 < 9 * each * each;
}

/* The sender waits for TCP: finds out which part of TCP limits. */
static int
find_in_tcp(const struct bottleneck_input *c, const struct stall_stats *f,
    struct bottleneck *v, unsigned int percent)
{
	uint64_t samples = f->n[STAT_SAMPLES];
	int from = !c->is_put, to = c->is_put;
	unsigned int full;

	if (samples < LEAST_SAMPLES)
		return set_cause(v, BOTTLENECK_PATH_OR_PEER, 1, percent);
	full = percent_of_samples(f, STAT_RWND_FULL);
	if (f->n[STAT_MAX_RATE] != 0 && stall_stats_rate(f, STAT_SENT) >=
	    f->n[STAT_MAX_RATE] / 10 * 8) {
		v->amount = f->n[STAT_MAX_RATE];
		return set_cause(v, BOTTLENECK_MAX_RATE, from, percent);
	}
	if (is_loss_limited(c, f, v))
		return set_cause(v, BOTTLENECK_LOSS, c->is_put, percent);
	if (has_standing_queue(v))
		return set_cause(v, BOTTLENECK_PATH, c->is_put, percent);
	if (full >= MAJOR) {
		/* A slow reader shuts the window as well. */
		if (2 * path_bytes(c, v) < f->n[STAT_TCP_RWND])
			return set_cause(v, BOTTLENECK_PATH_OR_PEER, to,
			    percent);
		v->amount = f->n[STAT_TCP_RWND];
		return set_cause(v, BOTTLENECK_RECEIVE_BUFFER, to, full);
	}
	full = percent_of_samples(f, STAT_SNDBUF_FULL);
	if (full >= MAJOR)
		return set_cause(v, BOTTLENECK_SEND_BUFFER, from, full);
	/* Without a queue TCP has not found out what the path carries. */
	return (f->n[STAT_LOSS_TOLERANT] || has_some_queue(v)) &&
	    set_cause(v, BOTTLENECK_PATH, c->is_put, percent);
}

/* The sender waits for the peer's window. */
static int
find_in_window(const struct bottleneck_input *c, const struct stall_stats *f,
    struct bottleneck *v, unsigned int percent)
{
	unsigned int reader = percent_of(receiving_ssh(c), STAT_WAIT_OUTPUT);

	if (v->min_rtt_us != 0 &&
	    2 * path_bytes(c, v) > f->n[STAT_PEER_WINDOW]) {
		if (has_some_queue(v))
			return set_cause(v, BOTTLENECK_PATH, c->is_put,
			    percent);
		v->amount = f->n[STAT_PEER_WINDOW];
		return set_cause(v, BOTTLENECK_WINDOW, c->is_put, percent);
	}
	if (reader >= READER_MIN)
		return set_cause(v, BOTTLENECK_READER, c->is_put, reader);
	return set_cause(v, BOTTLENECK_PATH_OR_PEER, 1, percent);
}

/*
 * Returns 1 if the path fills the window. Ours is mostly twice what the path
 * holds.
 */
static int
fills_path(const struct bottleneck_input *c, const struct bottleneck *v,
    uint64_t window)
{
	return window != 0 && path_bytes(c, v) >= window / 10 * 8;
}

static int
find_requests(const struct bottleneck_input *c, struct bottleneck *v,
    unsigned int percent)
{
	if (!c->is_files || !fills_path(c, v, c->requests))
		return 0;
	v->amount = c->requests;
	return set_cause(v, BOTTLENECK_REQUESTS, 0, percent);
}

/* The sender has nothing to send. */
static int
find_in_input(const struct bottleneck_input *c, struct bottleneck *v,
    unsigned int percent)
{
	if (find_requests(c, v, percent))
		return 1;
	if (!c->is_files)
		return set_cause(v, BOTTLENECK_WRITER, !c->is_put, percent);
	/*
	 * Local: scp itself waits for replies. Remote: sftp-server has not
	 * reported.
	 */
	if (c->remote_files == NULL)
		return set_cause(v, BOTTLENECK_PATH_OR_PEER, 1, percent);
	return 0;
}

static int
find_sender(const struct bottleneck_input *c, struct bottleneck *v)
{
	const struct stall_stats *f = sending_ssh(c);
	unsigned int tcp = percent_of(f, STAT_WAIT_TCP);
	unsigned int window = percent_of(f, STAT_WAIT_WINDOW);
	unsigned int input = percent_of(f, STAT_WAIT_INPUT);

	if (f == NULL)
		return 0;
	if (tcp >= MAJOR)
		return find_in_tcp(c, f, v, tcp);
	/* A window that is more than the path holds is not the limit. */
	if (tcp + window >= MAJOR && has_standing_queue(v))
		return set_cause(v, BOTTLENECK_PATH, c->is_put, tcp + window);
	if (window >= MAJOR)
		return find_in_window(c, f, v, window);
	if (input >= MAJOR)
		return find_in_input(c, v, input);
	return 0;
}

/* This end receives, and the peer has not reported. */
static int
find_receiver(const struct bottleneck_input *c, struct bottleneck *v)
{
	const struct stall_stats *f = c->local;
	unsigned int percent = percent_of(f, STAT_WAIT_NET);

	if (c->is_put || f == NULL || c->remote != NULL || percent < MAJOR)
		return 0;
	if (find_requests(c, v, percent))
		return 1;
	if (fills_path(c, v, f->n[STAT_OWN_WINDOW])) {
		if (has_some_queue(v))
			return set_cause(v, BOTTLENECK_PATH, 0, percent);
		v->amount = f->n[STAT_OWN_WINDOW];
		return set_cause(v, BOTTLENECK_WINDOW, 0, percent);
	}
	return set_cause(v, BOTTLENECK_PATH_OR_PEER, 1, percent);
}

static int
find_reader(const struct bottleneck_input *c, struct bottleneck *v)
{
	unsigned int percent = percent_of(receiving_ssh(c), STAT_WAIT_OUTPUT);

	return percent >= MAJOR &&
	    set_cause(v, BOTTLENECK_READER, c->is_put, percent);
}

/*
 * Reads the state of the path from the sender's readings, whose RTT includes
 * queues.
 */
static void
read_path(const struct bottleneck_input *c, struct bottleneck *v)
{
	const struct stall_stats *f = sending_ssh(c) != NULL ? sending_ssh(c) :
	    c->local;

	if (f == NULL || f->n[STAT_SAMPLES] == 0)
		return;
	v->min_rtt_us = f->n[STAT_MIN_RTT];
	v->rtt_us = f->n[STAT_RTT_SUM] / f->n[STAT_SAMPLES];
	if (f->n[STAT_SEGMENTS] != 0)
		v->loss_ppm = (unsigned int)min_u64(1000000,
		    stall_stats_scale(f->n[STAT_RESENT], 1000000,
		    f->n[STAT_SEGMENTS]));
}

/*
 * Returns 1 for a plausible reading of a peer that covers half of the time or
 * more.
 */
static int
is_usable(const struct bottleneck_input *c, const struct stall_stats *f)
{
	return f != NULL && stall_stats_are_plausible(f) &&
	    f->n[STAT_TIME] >= c->us / 2;
}

struct bottleneck
bottleneck_find(const struct bottleneck_input *all)
{
	struct bottleneck v = { .cause = BOTTLENECK_NONE };
	struct bottleneck_input usable = *all;
	const struct bottleneck_input *c = &usable;

	if (!is_usable(all, all->remote))
		usable.remote = NULL;
	if (!is_usable(all, all->remote_files))
		usable.remote_files = NULL;
	read_path(c, &v);
	if (c->us < LEAST_US || c->bytes < LEAST_BYTES)
		return v;
	(void)(find_disk(c, &v) || find_cpu(c, &v) || find_reader(c, &v) ||
	    find_sender(c, &v) || find_receiver(c, &v));
	return v;
}

static const struct {
	const char *name, *local, *remote;
} texts[] = {
	[BOTTLENECK_NONE] = { "none", "no single cause", "no single cause" },
	[BOTTLENECK_PATH_OR_PEER] = { "path-or-peer", "the path or %s",
	    "the path or %s" },
	[BOTTLENECK_DISK_READ] = { "disk-read", "disk read here",
	    "disk read by %s" },
	[BOTTLENECK_DISK_WRITE] = { "disk-write", "disk write here",
	    "disk write by %s" },
	[BOTTLENECK_WRITER] = { "writer",
	    "the program here that supplies the data",
	    "the program at %s that supplies the data" },
	[BOTTLENECK_READER] = { "reader",
	    "the program here that reads the data",
	    "the program at %s that reads the data" },
	[BOTTLENECK_CPU] = { "cpu", "the processor here",
	    "the processor of %s" },
	[BOTTLENECK_WINDOW] = { "window", "the window here",
	    "the window of %s" },
	[BOTTLENECK_REQUESTS] = { "requests",
	    "the requests in flight that you allow", "the requests of %s" },
	[BOTTLENECK_PATH] = { "path", "the path", "the path" },
	[BOTTLENECK_LOSS] = { "loss", "packet loss", "packet loss" },
	[BOTTLENECK_SEND_BUFFER] = { "send-buffer", "the TCP send buffer here",
	    "the TCP send buffer of %s" },
	[BOTTLENECK_RECEIVE_BUFFER] = { "receive-buffer",
	    "the TCP receive buffer here", "the TCP receive buffer of %s" },
	[BOTTLENECK_MAX_RATE] = { "max-rate", "MaxRate here", "MaxRate of %s" },
};

const char *
bottleneck_name(const struct bottleneck *v)
{
	return texts[v->cause].name;
}

/*
 * Returns the advised buffer size: room for four times as much, and for twice
 * what a fast path of this length holds, because half of a buffer is the
 * window; rounded up to a power of two.
 */
static uint64_t
wanted_buffer(const struct bottleneck_input *c, const struct bottleneck *v)
{
	uint64_t fast = stall_stats_scale(BUFFER_RATE, v->min_rtt_us, 1000000);
	uint64_t want = max_u64(4 * path_bytes(c, v), 2 * fast);
	uint64_t bytes = BUFFER_LEAST;

	while (bytes < want && bytes < BUFFER_MOST)
		bytes *= 2;
	return bytes;
}

/* Returns the end whose setting has to change: "here" or "there". */
static const char *
side_name(const struct bottleneck *v)
{
	return v->is_remote ? "there" : "here";
}

#define ADVICE	160

/* Writes the advice about a window or the processor. */
static void
advise_setting(const struct bottleneck_input *c, const struct bottleneck *v,
    char out[ADVICE])
{
	if (v->cause == BOTTLENECK_CPU && v->lacks_cpu)
		snprintf(out, ADVICE, "other programs or a CPU quota use it");
	else if (v->cause == BOTTLENECK_CPU && v->is_files)
		snprintf(out, ADVICE, "-j 4 uses more processors");
	else if (v->cause == BOTTLENECK_CPU)
		snprintf(out, ADVICE, "try another cipher "
		    "(-c aes128-gcm@openssh.com) or CipherThreads");
	else if (!v->is_remote || c->is_peer_hayate)
		snprintf(out, ADVICE, "raise WindowMax %s, and leave "
		    "WindowTuning on", side_name(v));
	else
		snprintf(out, ADVICE, "stock OpenSSH cannot change it; %s",
		    c->is_files ? "-j 4 uses several" :
		    "scp -j 4 uses several");
}

static void
advise(const struct bottleneck_input *c, const struct bottleneck *v,
    char out[ADVICE])
{
	const char *end = side_name(v);
	unsigned long long bytes = wanted_buffer(c, v);

	*out = '\0';
	if (v->cause == BOTTLENECK_CPU || v->cause == BOTTLENECK_WINDOW)
		advise_setting(c, v, out);
	else if (v->cause == BOTTLENECK_LOSS)
		snprintf(out, ADVICE, "CongestionControl bbr %s, or -j 4",
		    c->is_put ? "here" : "there");
	else if (v->cause == BOTTLENECK_SEND_BUFFER)
		snprintf(out, ADVICE, "sysctl net.ipv4.tcp_wmem=\"4096 16384 "
		    "%llu\" %s", bytes, end);
	else if (v->cause == BOTTLENECK_RECEIVE_BUFFER)
		snprintf(out, ADVICE, "sysctl net.ipv4.tcp_rmem=\"4096 131072 "
		    "%llu\" %s", bytes, end);
	else if (v->cause == BOTTLENECK_MAX_RATE)
		snprintf(out, ADVICE, "raise it in %s",
		    v->is_remote ? "sshd_config there" : "ssh_config");
	else if (v->cause == BOTTLENECK_REQUESTS)
		snprintf(out, ADVICE, "leave out -R, -B and -X");
	else if (v->cause == BOTTLENECK_DISK_READ ||
	    v->cause == BOTTLENECK_DISK_WRITE)
		snprintf(out, ADVICE, "network settings do not help");
	else if (v->cause == BOTTLENECK_PATH)
		snprintf(out, ADVICE, "its capacity is used up");
	else if (v->cause == BOTTLENECK_PATH_OR_PEER && c->local != NULL &&
	    c->local->n[STAT_SAMPLES] == 0)
		snprintf(out, ADVICE, "ssh does not see it through ProxyJump "
		    "or ProxyCommand");
}

/* Writes the numbers that belong to a cause; returns the length. */
static int
describe_detail(const struct bottleneck *v, char *out, size_t room)
{
	double ms = v->min_rtt_us / 1e3, mib = v->amount / 1048576.0;

	if (v->cause == BOTTLENECK_WINDOW || v->cause == BOTTLENECK_REQUESTS)
		return snprintf(out, room, ", %.1f MiB in each %.1f ms", mib,
		    ms);
	if (v->cause == BOTTLENECK_PATH && v->min_rtt_us != 0)
		return snprintf(out, room, ", RTT %.1f ms, now %.1f ms", ms,
		    v->rtt_us / 1e3);
	if (v->cause == BOTTLENECK_LOSS)
		return snprintf(out, room, ", %.3f %% at %.1f ms",
		    v->loss_ppm / 1e4, ms);
	if (v->cause == BOTTLENECK_MAX_RATE)
		return snprintf(out, room, ", %.1f MB/s", v->amount / 1e6);
	return 0;
}

size_t
bottleneck_describe(const struct bottleneck_input *c,
    const struct bottleneck *v, char text[BOTTLENECK_TEXT])
{
	const char *form = v->is_remote ? texts[v->cause].remote :
	    texts[v->cause].local;
	const char *at = strstr(form, "%s");
	char advice[ADVICE];
	size_t n;

	n = (size_t)snprintf(text, BOTTLENECK_TEXT, "%.*s%s%s",
	    at == NULL ? (int)strlen(form) : (int)(at - form), form,
	    at == NULL ? "" : "the server", at == NULL ? "" : at + 2);
	n += (size_t)describe_detail(v, text + n, BOTTLENECK_TEXT - n);
	if (v->cause != BOTTLENECK_NONE)
		n += (size_t)snprintf(text + n, BOTTLENECK_TEXT - n,
		    " (%u %% of the time)", v->percent);
	advise(c, v, advice);
	if (*advice != '\0' && n < BOTTLENECK_TEXT)
		n += (size_t)snprintf(text + n, BOTTLENECK_TEXT - n, "; %s",
		    advice);
	return min_u64(n, BOTTLENECK_TEXT - 1);
}

void
bottleneck_summarise(const struct bottleneck_input *c,
    const struct bottleneck *v, const struct bottleneck_totals *whole,
    char line[BOTTLENECK_LINE])
{
	char text[BOTTLENECK_TEXT], which[48] = "";
	double s = whole->us / 1e6;

	(void)bottleneck_describe(c, v, text);
	if (whole->connections > 1)
		snprintf(which, sizeof(which), " of the first of %u "
		    "connections", whole->connections);
	snprintf(line, BOTTLENECK_LINE, "%.1f MiB in %.1f s, %.1f MB/s. "
	    "Limit%s: %s", whole->bytes / 1048576.0, s,
	    s > 0 ? whole->bytes / s / 1e6 : 0, which, text);
}

int
bottleneck_is_notable(const struct bottleneck_input *c,
    const struct bottleneck *v)
{
	const struct stall_stats *f = sending_ssh(c) != NULL ? sending_ssh(c) :
	    c->local;

	return f != NULL && v->cause != BOTTLENECK_NONE &&
	    v->cause != BOTTLENECK_PATH_OR_PEER &&
	    c->us > BOTTLENECK_NOTABLE_US &&
	    c->bytes * 1e6 / c->us < f->n[STAT_BEST_RATE] / 2.0;
}
