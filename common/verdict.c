/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See verdict.h for the idea. */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "minmax.h"
#include "verdict.h"

/* Percent of the time */
#define MAJOR		50	/* what names a limit */
#define BUSY		85	/* a process that runs, or wants to */
#define MUCH		30	/* of a reader, where more speaks for it */

/* Less says nothing. */
#define LEAST_US	700000
#define LEAST_BYTES	(512 * 1024)
#define LEAST_SAMPLES	4
#define LEAST_RESENT	3

/*
 * What sysctl takes. The kernel enlarges a buffer only as far as it is used, so
 * the advice is for a path of 10 Gbit/s: who is limited by a buffer cannot know
 * what the path carries.
 */
#define BUFFER_LEAST	(16 * 1024 * 1024)
#define BUFFER_MOST	(1024 * 1024 * 1024)
#define BUFFER_RATE	1250000000ULL	/* bytes per second */

static unsigned int
share(const struct figures *f, enum figure which)
{
	return f == NULL ? 0 : figures_share(f, which);
}

static int
decide(struct verdict *v, enum limit limit, int is_there, unsigned int percent)
{
	v->limit = limit;
	v->is_there = is_there;
	v->share = percent;
	return 1;
}

/* The other way of a copy has less than one part in so many. */
#define ONE_WAY		4

int
verdict_is_one_way(uint64_t sent, uint64_t received)
{
	return min_u64(sent, received) < max_u64(sent, received) / ONE_WAY;
}

/* Who has the data at first, and who gets it */
static const struct figures *
sender(const struct verdict_case *c)
{
	return c->is_put ? c->here : c->there;
}

static const struct figures *
receiver(const struct verdict_case *c)
{
	return c->is_put ? c->there : c->here;
}

static const struct figures *
source(const struct verdict_case *c)
{
	return c->is_put ? c->files_here : c->files_there;
}

static const struct figures *
target(const struct verdict_case *c)
{
	return c->is_put ? c->files_there : c->files_here;
}

/* A process that has a processor all of the time, or wants one */
static void
look_at_cpu(struct verdict *v, const struct figures *f, int is_there,
    int is_files)
{
	unsigned int percent, queue;

	if (f == NULL)
		return;
	queue = share(f, FIGURE_QUEUE);
	percent = share(f, FIGURE_CPU) + queue;
	if (percent < BUSY || percent <= v->share)
		return;
	decide(v, LIMIT_CPU, is_there, percent > 100 ? 100 : percent);
	v->is_files = is_files;
	v->is_queue = queue > share(f, FIGURE_CPU);
}

static int
is_cpu(const struct verdict_case *c, struct verdict *v)
{
	look_at_cpu(v, c->here, 0, 0);
	look_at_cpu(v, c->there, 1, 0);
	look_at_cpu(v, c->files_here, 0, 1);
	look_at_cpu(v, c->files_there, 1, 1);
	return v->limit == LIMIT_CPU;
}

static unsigned int
disk_share(const struct figures *f, enum figure which)
{
	struct figures disk;
	uint64_t other;

	if (f == NULL)
		return 0;
	disk = *f;
	other = f->n[FIGURE_CPU] + f->n[FIGURE_QUEUE];
	disk.n[which] -= min_u64(disk.n[which], other);
	return figures_share(&disk, which);
}

/* A disk that is read is the limit only if the network waits for it. */
static int
is_disk(const struct verdict_case *c, struct verdict *v)
{
	unsigned int reads = disk_share(source(c), FIGURE_READ);
	unsigned int writes = disk_share(target(c), FIGURE_WRITE);

	if (share(sender(c), FIGURE_TCP) >= MAJOR ||
	    share(sender(c), FIGURE_WINDOW) >= MAJOR)
		reads = 0;
	if (writes >= MAJOR && writes >= reads)
		return decide(v, LIMIT_DISK_WRITE, c->is_put, writes);
	if (reads >= MAJOR)
		return decide(v, LIMIT_DISK_READ, !c->is_put, reads);
	return 0;
}

/* Bytes that the path holds without a queue, at the rate of the copy */
static uint64_t
held(const struct verdict_case *c, const struct verdict *v)
{
	return figures_scale(c->bytes, v->min_rtt_us, c->us);
}

/* A queue stands on the path: it carries no more. */
static int
is_queued(const struct verdict *v)
{
	return v->rtt_us > v->min_rtt_us + v->min_rtt_us / 2 + 5000;
}

/* As much as shows that packets wait somewhere */
static int
has_queue(const struct verdict *v)
{
	return v->rtt_us > v->min_rtt_us + v->min_rtt_us / 8;
}

static unsigned int
of_samples(const struct figures *f, enum figure which)
{
	return (unsigned int)min_u64(100, figures_scale(f->n[which], 100,
	    f->n[FIGURE_SAMPLES]));
}

/*
 * Loss leaves Reno 1.22 segments in an RTT, divided by the root of the share
 * that is lost, and cubic not much more on long paths.
 */
static int
is_loss(const struct verdict_case *c, const struct figures *f,
    const struct verdict *v)
{
	double rate = (double)c->bytes / (double)c->us, each;

	if (f->n[FIGURE_BEARS_LOSS] != 0)
		return 0;
	if (f->n[FIGURE_RESENT] < LEAST_RESENT || v->loss_ppm == 0 ||
	    v->min_rtt_us == 0 || v->rtt_us > v->min_rtt_us * 13 / 10)
		return 0;
	each = 1.22 * (double)f->n[FIGURE_MSS] / (double)v->rtt_us;
	return rate * rate * v->loss_ppm / 1e6 < 9 * each * each;
}

/* The sender waits for TCP. */
static int
split_tcp(const struct verdict_case *c, const struct figures *f,
    struct verdict *v, unsigned int waits)
{
	uint64_t samples = f->n[FIGURE_SAMPLES];
	int from = !c->is_put, to = c->is_put;
	unsigned int full;

	if (samples < LEAST_SAMPLES)
		return decide(v, LIMIT_UNTOLD, 1, waits);
	full = of_samples(f, FIGURE_AT_WINDOW);
	if (f->n[FIGURE_MAX_RATE] != 0 && figures_rate(f, FIGURE_SENT) >=
	    f->n[FIGURE_MAX_RATE] / 10 * 8) {
		v->amount = f->n[FIGURE_MAX_RATE];
		return decide(v, LIMIT_MAX_RATE, from, waits);
	}
	if (is_loss(c, f, v))
		return decide(v, LIMIT_LOSS, c->is_put, waits);
	if (is_queued(v))
		return decide(v, LIMIT_PATH, c->is_put, waits);
	if (full >= MAJOR) {
		/* Who reads slowly shuts the window as well. */
		if (2 * held(c, v) < f->n[FIGURE_TCP_WINDOW])
			return decide(v, LIMIT_UNTOLD, to, waits);
		v->amount = f->n[FIGURE_TCP_WINDOW];
		return decide(v, LIMIT_RECEIVE_BUFFER, to, full);
	}
	full = of_samples(f, FIGURE_AT_BUFFER);
	if (full >= MAJOR)
		return decide(v, LIMIT_SEND_BUFFER, from, full);
	/* Without a queue TCP has not found out what the path carries. */
	return (f->n[FIGURE_BEARS_LOSS] || has_queue(v)) &&
	    decide(v, LIMIT_PATH, c->is_put, waits);
}

/* The sender waits for the peer's window. */
static int
judge_window(const struct verdict_case *c, const struct figures *f,
    struct verdict *v, unsigned int waits)
{
	unsigned int reader = share(receiver(c), FIGURE_OUTPUT);

	if (v->min_rtt_us != 0 &&
	    2 * held(c, v) > f->n[FIGURE_PEER_WINDOW]) {
		v->amount = f->n[FIGURE_PEER_WINDOW];
		return decide(v, LIMIT_WINDOW, c->is_put, waits);
	}
	if (reader >= MUCH)
		return decide(v, LIMIT_READER, c->is_put, reader);
	return decide(v, LIMIT_UNTOLD, 1, waits);
}

/* A window that the path fills. Ours is mostly twice what the path holds. */
static int
is_full(const struct verdict_case *c, const struct verdict *v,
    uint64_t window)
{
	return window != 0 && held(c, v) >= window / 10 * 8;
}

static int
is_requests(const struct verdict_case *c, struct verdict *v,
    unsigned int percent)
{
	if (!c->is_files || !is_full(c, v, c->requests))
		return 0;
	v->amount = c->requests;
	return decide(v, LIMIT_REQUESTS, 0, percent);
}

/* The sender has nothing to send. */
static int
judge_input(const struct verdict_case *c, struct verdict *v,
    unsigned int waits)
{
	if (is_requests(c, v, waits))
		return 1;
	if (!c->is_files)
		return decide(v, LIMIT_WRITER, !c->is_put, waits);
	/* The file's process waits: for replies, if it is here. */
	if (c->files_there == NULL)
		return decide(v, LIMIT_UNTOLD, 1, waits);
	return 0;
}

static int
is_sender(const struct verdict_case *c, struct verdict *v)
{
	const struct figures *f = sender(c);
	unsigned int tcp = share(f, FIGURE_TCP);
	unsigned int window = share(f, FIGURE_WINDOW);
	unsigned int input = share(f, FIGURE_INPUT);

	if (f == NULL)
		return 0;
	if (tcp >= MAJOR)
		return split_tcp(c, f, v, tcp);
	/* A window that is more than the path holds is not the limit. */
	if (tcp + window >= MAJOR && is_queued(v))
		return decide(v, LIMIT_PATH, c->is_put, tcp + window);
	if (window >= MAJOR)
		return judge_window(c, f, v, window);
	if (input >= MAJOR)
		return judge_input(c, v, input);
	return 0;
}

/* Only this end has told, and it receives. */
static int
is_receiver(const struct verdict_case *c, struct verdict *v)
{
	const struct figures *f = c->here;
	unsigned int waits = share(f, FIGURE_NET);

	if (c->is_put || f == NULL || c->there != NULL || waits < MAJOR)
		return 0;
	if (is_requests(c, v, waits))
		return 1;
	if (is_full(c, v, f->n[FIGURE_OWN_WINDOW])) {
		v->amount = f->n[FIGURE_OWN_WINDOW];
		return decide(v, LIMIT_WINDOW, 0, waits);
	}
	return decide(v, LIMIT_UNTOLD, 1, waits);
}

static int
is_reader(const struct verdict_case *c, struct verdict *v)
{
	unsigned int waits = share(receiver(c), FIGURE_OUTPUT);

	return waits >= MAJOR && decide(v, LIMIT_READER, c->is_put, waits);
}

/* What is known of the path: by the sender, whose RTT has the queues in it */
static void
look_at_path(const struct verdict_case *c, struct verdict *v)
{
	const struct figures *f = sender(c) != NULL ? sender(c) : c->here;

	if (f == NULL || f->n[FIGURE_SAMPLES] == 0)
		return;
	v->min_rtt_us = f->n[FIGURE_MIN_RTT];
	v->rtt_us = f->n[FIGURE_RTT_SUM] / f->n[FIGURE_SAMPLES];
	if (f->n[FIGURE_SEGMENTS] != 0)
		v->loss_ppm = (unsigned int)min_u64(1000000,
		    figures_scale(f->n[FIGURE_RESENT], 1000000,
		    f->n[FIGURE_SEGMENTS]));
}

/* What a peer has told: it can be, and is of half of the time at least. */
static int
is_good(const struct verdict_case *c, const struct figures *f)
{
	return f != NULL && figures_are_sane(f) &&
	    f->n[FIGURE_TIME] >= c->us / 2;
}

struct verdict
verdict_of(const struct verdict_case *all)
{
	struct verdict v = { .limit = LIMIT_NONE };
	struct verdict_case believed = *all;
	const struct verdict_case *c = &believed;

	if (!is_good(all, all->there))
		believed.there = NULL;
	if (!is_good(all, all->files_there))
		believed.files_there = NULL;
	look_at_path(c, &v);
	if (c->us < LEAST_US || c->bytes < LEAST_BYTES)
		return v;
	(void)(is_disk(c, &v) || is_cpu(c, &v) || is_reader(c, &v) ||
	    is_sender(c, &v) || is_receiver(c, &v));
	return v;
}

static const struct {
	const char *name, *here, *there;
} texts[] = {
	[LIMIT_NONE] = { "none", "no single one", "no single one" },
	[LIMIT_UNTOLD] = { "path-or-peer", "the path or %s",
	    "the path or %s" },
	[LIMIT_DISK_READ] = { "disk-read", "disk read here",
	    "disk read by %s" },
	[LIMIT_DISK_WRITE] = { "disk-write", "disk write here",
	    "disk write by %s" },
	[LIMIT_WRITER] = { "writer", "what gives the data here",
	    "what gives the data to %s" },
	[LIMIT_READER] = { "reader", "what takes the data here",
	    "what takes the data from %s" },
	[LIMIT_CPU] = { "cpu", "the processor here",
	    "the processor of %s" },
	[LIMIT_WINDOW] = { "window", "the window here",
	    "the window of %s" },
	[LIMIT_REQUESTS] = { "requests", "the requests that you allow",
	    "the requests of %s" },
	[LIMIT_PATH] = { "path", "the path", "the path" },
	[LIMIT_LOSS] = { "loss", "packets that are lost",
	    "packets that are lost" },
	[LIMIT_SEND_BUFFER] = { "send-buffer", "the TCP send buffer here",
	    "the TCP send buffer of %s" },
	[LIMIT_RECEIVE_BUFFER] = { "receive-buffer",
	    "the TCP receive buffer here", "the TCP receive buffer of %s" },
	[LIMIT_MAX_RATE] = { "max-rate", "MaxRate here", "MaxRate of %s" },
};

const char *
verdict_name(const struct verdict *v)
{
	return texts[v->limit].name;
}

/*
 * A buffer that leaves room for four times as much, and for twice what a fast
 * path of this length holds, because half of a buffer is the window; as a power
 * of two
 */
static uint64_t
enough(const struct verdict_case *c, const struct verdict *v)
{
	uint64_t fast = figures_scale(BUFFER_RATE, v->min_rtt_us, 1000000);
	uint64_t want = max_u64(4 * held(c, v), 2 * fast);
	uint64_t bytes = BUFFER_LEAST;

	while (bytes < want && bytes < BUFFER_MOST)
		bytes *= 2;
	return bytes;
}

/* Who can change what the verdict names: "here" or "there" */
static const char *
place(const struct verdict *v)
{
	return v->is_there ? "there" : "here";
}

#define ADVICE	160

/* What a person can do about a window or the processor */
static void
advise_end(const struct verdict_case *c, const struct verdict *v,
    char out[ADVICE])
{
	if (v->limit == LIMIT_CPU && v->is_queue)
		snprintf(out, ADVICE, "other programs or a quota take it");
	else if (v->limit == LIMIT_CPU && v->is_files)
		snprintf(out, ADVICE, "-j 4 uses more processors");
	else if (v->limit == LIMIT_CPU)
		snprintf(out, ADVICE, "try another cipher "
		    "(-c aes128-gcm@openssh.com) or CipherThreads");
	else if (!v->is_there || c->is_peer_hayate)
		snprintf(out, ADVICE, "raise WindowMax %s, and leave "
		    "WindowTuning on", place(v));
	else
		snprintf(out, ADVICE, "stock OpenSSH cannot change it; %s",
		    c->is_files ? "-j 4 uses several" :
		    "scp -j 4 uses several");
}

static void
advise(const struct verdict_case *c, const struct verdict *v,
    char out[ADVICE])
{
	const char *end = place(v);
	unsigned long long bytes = enough(c, v);

	*out = '\0';
	if (v->limit == LIMIT_CPU || v->limit == LIMIT_WINDOW)
		advise_end(c, v, out);
	else if (v->limit == LIMIT_LOSS)
		snprintf(out, ADVICE, "CongestionControl bbr %s, or -j 4",
		    c->is_put ? "here" : "there");
	else if (v->limit == LIMIT_SEND_BUFFER)
		snprintf(out, ADVICE, "sysctl net.ipv4.tcp_wmem=\"4096 16384 "
		    "%llu\" %s", bytes, end);
	else if (v->limit == LIMIT_RECEIVE_BUFFER)
		snprintf(out, ADVICE, "sysctl net.ipv4.tcp_rmem=\"4096 131072 "
		    "%llu\" %s", bytes, end);
	else if (v->limit == LIMIT_MAX_RATE)
		snprintf(out, ADVICE, "raise it in %s",
		    v->is_there ? "sshd_config there" : "ssh_config");
	else if (v->limit == LIMIT_REQUESTS)
		snprintf(out, ADVICE, "leave out -R, -B and -X");
	else if (v->limit == LIMIT_DISK_READ || v->limit == LIMIT_DISK_WRITE)
		snprintf(out, ADVICE, "nothing of the network helps");
	else if (v->limit == LIMIT_PATH)
		snprintf(out, ADVICE, "it carries no more");
	else if (v->limit == LIMIT_UNTOLD && c->here != NULL &&
	    c->here->n[FIGURE_SAMPLES] == 0)
		snprintf(out, ADVICE, "ssh does not see it through ProxyJump "
		    "or ProxyCommand");
}

/* Figures that belong to a name; returns the length. */
static int
put_detail(const struct verdict *v, char *out, size_t room)
{
	double ms = v->min_rtt_us / 1e3, mib = v->amount / 1048576.0;

	if (v->limit == LIMIT_WINDOW || v->limit == LIMIT_REQUESTS)
		return snprintf(out, room, ", %.1f MiB in each %.1f ms", mib,
		    ms);
	if (v->limit == LIMIT_PATH && v->min_rtt_us != 0)
		return snprintf(out, room, ", RTT %.1f ms, now %.1f ms", ms,
		    v->rtt_us / 1e3);
	if (v->limit == LIMIT_LOSS)
		return snprintf(out, room, ", %.3f %% at %.1f ms",
		    v->loss_ppm / 1e4, ms);
	if (v->limit == LIMIT_MAX_RATE)
		return snprintf(out, room, ", %.1f MB/s", v->amount / 1e6);
	return 0;
}

size_t
verdict_text(const struct verdict_case *c, const struct verdict *v,
    char text[VERDICT_TEXT])
{
	const char *form = v->is_there ? texts[v->limit].there :
	    texts[v->limit].here;
	const char *at = strstr(form, "%s");
	char advice[ADVICE];
	size_t n;

	n = (size_t)snprintf(text, VERDICT_TEXT, "%.*s%s%s",
	    at == NULL ? (int)strlen(form) : (int)(at - form), form,
	    at == NULL ? "" : "the server", at == NULL ? "" : at + 2);
	n += (size_t)put_detail(v, text + n, VERDICT_TEXT - n);
	if (v->limit != LIMIT_NONE)
		n += (size_t)snprintf(text + n, VERDICT_TEXT - n,
		    " (%u %% of the time)", v->share);
	advise(c, v, advice);
	if (*advice != '\0' && n < VERDICT_TEXT)
		n += (size_t)snprintf(text + n, VERDICT_TEXT - n, "; %s",
		    advice);
	return min_u64(n, VERDICT_TEXT - 1);
}

void
verdict_line(const struct verdict_case *c, const struct verdict *v,
    const struct verdict_whole *whole, char line[VERDICT_LINE])
{
	char text[VERDICT_TEXT], which[48] = "";
	double s = whole->us / 1e6;

	(void)verdict_text(c, v, text);
	if (whole->connections > 1)
		snprintf(which, sizeof(which), " of the first of %u "
		    "connections", whole->connections);
	snprintf(line, VERDICT_LINE, "%.1f MiB in %.1f s, %.1f MB/s. "
	    "Limit%s: %s", whole->bytes / 1048576.0, s,
	    s > 0 ? whole->bytes / s / 1e6 : 0, which, text);
}

int
verdict_is_news(const struct verdict_case *c, const struct verdict *v)
{
	const struct figures *f = sender(c) != NULL ? sender(c) : c->here;

	return f != NULL && v->limit != LIMIT_NONE &&
	    v->limit != LIMIT_UNTOLD && c->us > VERDICT_NEWS_US &&
	    c->bytes * 1e6 / c->us < f->n[FIGURE_BEST] / 2.0;
}
