/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See bottleneck-hook.h. */

#include "includes.h"

#include <sys/types.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log.h"
#include "misc.h"
#include "sshbuf.h"
#include "ssherr.h"
#include "xmalloc.h"

#include "bottleneck.h"
#include "bottleneck-hook.h"
#include "clock.h"
#include "file-hook.h"
#include "json.h"
#include "report-hook.h"
#include "server-hook.h"
#include "shmpipe-hook.h"
#include "stall-stats.h"
#include "usage.h"

/* How often the SFTP server is asked, and from how much on */
#define ASK_US		500000
#define ASK_BYTES	(64 * 1024)
#define LEFT_US		1000000

#define SLOW_LINE	256

_Static_assert(SLOW_CONN_MAX >= CONNS_MAX, "each connection has a place");

static int
ssh_fd(const struct transfer *t)
{
	return server_info(t->server)->conn.fd_in;
}

/* Sets what grew since the copy began. */
static void
read_own_counters(const struct transfer *t, struct stall_stats *f)
{
	struct stall_stats now = t->files;

	now.n[STAT_TIME] = clock_us();
	/* Time in calls says nothing if that without a processor is unknown. */
	if (!usage_read(&now))
		now.n[STAT_FILE_READ] = now.n[STAT_FILE_WRITE] = 0;
	*f = stall_stats_diff(&t->files_from, &now);
}

void
bottleneck_begin(struct transfer *t)
{
	static unsigned int last;

	memset(&t->files, 0, sizeof(t->files));
	memset(&t->files_from, 0, sizeof(t->files_from));
	(void)usage_read(&t->files_from);
	memset(&t->slow_conn, 0, sizeof(t->slow_conn));
	t->files_from.n[STAT_TIME] = clock_us();
	server_reset_figures(t->server);
	t->span_tag = ++last;
	shmpipe_set_tag(ssh_fd(t), last);
}

/* For so long, as it seems, that no copy has to wait for the last answer */
static int
will_last(const struct transfer *t, uint64_t now_us)
{
	uint64_t left = t->count.bytes_known -
	    MINIMUM(t->count.bytes_known, t->count.bytes);

	return stall_stats_scale(left, now_us - t->files_from.n[STAT_TIME],
	    t->moved) >= LEFT_US;
}

void
bottleneck_tick(struct transfer *t)
{
	uint64_t now_us;

	if (t->moved >= ASK_BYTES && t->dest_conn == NULL) {
		now_us = clock_us();
		if (now_us - t->figures_us >= ASK_US && will_last(t, now_us)) {
			server_ask_figures(t->server,
			    t->conns.stream[t->conns.main]);
			t->figures_us = now_us;
		}
	}
	if (t->conns.kind == CONNS_LOGINS)
		t->width = MAXIMUM(t->width, conns_established(&t->conns));
}

/* Channels of one connection share what it carries. */
void
bottleneck_acked(struct transfer *t, const struct sched_action *a, uint32_t len)
{
	if ((a->op == OP_READ || a->op == OP_WRITE) &&
	    t->dest_conn == NULL && t->conns.kind == CONNS_LOGINS)
		slow_conn_acked(&t->slow_conn, a->conn, t->conns.host[a->conn],
		    len, a->sent_us, clock_us());
}

void
bottleneck_count_read(struct transfer *t, uint64_t begun_us)
{
	t->files.n[STAT_FILE_READ] += clock_us() - begun_us;
}

void
bottleneck_count_written(struct transfer *t, uint64_t begun_us)
{
	t->files.n[STAT_FILE_WRITE] += clock_us() - begun_us;
}

/* The report */

/* The host that the connection went to; NULL: there is one for all. */
static const char *
host_of_conn(const struct transfer *t, unsigned int i)
{
	return conns_host_name(t->conns.kept, t->slow_conn.of[i].host);
}

/* Shares of the time of one end, in percent; "" if it has not told */
static void
compose_waits(char *out, size_t room, const char *name,
    const struct stall_stats *f)
{
	*out = '\0';
	if (f == NULL)
		return;
	snprintf(out, room, "\"%s\":{\"tcp\":%u,\"window\":%u,\"input\":%u,"
	    "\"output\":%u,\"net\":%u,\"cpu\":%u,\"runq\":%u}", name,
	    stall_stats_percent(f, STAT_WAIT_TCP),
	    stall_stats_percent(f, STAT_WAIT_WINDOW),
	    stall_stats_percent(f, STAT_WAIT_INPUT),
	    stall_stats_percent(f, STAT_WAIT_OUTPUT),
	    stall_stats_percent(f, STAT_WAIT_NET),
	    stall_stats_percent(f, STAT_CPU),
	    stall_stats_percent(f, STAT_WAIT_CPU));
}

static int
names_end(const struct bottleneck *v)
{
	return v->cause != BOTTLENECK_NONE &&
	    v->cause != BOTTLENECK_PATH_OR_PEER &&
	    v->cause != BOTTLENECK_PATH && v->cause != BOTTLENECK_LOSS;
}

/* "host":"NAME", with what has to stand in its way escaped */
static int
put_host(struct sshbuf *b, const char *name)
{
	char *text = xmalloc(JSON_BYTE * strlen(name) + 1);
	int r;

	(void)json_escape(text, name);
	r = sshbuf_putf(b, "\"host\":\"%s\",", text);
	free(text);
	return r;
}

/*
 * What each of several connections has carried, and for how long it had
 * something to do; "" if there was one. The caller frees it.
 */
static char *
compose_conns(const struct transfer *t)
{
	struct sshbuf *b = sshbuf_new();
	const char *host;
	unsigned int i;
	char *all;
	int r = b == NULL ? SSH_ERR_ALLOC_FAIL : 0;

	for (i = 0; r == 0 && t->width > 1 && i < SLOW_CONN_MAX; i++) {
		if (t->slow_conn.of[i].busy_us == 0)
			continue;
		host = host_of_conn(t, i);
		r = sshbuf_putf(b, sshbuf_len(b) == 0 ? "\"links\":[{" : ",{");
		if (r == 0 && host != NULL)
			r = put_host(b, host);
		if (r == 0)
			r = sshbuf_putf(b, "\"bytes\":%llu,\"busy_s\":%.3f}",
			    (unsigned long long)t->slow_conn.of[i].bytes,
			    t->slow_conn.of[i].busy_us / 1e6);
	}
	if (r == 0 && sshbuf_len(b) != 0)
		r = sshbuf_put(b, "],", 2);
	if (r != 0 || (all = sshbuf_dup_string(b)) == NULL)
		fatal_f("no memory");
	sshbuf_free(b);
	return all;
}

static void
add_to_report(const struct transfer *t, const struct bottleneck_input *c,
    const struct bottleneck *v, const struct bottleneck_totals *whole)
{
	char here[160], there[160], at[64] = "", path[80] = "";
	char *links = compose_conns(t), *object;

	if (names_end(v))
		snprintf(at, sizeof(at), "\"at\":\"%s\",%s",
		    v->is_remote ? "there" : "here",
		    v->cause != BOTTLENECK_CPU ? "" : v->is_files ?
		    "\"process\":\"files\"," : "\"process\":\"ssh\",");
	/* Behind a proxy the socket is no TCP. */
	if (v->rtt_us != 0)
		snprintf(path, sizeof(path), "\"rtt_ms\":%.1f,"
		    "\"rtt_now_ms\":%.1f,\"loss\":%.6f,",
		    v->min_rtt_us / 1e3, v->rtt_us / 1e3, v->loss_ppm / 1e6);
	compose_waits(here, sizeof(here), "here", c->local);
	compose_waits(there, sizeof(there), "there", c->remote);
	xasprintf(&object, "{\"name\":\"%s\",%s\"share\":%.2f,"
	    "\"peer_told\":%s,\"connections\":%u,%s%s\"waits\":{%s%s%s}}",
	    bottleneck_name(v), at, v->percent / 100.0,
	    c->remote != NULL ? "true" : "false", whole->connections, links,
	    path, here, *there != '\0' ? "," : "", there);
	report_limit(object, whole->bytes);
	free(object);
	free(links);
}

/* The end */

/* Names a slow connection of several; "" if there is none. */
static int
compose_slow(const struct transfer *t, uint64_t us, char *out, size_t room)
{
	uint64_t rate, others;
	const char *host;
	int i;

	*out = '\0';
	if (t->width < 2 ||
	    (i = slow_conn_find(&t->slow_conn, us, &rate, &others)) == -1)
		return 0;
	host = host_of_conn(t, (unsigned int)i);
	snprintf(out, room, ". Connection %d%s%.100s is slow: %.1f MB/s, the "
	    "others %.1f MB/s", i + 1, host == NULL ? "" : " to ",
	    host == NULL ? "" : host, rate / 1e6, others / 1e6);
	return 1;
}

static void
print_bottleneck(const struct transfer *t, struct bottleneck_input *c,
    const struct bottleneck_totals *whole)
{
	char line[BOTTLENECK_LINE], slow[SLOW_LINE];
	struct bottleneck v;
	int is_news = compose_slow(t, whole->us, slow, sizeof(slow)) &&
	    whole->us > BOTTLENECK_NOTABLE_US;

	/* One of several connections is judged by what it has moved. */
	if (whole->connections > 1)
		c->bytes = c->local->n[t->ops->is_put ? STAT_SENT :
		    STAT_RECEIVED];
	v = bottleneck_find(c);
	bottleneck_summarise(c, &v, whole, line);
	if ((is_news || bottleneck_is_notable(c, &v)) && isatty(STDERR_FILENO))
		logit("%s%s", line, slow);
	else
		verbose("%s%s", line, slow);
	add_to_report(t, c, &v, whole);
}

void
bottleneck_end(struct transfer *t)
{
	struct stall_stats_note note;
	struct stall_stats files, server;
	struct bottleneck_totals whole = { .bytes = t->moved,
	    .connections = t->width > 1 ? t->width : 1 };
	struct bottleneck_input c = { .is_put = t->ops->is_put, .is_files = 1,
	    .local = &note.local, .local_files = &files };

	if (t->dest_conn != NULL || t->moved == 0 ||
	    shmpipe_get_side_data(ssh_fd(t), (uint64_t *)&note,
	    STALL_NOTE_WORDS) == -1 || note.tag != t->span_tag)
		return;
	read_own_counters(t, &files);
	c.bytes = whole.bytes;
	c.us = whole.us = files.n[STAT_TIME];
	c.is_peer_hayate = (note.flags & STALL_STATS_HAYATE) != 0;
	if ((note.flags & STALL_STATS_HAS_REMOTE) != 0)
		c.remote = &note.remote;
	if (server_get_figures(t->server, &server) > 1)
		c.remote_files = &server;
	if (!server_info(t->server)->is_tuned)
		c.requests = t->window[0];
	print_bottleneck(t, &c, &whole);
}
