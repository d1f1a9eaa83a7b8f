/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See sessionlog-hook.h for the format. */

#include "includes.h"

#include <sys/types.h>
#include <sys/mman.h>

#include <ctype.h>
#include <errno.h>
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
#include "stall-stats.h"
#include "hayopt.h"
#include "journald.h"
#include "msgname-hook.h"
#include "peer-hook.h"
#include "pipeline-hook.h"
#include "sessionlog-hook.h"
#include "tcp-path.h"
#include "bottleneck.h"
#include "stalls-hook.h"

#define FORMAT		1		/* the version of the line */

/*
 * Number of kinds that are kept, number that are not subsystems, bytes of one
 */
#define KINDS_MAX	16
#define KINDS_FIXED	5
#define KIND_LEN	32

extern ServerOptions options;
extern char *__progname;

/*
 * The data that the process of the user leaves for the monitor, in memory that
 * both share. If the process is killed, the data so far remains.
 */
static struct record {
	char	 kinds[KINDS_MAX][KIND_LEN + 1];
	size_t	 nkinds;
	uint64_t granted, refused;

	int	 is_whole;		/* the rest is valid */
	int	 is_clear;
	char	 cipher[64], limit[32];	/* no limit: "" */
	unsigned int share;		/* percent */
	uint64_t sent, received, rtt_us, min_rtt_us, resent, window;
} *shared;				/* NULL: no line */

/* The monitor's own */
static struct {
	pid_t	 pid;
	const char *user;
	char	*from;
	int	 port, fd;
	uint64_t begun_us;
} watch;

/* Requests */

static void
add_kind(const char *kind)
{
	size_t i;
	char *p;

	if (shared == NULL || shared->nkinds == KINDS_MAX)
		return;
	for (i = 0; i < shared->nkinds; i++) {
		if (strncmp(shared->kinds[i], kind, KIND_LEN) == 0)
			return;
	}
	p = shared->kinds[i];
	strlcpy(p, kind, sizeof(shared->kinds[i]));
	for (; *p != '\0'; p++)
		*p = *p == ',' ? '_' : *p;
	shared->nkinds++;
}

void
sessionlog_request(const char *type)
{
	if (strcmp(type, "shell") == 0 || strcmp(type, "exec") == 0)
		add_kind(type);
	else if (strcmp(type, "x11-req") == 0)
		add_kind("x11");
	else if (strcmp(type, "auth-agent-req@openssh.com") == 0 ||
	    strcmp(type, "agent-req") == 0)	/* since 10.3 */
		add_kind("agent");
}

void
sessionlog_subsystem(const char *name)
{
	if (shared != NULL && shared->nkinds < KINDS_MAX - KINDS_FIXED)
		add_kind(name);
}

void
sessionlog_cleartext(int is_granted)
{
	if (shared != NULL && is_granted)
		shared->granted++;
	else if (shared != NULL)
		shared->refused++;
}

static dispatch_fn *next_open, *next_global;

static int
note_channel_open(int type, u_int32_t seq, struct ssh *ssh)
{
	char *name = msgname_peek(ssh);

	if (name != NULL && strcmp(name, "session") != 0)
		add_kind("forwarding");
	free(name);
	return next_open(type, seq, ssh);
}

static int
note_global_request(int type, u_int32_t seq, struct ssh *ssh)
{
	char *name = msgname_peek(ssh);

	if (name != NULL && (strcmp(name, "tcpip-forward") == 0 ||
	    strcmp(name, "streamlocal-forward@openssh.com") == 0))
		add_kind("forwarding");
	free(name);
	return next_global(type, seq, ssh);
}

static void
watch_requests(struct ssh *ssh)
{
	next_open = ssh->dispatch[SSH2_MSG_CHANNEL_OPEN];
	next_global = ssh->dispatch[SSH2_MSG_GLOBAL_REQUEST];
	ssh_dispatch_set(ssh, SSH2_MSG_CHANNEL_OPEN, note_channel_open);
	ssh_dispatch_set(ssh, SSH2_MSG_GLOBAL_REQUEST, note_global_request);
}

void
sessionlog_begin(struct ssh *ssh)
{
	if (shared == NULL)
		return;
	stalls_begin(NULL);
	watch_requests(ssh);
}

static void
record_bottleneck(struct ssh *ssh, const struct stall_stats *f)
{
	struct bottleneck_input c = { .is_put = shared->sent > shared->received,
	    .local = f, .bytes = MAXIMUM(shared->sent, shared->received),
	    .us = f->n[STAT_TIME], .is_peer_hayate = peer_is_hayate(ssh) };
	struct bottleneck v = bottleneck_find(&c);

	if (!bottleneck_is_one_way(shared->sent, shared->received))
		return;
	strlcpy(shared->limit, bottleneck_name(&v), sizeof(shared->limit));
	shared->share = v.percent;
}

/* Stores the totals at the end of the process of the user. */
static void
record_session(struct ssh *ssh)
{
	struct stall_stats f = stalls_read(ssh);
	const uint64_t *n = f.n;
	const char *cipher = authonly_cipher_in_force();
	u_int64_t in, out;

	pipeline_get_bytes(ssh, &in, &out);
	shared->sent = out;
	shared->received = in;
	strlcpy(shared->cipher, cipher == NULL ? "" : cipher,
	    sizeof(shared->cipher));
	shared->is_clear = authonly_mode_in_force() != NULL;
	shared->rtt_us = n[STAT_SAMPLES] == 0 ? 0 :
	    n[STAT_RTT_SUM] / n[STAT_SAMPLES];
	shared->min_rtt_us = n[STAT_MIN_RTT];
	shared->resent = n[STAT_RESENT];
	shared->window = n[STAT_OWN_WINDOW];
	record_bottleneck(ssh, &f);
	shared->is_whole = 1;
}

/* The line */

static void
append(struct sshbuf *b, const char *fmt, ...)
{
	va_list ap;
	int r;

	va_start(ap, fmt);
	if ((r = sshbuf_putfv(b, fmt, ap)) != 0)
		fatal_fr(r, "sshbuf_putfv");
	va_end(ap);
}

static void
append_text(struct sshbuf *b, const char *name, const char *value)
{
	size_t i;
	u_char c;

	append(b, " %s=", name);
	if (value == NULL || *value == '\0')
		value = "-";
	for (i = 0; (c = value[i]) != '\0'; i++)
		append(b, "%c", iscntrl(c) || strchr(" \"=", c) != NULL ?
		    '_' : c);
}

static void
append_kinds(struct sshbuf *b, struct record *r)
{
	char text[sizeof(r->kinds)] = "";
	size_t i;

	for (i = 0; i < r->nkinds && i < KINDS_MAX; i++) {
		r->kinds[i][KIND_LEN] = '\0';
		if (i > 0)
			strlcat(text, ",", sizeof(text));
		strlcat(text, r->kinds[i], sizeof(text));
	}
	append_text(b, "what", i == 0 ? "none" : text);
}

static void
append_number(struct sshbuf *b, const char *name, uint64_t n)
{
	append(b, " %s=%llu", name, (unsigned long long)n);
}

/* Milliseconds with one decimal, or "-" */
static void
append_ms(struct sshbuf *b, const char *name, uint64_t us)
{
	if (us == 0)
		append(b, " %s=-", name);
	else
		append(b, " %s=%.1f", name, us / 1e3);
}

/*
 * Appends bytes and time: the process's own, or the kernel's if it was killed.
 */
static void
append_amounts(struct sshbuf *b, const struct record *r)
{
	struct tcp_path path;

	if (r->is_whole) {
		append_number(b, "sent", r->sent);
		append_number(b, "received", r->received);
	} else if (tcp_path_read(watch.fd, &path) == 0) {
		append_number(b, "sent", path.acked);
		append_number(b, "received", path.received);
	} else
		append(b, " sent=- received=-");
	append(b, " seconds=%.1f", (clock_us() - watch.begun_us) / 1e6);
}

static void
append_transport(struct sshbuf *b, struct record *r)
{
	if (!r->is_whole) {
		append(b, " cipher=- clear=- rtt_ms=- min_rtt_ms=- resent=- "
		    "window=- limit=- share=-");
		return;
	}
	r->cipher[sizeof(r->cipher) - 1] = '\0';
	r->limit[sizeof(r->limit) - 1] = '\0';
	append_text(b, "cipher", r->cipher);
	append_text(b, "clear", r->is_clear ? "yes" : "no");
	append_ms(b, "rtt_ms", r->rtt_us);
	append_ms(b, "min_rtt_ms", r->min_rtt_us);
	if (r->rtt_us == 0)		/* TCP tells nothing */
		append(b, " resent=-");
	else
		append_number(b, "resent", r->resent);
	append_number(b, "window", r->window);
	append_text(b, "limit", r->limit);
	if (*r->limit == '\0')
		append(b, " share=-");
	else
		append_number(b, "share", r->share);
}

/* Returns SyslogFacility as a constant of syslog.h. */
static int
syslog_facility(void)
{
	const char *name = log_facility_name(options.log_facility);
	const CODE *c;

	for (c = facilitynames; name != NULL && c->c_name != NULL; c++) {
		if (strcasecmp(c->c_name, name) == 0)
			return c->c_val;
	}
	return LOG_AUTH;
}

/* Sends the line to journald with its fields, or else logs it as any other. */
static void
log_line(const char *line)
{
	if (log_level_get() < SYSLOG_LEVEL_INFO || log_is_on_stderr() ||
	    journald_send(JOURNALD_SOCKET, __progname, syslog_facility(),
	    line) == -1)
		logit("%s", line);
}

/*
 * Copies the shared data before it checks it, so that nobody can change it in
 * between.
 */
static void
write_session_line(void)
{
	struct record r;
	struct sshbuf *b;
	char *line;

	if ((b = sshbuf_new()) == NULL)
		return;
	memcpy(&r, shared, sizeof(r));
	shared = NULL;
	append(b, "Session %d:", FORMAT);
	append_text(b, "user", watch.user);
	append_text(b, "from", watch.from);
	append(b, " port=%d", watch.port);
	append_kinds(b, &r);
	append_amounts(b, &r);
	append_transport(b, &r);
	append_text(b, "end", r.is_whole ? "closed" : "killed");
	append_number(b, "granted", r.granted);
	append_number(b, "refused", r.refused);
	if ((line = sshbuf_dup_string(b)) != NULL)
		log_line(line);
	free(line);
	sshbuf_free(b);
}

void
sessionlog_end(struct ssh *ssh)
{
	if (shared == NULL)
		return;
	if (getpid() == watch.pid)
		write_session_line();
	else if (!shared->is_whole)
		record_session(ssh);
}

/* The monitor */

static void
end_at_exit(void)
{
	if (shared != NULL && getpid() == watch.pid)
		write_session_line();
}

void
sessionlog_share(void)
{
	void *memory;

	if (!hayopt_get()->session_log)
		return;
	if ((memory = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANON, -1, 0)) == MAP_FAILED)
		fatal_f("mmap: %s", strerror(errno));
	shared = memory;
}

void
sessionlog_watch(struct ssh *ssh, const struct Authctxt *authctxt)
{
	if (shared == NULL)
		return;
	watch.pid = getpid();
	watch.user = authctxt->user;
	watch.from = xstrdup(ssh_remote_ipaddr(ssh));
	watch.port = ssh_remote_port(ssh);
	watch.fd = ssh_packet_get_connection_in(ssh);
	watch.begun_us = clock_us();
	atexit(end_at_exit);
}
