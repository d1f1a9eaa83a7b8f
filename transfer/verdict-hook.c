/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See verdict-hook.h. */

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

#include "clock.h"
#include "file-hook.h"
#include "stall-stats.h"
#include "shmpipe-hook.h"
#include "json.h"
#include "report-hook.h"
#include "server-hook.h"
#include "usage.h"
#include "bottleneck.h"
#include "verdict-hook.h"

/* How often the SFTP server is asked, and from how much on */
#define ASK_US		500000
#define ASK_BYTES	(64 * 1024)
#define LEFT_US		1000000

#define SLOW_LINE	256

_Static_assert(UNEVEN_MOST >= LINKS_MOST, "each connection has a place");

static int
fd_of(const struct run *t)
{
	return server_get_conn(t->server)->fd_in;
}

/* Sets what grew since the copy began. */
static void
read_own(const struct run *t, struct stall_stats *f)
{
	struct stall_stats now = t->files;

	now.n[STAT_TIME] = clock_us();
	/* Time in calls says nothing if that without a processor is unknown. */
	if (!usage_read(&now))
		now.n[STAT_FILE_READ] = now.n[STAT_FILE_WRITE] = 0;
	*f = stall_stats_diff(&t->files_from, &now);
}

void
verdict_begin(struct run *t)
{
	static unsigned int last;

	memset(&t->files, 0, sizeof(t->files));
	memset(&t->files_from, 0, sizeof(t->files_from));
	(void)usage_read(&t->files_from);
	memset(&t->uneven, 0, sizeof(t->uneven));
	t->files_from.n[STAT_TIME] = clock_us();
	server_ask_again(t->server);
	t->mark = ++last;
	shmpipe_set_tag(fd_of(t), last);
}

/* For so long, as it seems, that no copy has to wait for the last answer */
static int
goes_on(const struct run *t, uint64_t now_us)
{
	uint64_t left = t->count.bytes_known -
	    MINIMUM(t->count.bytes_known, t->count.bytes);

	return stall_stats_scale(left, now_us - t->files_from.n[STAT_TIME],
	    t->moved) >= LEFT_US;
}

void
verdict_tick(struct run *t)
{
	uint64_t now_us;

	if (t->moved >= ASK_BYTES && t->to_conn == NULL) {
		now_us = clock_us();
		if (now_us - t->asked_us >= ASK_US && goes_on(t, now_us)) {
			server_ask_figures(t->server, t->team.link[0]);
			t->asked_us = now_us;
		}
	}
	if (t->team.kind == LINKS_LOGINS)
		t->width = MAXIMUM(t->width, links_size(&t->team));
}

/* Channels of one connection share what it carries. */
void
verdict_acked(struct run *t, const struct plan_action *a, uint32_t len)
{
	if ((a->op == PLAN_READ || a->op == PLAN_WRITE) &&
	    t->to_conn == NULL && t->team.kind == LINKS_LOGINS)
		uneven_acked(&t->uneven, a->lane, t->team.host[a->lane], len,
		    a->sent, clock_us());
}

uint64_t
verdict_call(void)
{
	return clock_us();
}

void
verdict_has_read(struct run *t, uint64_t begun_us)
{
	t->files.n[STAT_FILE_READ] += clock_us() - begun_us;
}

void
verdict_has_written(struct run *t, uint64_t begun_us)
{
	t->files.n[STAT_FILE_WRITE] += clock_us() - begun_us;
}

/* The report */

/* The host that the connection went to; NULL: there is one for all. */
static const char *
host_of(const struct run *t, unsigned int i)
{
	return hosts_name(&t->team.kept->hosts, t->uneven.of[i].host);
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
has_place(const struct bottleneck *v)
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
compose_links(const struct run *t)
{
	struct sshbuf *b = sshbuf_new();
	const char *host;
	unsigned int i;
	char *all;
	int r = b == NULL ? SSH_ERR_ALLOC_FAIL : 0;

	for (i = 0; r == 0 && t->width > 1 && i < UNEVEN_MOST; i++) {
		if (t->uneven.of[i].busy_us == 0)
			continue;
		host = host_of(t, i);
		r = sshbuf_putf(b, sshbuf_len(b) == 0 ? "\"links\":[{" : ",{");
		if (r == 0 && host != NULL)
			r = put_host(b, host);
		if (r == 0)
			r = sshbuf_putf(b, "\"bytes\":%llu,\"busy_s\":%.3f}",
			    (unsigned long long)t->uneven.of[i].bytes,
			    t->uneven.of[i].busy_us / 1e6);
	}
	if (r == 0 && sshbuf_len(b) != 0)
		r = sshbuf_put(b, "],", 2);
	if (r != 0 || (all = sshbuf_dup_string(b)) == NULL)
		fatal_f("no memory");
	sshbuf_free(b);
	return all;
}

static void
put_in_report(const struct run *t, const struct bottleneck_input *c,
    const struct bottleneck *v, const struct bottleneck_totals *whole)
{
	char here[160], there[160], at[64] = "", path[80] = "";
	char *links = compose_links(t), *object;

	if (has_place(v))
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
compose_slow(const struct run *t, uint64_t us, char *out, size_t room)
{
	uint64_t rate, others;
	const char *host;
	int i;

	*out = '\0';
	if (t->width < 2 ||
	    (i = uneven_slowest(&t->uneven, us, &rate, &others)) == -1)
		return 0;
	host = host_of(t, (unsigned int)i);
	snprintf(out, room, ". Connection %d%s%.100s is slow: %.1f MB/s, the "
	    "others %.1f MB/s", i + 1, host == NULL ? "" : " to ",
	    host == NULL ? "" : host, rate / 1e6, others / 1e6);
	return 1;
}

static void
say(const struct run *t, struct bottleneck_input *c,
    const struct bottleneck_totals *whole)
{
	char line[BOTTLENECK_LINE], slow[SLOW_LINE];
	struct bottleneck v;
	int is_news = compose_slow(t, whole->us, slow, sizeof(slow)) &&
	    whole->us > BOTTLENECK_NOTABLE_US;

	/* One of several connections is judged by what it has moved. */
	if (whole->connections > 1)
		c->bytes = c->local->n[t->side->is_put ? STAT_SENT :
		    STAT_RECEIVED];
	v = bottleneck_find(c);
	bottleneck_summarise(c, &v, whole, line);
	if ((is_news || bottleneck_is_notable(c, &v)) && isatty(STDERR_FILENO))
		logit("%s%s", line, slow);
	else
		verbose("%s%s", line, slow);
	put_in_report(t, c, &v, whole);
}

void
verdict_end(struct run *t)
{
	struct stall_stats_note note;
	struct stall_stats files, server;
	struct bottleneck_totals whole = { .bytes = t->moved,
	    .connections = t->width > 1 ? t->width : 1 };
	struct bottleneck_input c = { .is_put = t->side->is_put, .is_files = 1,
	    .local = &note.local, .local_files = &files };

	if (t->to_conn != NULL || t->moved == 0 ||
	    shmpipe_get_side_data(fd_of(t), (uint64_t *)&note,
	    STALL_NOTE_WORDS) == -1 || note.tag != t->mark)
		return;
	read_own(t, &files);
	c.bytes = whole.bytes;
	c.us = whole.us = files.n[STAT_TIME];
	c.is_peer_hayate = (note.flags & STALL_STATS_HAYATE) != 0;
	if ((note.flags & STALL_STATS_HAS_REMOTE) != 0)
		c.remote = &note.remote;
	if (server_told(t->server, &server) > 1)
		c.remote_files = &server;
	if (!server_is_tuned(t->server))
		c.requests = t->window[0];
	say(t, &c, &whole);
}
