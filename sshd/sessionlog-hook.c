/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See sessionlog-hook.h for the format. */

#include "includes.h"

#include <sys/types.h>

#include <ctype.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define SYSLOG_NAMES
#include <syslog.h>

#include "dispatch.h"
#include "hostfile.h"
#include "auth.h"
#include "log.h"
#include "misc.h"
#include "packet.h"
#include "servconf.h"
#include "ssh2.h"
#include "sshbuf.h"
#include "xmalloc.h"

#include "authonly-hook.h"
#include "clock.h"
#include "figures.h"
#include "hayopt.h"
#include "journald.h"
#include "named-hook.h"
#include "peer-hook.h"
#include "pipeline-hook.h"
#include "sessionlog-hook.h"
#include "verdict.h"
#include "waits-hook.h"

#define FORMAT		1		/* the version of the line */

/* Kinds that are kept, those that are no subsystem, and bytes of one */
#define KINDS_MOST	16
#define KINDS_FIXED	5
#define KIND_LEN	32

extern ServerOptions options;
extern char *__progname;

static const Authctxt *user;		/* NULL: no line */
static char *from;
static int port;
static uint64_t begun_us;
static char *kinds[KINDS_MOST];
static size_t nkinds;

/* What was asked for */

static void
note(const char *kind)
{
	size_t i;
	char *p;

	if (user == NULL || nkinds == KINDS_MOST)
		return;
	for (i = 0; i < nkinds; i++) {
		if (strncmp(kinds[i], kind, KIND_LEN) == 0)
			return;
	}
	if ((kinds[nkinds] = strndup(kind, KIND_LEN)) == NULL)
		return;
	for (p = kinds[nkinds++]; *p != '\0'; p++)
		*p = *p == ',' ? '_' : *p;
}

void
sessionlog_request(const char *type)
{
	if (strcmp(type, "shell") == 0 || strcmp(type, "exec") == 0)
		note(type);
	else if (strcmp(type, "x11-req") == 0)
		note("x11");
	else if (strcmp(type, "auth-agent-req@openssh.com") == 0 ||
	    strcmp(type, "agent-req") == 0)	/* since 10.3 */
		note("agent");
}

void
sessionlog_subsystem(const char *name)
{
	if (nkinds < KINDS_MOST - KINDS_FIXED)
		note(name);
}

static dispatch_fn *next_open, *next_global;

static int
input_open(int type, u_int32_t seq, struct ssh *ssh)
{
	char *name = named_peek(ssh);

	if (name != NULL && strcmp(name, "session") != 0)
		note("forwarding");
	free(name);
	return next_open(type, seq, ssh);
}

static int
input_global(int type, u_int32_t seq, struct ssh *ssh)
{
	char *name = named_peek(ssh);

	if (name != NULL && (strcmp(name, "tcpip-forward") == 0 ||
	    strcmp(name, "streamlocal-forward@openssh.com") == 0))
		note("forwarding");
	free(name);
	return next_global(type, seq, ssh);
}

static void
see_requests(struct ssh *ssh)
{
	next_open = ssh->dispatch[SSH2_MSG_CHANNEL_OPEN];
	next_global = ssh->dispatch[SSH2_MSG_GLOBAL_REQUEST];
	ssh_dispatch_set(ssh, SSH2_MSG_CHANNEL_OPEN, input_open);
	ssh_dispatch_set(ssh, SSH2_MSG_GLOBAL_REQUEST, input_global);
}

void
sessionlog_begin(struct ssh *ssh, const struct Authctxt *authctxt)
{
	if (!hayopt_get()->session_log)
		return;
	user = authctxt;
	from = xstrdup(ssh_remote_ipaddr(ssh));
	port = ssh_remote_port(ssh);
	begun_us = clock_us();
	waits_begin(NULL);
	see_requests(ssh);
}

/* The line */

static void
put(struct sshbuf *b, const char *fmt, ...)
{
	va_list ap;
	int r;

	va_start(ap, fmt);
	if ((r = sshbuf_putfv(b, fmt, ap)) != 0)
		fatal_fr(r, "sshbuf_putfv");
	va_end(ap);
}

static void
put_text(struct sshbuf *b, const char *name, const char *value)
{
	size_t i;
	u_char c;

	put(b, " %s=", name);
	if (value == NULL || *value == '\0')
		value = "-";
	for (i = 0; (c = value[i]) != '\0'; i++)
		put(b, "%c", iscntrl(c) || strchr(" \"=", c) != NULL ?
		    '_' : c);
}

static void
put_kinds(struct sshbuf *b)
{
	struct sshbuf *all = sshbuf_new();
	char *text;
	size_t i;

	if (all == NULL)
		fatal_f("sshbuf_new failed");
	for (i = 0; i < nkinds; i++)
		put(all, "%s%s", i == 0 ? "" : ",", kinds[i]);
	if ((text = sshbuf_dup_string(all)) == NULL)
		fatal_f("out of memory");
	put_text(b, "what", nkinds == 0 ? "none" : text);
	free(text);
	sshbuf_free(all);
}

/* Milliseconds with one decimal, or "-" */
static void
put_ms(struct sshbuf *b, const char *name, uint64_t us)
{
	if (us == 0)
		put(b, " %s=-", name);
	else
		put(b, " %s=%.1f", name, us / 1e3);
}

static void
put_path(struct sshbuf *b, const struct figures *f)
{
	const uint64_t *n = f->n;

	put_ms(b, "rtt_ms", n[FIGURE_SAMPLES] == 0 ? 0 :
	    n[FIGURE_RTT_SUM] / n[FIGURE_SAMPLES]);
	put_ms(b, "min_rtt_ms", n[FIGURE_MIN_RTT]);
	put(b, " resent=%llu window=%llu",
	    (unsigned long long)n[FIGURE_RESENT],
	    (unsigned long long)n[FIGURE_OWN_WINDOW]);
}

static void
put_limit(struct sshbuf *b, struct ssh *ssh, const struct figures *f,
    uint64_t sent, uint64_t received)
{
	struct verdict_case c = { .is_put = sent > received, .here = f,
	    .bytes = MAXIMUM(sent, received), .us = f->n[FIGURE_TIME],
	    .is_peer_hayate = peer_is_hayate(ssh) };
	struct verdict v = verdict_of(&c);

	if (!verdict_is_one_way(sent, received)) {
		put(b, " limit=- share=-");
		return;
	}
	put_text(b, "limit", verdict_name(&v));
	put(b, " share=%u", v.share);
}

/* SyslogFacility, as syslog.h has it */
static int
facility(void)
{
	const char *name = log_facility_name(options.log_facility);
	const CODE *c;

	for (c = facilitynames; name != NULL && c->c_name != NULL; c++) {
		if (strcasecmp(c->c_name, name) == 0)
			return c->c_val;
	}
	return LOG_AUTH;
}

/* With its fields where they are kept, and else as any other line */
static void
log_line(const char *line)
{
	if (log_level_get() < SYSLOG_LEVEL_INFO || log_is_on_stderr() ||
	    journald_send(JOURNALD_SOCKET, __progname, facility(), line) == -1)
		logit("%s", line);
}

void
sessionlog_end(struct ssh *ssh)
{
	const char *mode = authonly_mode_in_force();
	struct figures f;
	struct sshbuf *b;
	u_int64_t in, out;
	char *line;

	if (user == NULL || (b = sshbuf_new()) == NULL)
		return;
	f = waits_read(ssh);
	pipeline_get_bytes(ssh, &in, &out);
	put(b, "Session %d:", FORMAT);
	put_text(b, "user", user->user);
	put_text(b, "from", from);
	put(b, " port=%d", port);
	put_kinds(b);
	put(b, " sent=%llu received=%llu seconds=%.1f",
	    (unsigned long long)out, (unsigned long long)in,
	    (clock_us() - begun_us) / 1e6);
	put_text(b, "cipher", authonly_cipher_in_force());
	put_text(b, "clear", mode == NULL ? "no" : "yes");
	put_path(b, &f);
	put_limit(b, ssh, &f, out, in);
	if ((line = sshbuf_dup_string(b)) != NULL)
		log_line(line);
	free(line);
	sshbuf_free(b);
	user = NULL;
}
