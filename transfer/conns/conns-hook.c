/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See conns-hook.h for the idea. */

#include "includes.h"

#include <sys/types.h>
#include <sys/stat.h>

#include <ftw.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "log.h"
#include "misc.h"
#include "sftp.h"
#include "sshbuf.h"
#include "ssherr.h"
#include "xmalloc.h"

#include "clock.h"
#include "conns-hook.h"
#include "deferred-signals-hook.h"
#include "early-requests-hook.h"
#include "fs-identity-hook.h"
#include "hayopt.h"
#include "rendezvous.h"
#include "sftp-request-hook.h"
#include "sftp-stream-hook.h"
#include "shmpipe-hook.h"
#include "stall-stats.h"

/* Whether channels are wanted */

static int is_wanted = 1;

/* A larger tree is not looked at to its end: it may be large. */
#define ENTRIES_MAX	256

static off_t sum;
static int entries;

static int
add_size(const char *path, const struct stat *sb, int type, struct FTW *ftw)
{
	(void)path;
	(void)ftw;
	if (type == FTW_F && S_ISREG(sb->st_mode))
		sum += MINIMUM(sb->st_size, STRIPE_MIN_FILE);
	if (++entries == ENTRIES_MAX)
		sum = STRIPE_MIN_FILE;
	return sum >= STRIPE_MIN_FILE;
}

void
conns_estimate_upload(int argc, char **argv)
{
	int i;

	signals_begin();
	is_wanted = 0;
	if (argc < 2 || (colon(argv[argc - 1]) == NULL &&
	    strncasecmp(argv[argc - 1], "scp://", 6) != 0))
		return;
	for (i = 0; i < argc - 1 && sum < STRIPE_MIN_FILE; i++)
		(void)nftw(argv[i], add_size, 16, 0);
	is_wanted = sum >= STRIPE_MIN_FILE;
}

void
conns_announce(int fd)
{
	rendezvous_announce(fd, is_wanted, shmpipe_offer_ssh(fd),
	    early_requests_offer(fd));
}

/* Hosts */

/* The first name is as long as the user likes. */
#define NAMES_MAX	(HAYOPT_HOSTS_LEN + 1024)

/* Asks the first ssh, to which "fd" leads. Does nothing the second time. */
static void
begin_hosts(struct conns_kept *s, int fd)
{
	char names[NAMES_MAX], *rest = names, *name;

	if (s->nhosts > 0)
		return;
	if (rendezvous_hosts(fd, names, sizeof(names)) == -1) {
		s->nhosts = 1;
		return;
	}
	while (s->nhosts < HOSTS_MAX && (name = strsep(&rest, ",")) != NULL)
		s->hosts[s->nhosts++].name = xstrdup(name);
	verbose("connection 1 goes to %s", s->hosts[0].name);
}

int
conns_has_hosts(const struct conns_kept *s)
{
	return s->nhosts > 1;
}

const char *
conns_host_name(const struct conns_kept *s, unsigned int host)
{
	return host < s->nhosts ? s->hosts[host].name : NULL;
}

/* Returns the number of hosts that may be used, with the first. */
static unsigned int
usable_hosts(const struct conns_kept *s)
{
	unsigned int i, n = 1;

	for (i = 1; i < s->nhosts; i++)
		n += !s->hosts[i].is_excluded;
	return n;
}

/* "why" is NULL if the user knows already. */
static void
exclude_host(struct conns_kept *s, unsigned int host, const char *why)
{
	if (!s->hosts[host].is_excluded && why != NULL)
		logit("Host %s is left out: %s", s->hosts[host].name, why);
	s->hosts[host].is_excluded = 1;
}

/* What is kept of one server between transfers */

void
conns_drop_idle(struct conns_kept *s)
{
	while (s->nspare > 0)
		close(s->spare[--s->nspare].fd);
	while (s->nhosts > 0)
		free(s->hosts[--s->nhosts].name);
	memset(s->hosts, 0, sizeof(s->hosts));
}

static int
may_grow(const struct conns *t)
{
	int streams = rendezvous_offered_conns(t->main_fd);

	return (streams == 0 || streams > 1) &&
	    (!t->kept->is_refused || t->kept->nspare > 0 ||
	    conns_has_hosts(t->kept));
}

/*
 * A transfer could use more than one connection: if the user wants them and
 * they would need the user again, one line says so, once.
 */
static void
report_single_conn(struct conns *t)
{
	if (!t->kept->single_reported && rendezvous_is_single(t->main_fd))
		logit("Using one connection: further logins would prompt "
		    "again");
	t->kept->single_reported = 1;
}

/*
 * Takes one to the host that is up, if there is one: what is awaited may never
 * come. Returns -1 if there is none at all.
 */
static int
take_idle(struct conns_kept *s, unsigned int host, int *state)
{
	unsigned int i, best = s->nspare;
	int fd;

	for (i = 0; i < s->nspare; i++) {
		if (s->spare[i].host == host &&
		    (best == s->nspare || s->spare[best].state < 0))
			best = i;
	}
	if (best == s->nspare)
		return -1;
	*state = s->spare[best].state;
	fd = s->spare[best].fd;
	s->spare[best] = s->spare[--s->nspare];
	return fd;
}

static int
take_connection(struct conns *t, unsigned int host, int *state)
{
	int fd = take_idle(t->kept, host, state);

	if (fd != -1)
		return fd;
	*state = CONN_NEW;
	if (host == 0 && t->kept->is_refused)
		return -1;
	debug("asking for an additional connection%s%s",
	    conns_has_hosts(t->kept) ? " to " : "",
	    conns_has_hosts(t->kept) ? conns_host_name(t->kept, host) : "");
	return rendezvous_connect(t->main_fd, host);
}

/* It is no longer used. Nothing is in flight on it, but maybe VERSION. */
static void
keep_idle(struct conns_kept *s, int fd, int state, unsigned int host)
{
	if (s->nspare == CONN_COUNT_MAX || s->hosts[host].is_excluded) {
		close(fd);
		return;
	}
	s->spare[s->nspare].fd = fd;
	s->spare[s->nspare].host = host;
	s->spare[s->nspare++].state = state;
}

/* A connection ended before VERSION. Why a host is left out was said. */
static void
count_refused_conn(struct conns *t, unsigned int host)
{
	unsigned int has = conns_established(t);

	if (host != 0) {
		exclude_host(t->kept, host, NULL);
		return;
	}
	if (!t->kept->is_refused)
		verbose("an additional connection was refused; continuing with "
		    "%u", has);
	t->kept->is_refused = 1;
	conn_count_refused(&t->kept->conn_count, has);
}

void
conns_count_moved(struct conns *t, uint64_t bytes, uint64_t rest)
{
	struct conn_count *x = &t->kept->conn_count;
	unsigned int was = conn_count_wanted(x);

	conn_count_moved(x, bytes, rest, conns_established(t), clock_us());
	if (conn_count_wanted(x) != was &&
	    rendezvous_offered_conns(t->main_fd) == 0)
		debug("TransferStreams auto: now %u connections, not %u",
		    conn_count_wanted(x), was);
}

int
conns_parse_caps(struct sshbuf *m, int *offers)
{
	static const struct {
		const char *name, *value;	/* NULL: any */
		int	 bit;
	} known[] = { { "limits@openssh.com", "1", SFTP_CAP_LIMITS },
	    { "copy-data", "1", SFTP_CAP_COPY_DATA },
	    { "fstatvfs@openssh.com", "2", SFTP_CAP_FSTATVFS },
	    { "fsync@openssh.com", NULL, SFTP_CAP_FSYNC },
	    { STALL_STATS_REQUEST, NULL, SFTP_CAP_FIGURES },
	    { "check-file-name", NULL, SFTP_CAP_HASHES },
	    { "check-file", NULL, SFTP_CAP_HASHES },
	    { "versions", NULL, SFTP_CAP_HASHES } };
	char *name;
	u_char *value;
	int r;
	size_t i;

	*offers = SFTP_CAP_V3;
	while (sshbuf_len(m) > 0) {
		if ((r = sshbuf_get_cstring(m, &name, NULL)) != 0)
			return r;
		if ((r = sshbuf_get_string(m, &value, NULL)) != 0) {
			free(name);
			return r;
		}
		for (i = 0; i < sizeof(known) / sizeof(*known); i++) {
			if (strcmp(name, known[i].name) == 0 &&
			    (known[i].value == NULL ||
			    strcmp((char *)value, known[i].value) == 0))
				*offers |= known[i].bit;
		}
		free(name);
		free(value);
	}
	return 0;
}

int
conns_parse_version(struct sftp_stream *stream, struct sshbuf *m)
{
	u_char type;
	u_int version;
	int r, offers;

	if ((r = sshbuf_get_u8(m, &type)) != 0 ||
	    (r = sshbuf_get_u32(m, &version)) != 0)
		stream_fatal(stream, "parse version: %s", ssh_err(r));
	if (type != SSH2_FXP_VERSION)
		stream_fatal(stream, "Invalid packet back from SSH2_FXP_INIT "
		    "(type %u)", type);
	if (version != SSH2_FILEXFER_VERSION)
		return 0;
	if ((r = conns_parse_caps(m, &offers)) != 0)
		stream_fatal(stream, "parse extension: %s", ssh_err(r));
	return offers;
}

/* Transfers */

void
conns_begin(struct conns *t, int main_fd, struct conns_kept *kept,
    struct sftp_stream *stream, void (*before_fatal)(void *), void *arg)
{
	memset(t, 0, sizeof(*t));
	t->main_fd = main_fd;
	t->kept = kept;
	begin_hosts(kept, main_fd);
	t->stream[0] = stream;
	t->nslots = 1;
	t->state[0] = SFTP_CAP_V3;
	t->closed_to_new = !may_grow(t);
	t->before_fatal = before_fatal;
	t->arg = arg;
	conn_count_pause(&kept->conn_count);
}

static void
drop_conn(struct conns *t, unsigned int i)
{
	stream_free(t->stream[i]);
	t->stream[i] = NULL;
	t->is_proven[i] = 0;
	fs_check_free(t->fs_check[i]);
	t->fs_check[i] = NULL;
}

void
conns_end(struct conns *t)
{
	unsigned int i;
	int is_busy;

	fs_reference_free(t->fs_reference);
	t->fs_reference = NULL;
	for (i = 0; i < t->nslots; i++) {
		if (t->stream[i] == NULL || i == t->main)
			continue;
		is_busy = t->fs_check[i] != NULL;
		drop_conn(t, i);
		if (is_busy || t->kind == CONNS_CHANNELS)
			close(t->fd[i]);
		else
			keep_idle(t->kept, t->fd[i], t->state[i], t->host[i]);
	}
}

void
conns_abandon(struct conns *t)
{
	unsigned int i;

	fs_reference_free(t->fs_reference);
	t->fs_reference = NULL;
	for (i = 0; i < t->nslots; i++) {
		if (t->stream[i] == NULL || i == t->main)
			continue;
		drop_conn(t, i);
		close(t->fd[i]);
	}
	stream_free(t->stream[t->main]);
	t->stream[t->main] = NULL;
	conns_drop_idle(t->kept);
}

static void
switch_to_channels(struct conns *t)
{
	t->kind = CONNS_CHANNELS;
	t->channels_wanted = 1;
	t->closed_to_new = 0;
}

void
conns_use_channels(struct conns *t)
{
	t->may_use_channels = 1;
	if (rendezvous_offered_conns(t->main_fd) == 1)
		switch_to_channels(t);
}

/* None is asked for any more. Without any connection there may be channels. */
static void
stop_asking(struct conns *t, unsigned int host)
{
	t->closed_hosts |= 1U << host;
	if (conns_has_hosts(t->kept))
		return;
	t->closed_to_new = 1;
	if (t->may_use_channels && t->kind == CONNS_LOGINS &&
	    conns_established(t) == 1)
		switch_to_channels(t);
}

int
conns_is_established(const struct conns *t, unsigned int i)
{
	return t->stream[i] != NULL && t->state[i] >= 0 &&
	    (t->host[i] == 0 || t->is_proven[i]) &&
	    !stream_is_lost(t->stream[i]);
}

unsigned int
conns_established(const struct conns *t)
{
	unsigned int i, n = 0;

	for (i = 0; i < t->nslots; i++)
		n += conns_is_established(t, i);
	return n;
}

unsigned int
conns_to_other_hosts(const struct conns *t)
{
	unsigned int i, bits = 0;

	for (i = 1; i < t->nslots; i++) {
		if (t->stream[i] != NULL && t->host[i] != 0)
			bits |= 1U << i;
	}
	return bits;
}

static int
connect_slot(struct conns *t, unsigned int place)
{
	if (t->kind == CONNS_LOGINS)
		return take_connection(t, t->host[place], &t->state[place]);
	debug("asking for channel %u", place + 1);
	t->state[place] = CONN_NEW;
	return rendezvous_connect(t->main_fd, -1);
}

/* Returns 1 if connections may go to the host, now or later. */
static int
host_is_open(const struct conns *t, unsigned int host)
{
	return (t->closed_hosts >> host & 1) == 0 &&
	    !t->kept->hosts[host].is_excluded && (host > 0 ||
	    !t->kept->is_refused);
}

/*
 * Returns the host for the next connection: of those that have the fewest, one
 * where none is awaited; HOSTS_MAX: none now.
 */
static unsigned int
choose_host(const struct conns *t)
{
	unsigned int has[HOSTS_MAX] = { 0 }, waits = 0, fewest = CONNS_MAX;
	unsigned int i, n = t->kept->nhosts;

	for (i = 0; i < CONNS_MAX; i++) {
		if (t->stream[i] == NULL)
			continue;
		has[t->host[i]]++;
		if (i > 0 && !conns_is_established(t, i))
			waits |= 1U << t->host[i];
	}
	for (i = 0; i < n; i++) {
		if (host_is_open(t, i))
			fewest = MINIMUM(fewest, has[i]);
	}
	for (i = 0; i < n; i++) {
		if (host_is_open(t, i) && has[i] == fewest &&
		    (waits >> i & 1) == 0)
			return i;
	}
	return HOSTS_MAX;
}

/*
 * How many are wanted now, with the first. As many as there are hosts means one
 * to each that is left.
 */
static unsigned int
wanted_conns(const struct conns *t)
{
	int streams = rendezvous_offered_conns(t->main_fd);

	if (t->kind == CONNS_CHANNELS)
		return t->channels_wanted;
	if (streams == 0)
		return MINIMUM(CONN_COUNT_MAX, MAXIMUM(usable_hosts(t->kept),
		    conn_count_wanted(&t->kept->conn_count)));
	if (conns_has_hosts(t->kept) && streams == (int)t->kept->nhosts)
		return usable_hosts(t->kept);
	return streams == -1 ? 1 : MINIMUM(streams, CONN_COUNT_MAX);
}

/* Proofs */

/* The connection is dropped, and with it its host. */
static void
exclude_host_of(struct conns *t, unsigned int i, const char *why)
{
	exclude_host(t->kept, t->host[i], why);
	drop_conn(t, i);
	close(t->fd[i]);
}

/* Returns 1 if a proof is to come of the connection, or may be. */
static int
is_unproven(const struct conns *t, unsigned int i)
{
	return t->stream[i] != NULL && t->host[i] != 0 && !t->is_proven[i];
}

static void
begin_fs_reference(struct conns *t)
{
	struct fs_location where = { 0 };

	if (t->fs_reference == NULL && t->locate != NULL &&
	    !t->fs_checks_stopped && t->locate(t->arg, t->tries, &where) == 0)
		t->fs_reference = fs_reference_new(t->stream[t->main], &where);
}

/* So many places are tried. */
#define TRIES_MAX	8

/* It could not be made: there may be another place, or no host is proven. */
static void
try_next_location(struct conns *t, const char *why)
{
	struct fs_location where = { 0 };
	unsigned int i;
	int has_next = ++t->tries < TRIES_MAX && !t->fs_checks_stopped &&
	    t->locate(t->arg, t->tries, &where) == 0;

	for (i = 1; i < CONNS_MAX && !has_next && !t->fs_checks_stopped; i++) {
		if (is_unproven(t, i))
			exclude_host_of(t, i, why);
	}
}

static void
run_fs_check(struct conns *t, unsigned int i)
{
	const char *why;

	if (t->fs_check[i] == NULL && t->state[i] >= 0 && t->fs_reference !=
	    NULL && !fs_reference_is_stopped(t->fs_reference) &&
	    fs_reference_result(t->fs_reference, &why) == FS_IDENTITY_SAME)
		t->fs_check[i] = fs_check_new(t->stream[i], t->fs_reference);
	if (t->fs_check[i] == NULL ||
	    fs_check_result(t->fs_check[i], &why) == FS_IDENTITY_PENDING)
		return;
	if (fs_check_result(t->fs_check[i], &why) == FS_IDENTITY_FAILED) {
		exclude_host_of(t, i, why);
		return;
	}
	t->is_proven[i] = 1;
	verbose("connection %u goes to %s: %s", i + 1,
	    conns_host_name(t->kept, t->host[i]), why);
	debug("there are %u connections", conns_established(t));
	fs_check_free(t->fs_check[i]);
	t->fs_check[i] = NULL;
}

void
conns_run_fs_checks(struct conns *t)
{
	const char *why;
	unsigned int i, n = 0;
	int is_bad;

	for (i = 1; i < CONNS_MAX; i++) {
		if (is_unproven(t, i))
			run_fs_check(t, i);
		n += is_unproven(t, i);
	}
	if (n > 0)
		begin_fs_reference(t);
	if (t->fs_reference == NULL)
		return;
	if (n == 0)
		fs_reference_stop(t->fs_reference);
	is_bad = fs_reference_result(t->fs_reference, &why) ==
	    FS_IDENTITY_FAILED;
	if (fs_reference_in_flight(t->fs_reference) ||
	    (!is_bad && !fs_reference_is_stopped(t->fs_reference)))
		return;
	if (is_bad && n > 0)
		try_next_location(t, why);
	fs_reference_free(t->fs_reference);
	t->fs_reference = NULL;
}

void
conns_stop_fs_checks(struct conns *t)
{
	t->fs_checks_stopped = 1;
	if (t->fs_reference != NULL)
		fs_reference_stop(t->fs_reference);
}

int
conns_fs_check_in_flight(const struct conns *t)
{
	return t->fs_reference != NULL &&
	    fs_reference_in_flight(t->fs_reference);
}

const char *
conns_fs_temp_file(const struct conns *t)
{
	return t->fs_reference == NULL ? NULL :
	    fs_reference_temp_file(t->fs_reference);
}

/* A message was not due. Returns 1 if the connection may have none. */
static int
reject_message(struct conns *t, unsigned int i)
{
	if (i == 0 || !is_unproven(t, i))
		return 0;
	if (t->fs_check[i] != NULL)
		fs_check_fail(t->fs_check[i], "its SFTP server sent a reply to "
		    "no request");
	return 1;
}

/* Returns the place for one more connection; 0: none is to be asked for. */
static unsigned int
next_free_slot(struct conns *t)
{
	unsigned int i, n = 0, place = 0;

	for (i = 0; i < CONNS_MAX; i++) {
		if (t->stream[i] != NULL)
			n++;
		else if (place == 0)
			place = i;
	}
	if (t->closed_to_new || place == 0 || n >= wanted_conns(t))
		return 0;
	t->host[place] = 0;
	if (t->kind == CONNS_LOGINS &&
	    (t->host[place] = choose_host(t)) == HOSTS_MAX)
		return 0;
	return place;
}

/* Returns 1 if a connection was asked for. */
static int
ask_for_one(struct conns *t)
{
	struct sftp_stream_conf conf = { .may_end = 1,
	    .before_fatal = t->before_fatal, .arg = t->arg };
	unsigned int place = next_free_slot(t);

	if (place == 0)
		return 0;
	if (t->host[place] != 0)
		begin_fs_reference(t);
	t->fd[place] = connect_slot(t, place);
	if (t->fd[place] == -1) {
		stop_asking(t, t->host[place]);
		return 0;
	}
	conf.fd_in = conf.fd_out = t->fd[place];
	t->stream[place] = stream_new(&conf);
	t->nslots = MAXIMUM(t->nslots, place + 1);
	if (t->state[place] == CONN_NEW)
		request_init_session(stream_sink(t->stream[place]));
	if (t->state[place] < 0)
		t->state[place] = CONN_INIT_SENT;
	return 1;
}

/* No other host is left. The first may have channels, as without them. */
static void
fall_back_to_channels(struct conns *t)
{
	unsigned int i;

	if (!t->may_use_channels || t->kind == CONNS_CHANNELS ||
	    !conns_has_hosts(t->kept) || wanted_conns(t) > 1)
		return;
	for (i = 1; i < CONNS_MAX; i++) {
		if (t->stream[i] != NULL)
			return;
	}
	switch_to_channels(t);
}

void
conns_grow(struct conns *t)
{
	report_single_conn(t);
	fall_back_to_channels(t);
	while (ask_for_one(t) && t->kind == CONNS_LOGINS)
		;
}

void
conns_poll(struct conns *t, int wake_fd, int ms)
{
	struct sftp_stream *streams[CONNS_MAX + 1];
	unsigned int i, n = 0;

	for (i = 0; i < t->nslots; i++) {
		if (t->stream[i] != NULL && !stream_is_lost(t->stream[i]))
			streams[n++] = t->stream[i];
	}
	if (t->other_stream != NULL)
		streams[n++] = t->other_stream;
	stream_poll(streams, n, wake_fd, ms);
}

static void
report_lost_host(struct conns *t, unsigned int host)
{
	unsigned int rest = conns_established(t);

	if (!t->kept->hosts[host].is_excluded)
		logit("Host %s was lost; continuing with %u connection%s",
		    conns_host_name(t->kept, host), rest, rest == 1 ? "" :
		    "s");
	exclude_host(t->kept, host, NULL);
}

/* A connection that was up has ended. */
static void
count_lost_conn(struct conns *t, unsigned int host)
{
	if (host != 0)
		report_lost_host(t, host);
	verbose("an additional %s was lost", t->kind == CONNS_CHANNELS ?
	    "channel" : "connection");
	t->closed_hosts |= 1U << host;
	t->closed_to_new = !conns_has_hosts(t->kept);
}

/* The connection has ended. Returns 1 if it was up. */
static int
lose_conn(struct conns *t, unsigned int i)
{
	int has_begun = t->state[i] >= 0;
	int was_up = has_begun && (t->host[i] == 0 || t->is_proven[i]);

	drop_conn(t, i);
	close(t->fd[i]);
	if (has_begun)
		count_lost_conn(t, t->host[i]);
	else {
		if (t->kind == CONNS_LOGINS)
			count_refused_conn(t, t->host[i]);
		stop_asking(t, t->host[i]);
	}
	return was_up;
}

unsigned int
conns_other_main(const struct conns *t)
{
	unsigned int i;

	for (i = 0; i < t->nslots && t->kind == CONNS_LOGINS; i++) {
		if (i != t->main && conns_is_established(t, i) &&
		    t->host[i] == 0)
			return i;
	}
	return CONNS_MAX;
}

void
conns_replace_main(struct conns *t, unsigned int new_main, int asks)
{
	unsigned int i;

	fs_reference_free(t->fs_reference);
	t->fs_reference = NULL;
	for (i = 0; i < t->nslots; i++) {
		if (is_unproven(t, i))
			exclude_host_of(t, i, "the first connection was lost");
	}
	drop_conn(t, t->main);
	t->main = new_main;
	t->closed_to_new |= !asks;
	t->may_use_channels = 0;
}

/* The first message of a further connection */
static void
take_version(struct conns *t, unsigned int i, struct sshbuf *m)
{
	t->state[i] = conns_parse_version(t->stream[i], m);
	if (t->state[i] == 0) {
		if (t->host[i] != 0)
			exclude_host(t->kept, t->host[i],
			    "its SFTP server does not speak version 3");
		drop_conn(t, i);
		close(t->fd[i]);
		stop_asking(t, t->host[i]);
		return;
	}
	if (t->host[i] != 0)
		return;			/* It is up when it is proven. */
	if (conns_has_hosts(t->kept))
		verbose("connection %u goes to %s", i + 1,
		    conns_host_name(t->kept, 0));
	debug("there are %u %s", conns_established(t),
	    t->kind == CONNS_CHANNELS ? "channels" : "connections");
}

struct sshbuf *
conns_next(struct conns *t, unsigned int *i)
{
	struct sshbuf *m;

	for (*i = 0; *i < t->nslots; ++*i) {
		while (t->stream[*i] != NULL &&
		    (m = stream_next(t->stream[*i])) != NULL) {
			if (t->state[*i] < 0)
				take_version(t, *i, m);
			else if (!reject_message(t, *i))
				return m;
		}
		if (*i != t->main && t->stream[*i] != NULL &&
		    stream_is_lost(t->stream[*i]) && lose_conn(t, *i))
			return NULL;
	}
	*i = CONNS_MAX;
	return NULL;
}
