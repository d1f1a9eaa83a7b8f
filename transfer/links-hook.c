/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See links-hook.h for the idea. */

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

#include "clock.h"
#include "stall-stats.h"
#include "shmpipe-hook.h"
#include "link-hook.h"
#include "links-hook.h"
#include "opening-hook.h"
#include "proof-hook.h"
#include "signals-hook.h"
#include "tell.h"

/* Whether channels are wanted */

static int is_wanted = 1;

/* A larger tree is not looked at to its end: it may be large. */
#define ENTRIES_MOST	256

static off_t sum;
static int entries;

static int
add_size(const char *path, const struct stat *sb, int type, struct FTW *ftw)
{
	(void)path;
	(void)ftw;
	if (type == FTW_F && S_ISREG(sb->st_mode))
		sum += MINIMUM(sb->st_size, WIDTH_LEAST);
	if (++entries == ENTRIES_MOST)
		sum = WIDTH_LEAST;
	return sum >= WIDTH_LEAST;
}

void
links_judge(int argc, char **argv)
{
	int i;

	signals_begin();
	is_wanted = 0;
	if (argc < 2 || (colon(argv[argc - 1]) == NULL &&
	    strncasecmp(argv[argc - 1], "scp://", 6) != 0))
		return;
	for (i = 0; i < argc - 1 && sum < WIDTH_LEAST; i++)
		(void)nftw(argv[i], add_size, 16, 0);
	is_wanted = sum >= WIDTH_LEAST;
}

void
links_wish(int fd)
{
	tell_wish(fd, is_wanted, shmpipe_offer_ssh(fd), opening_offer(fd));
}

/* What is kept of one server between transfers */

void
links_drop(struct links_kept *s)
{
	while (s->nspare > 0)
		close(s->spare[--s->nspare].fd);
	hosts_end(&s->hosts);
}

static int
may_grow(const struct links *t)
{
	int streams = tell_offers(t->main_fd);

	return (streams == 0 || streams > 1) &&
	    (!t->kept->is_refused || t->kept->nspare > 0 ||
	    hosts_are_many(&t->kept->hosts));
}

/*
 * A transfer could use more than one connection: if the user wants them and
 * they would need the user again, one line says so, once.
 */
static void
tell_why_alone(struct links *t)
{
	if (!t->kept->is_told && tell_is_alone(t->main_fd))
		logit("There is one connection only, as each further one "
		    "would need a password, passphrase or answer again.");
	t->kept->is_told = 1;
}

/*
 * Takes one to the host that is up, if there is one: what is awaited may never
 * come. Returns -1 if there is none at all.
 */
static int
take_spare(struct links_kept *s, unsigned int host, int *state)
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
take_login(struct links *t, unsigned int host, int *state)
{
	const struct hosts *h = &t->kept->hosts;
	int fd = take_spare(t->kept, host, state);

	if (fd != -1)
		return fd;
	*state = LINKS_NEW;
	if (host == 0 && t->kept->is_refused)
		return -1;
	debug("asking for a further connection%s%s",
	    hosts_are_many(h) ? " to " : "",
	    hosts_are_many(h) ? h->name[host] : "");
	return tell_connect(t->main_fd, host);
}

/* It is no longer used. Nothing is under way on it, but maybe VERSION. */
static void
leave(struct links_kept *s, int fd, int state, unsigned int host)
{
	if (s->nspare == WIDTH_MOST || s->hosts.is_out[host]) {
		close(fd);
		return;
	}
	s->spare[s->nspare].fd = fd;
	s->spare[s->nspare].host = host;
	s->spare[s->nspare++].state = state;
}

/* A connection ended before VERSION. Why a host is left out was said. */
static void
count_refused(struct links *t, unsigned int host)
{
	unsigned int has = links_size(t);

	if (host != 0) {
		hosts_leave_out(&t->kept->hosts, host, NULL);
		return;
	}
	if (!t->kept->is_refused)
		verbose("a further connection was refused; the transfer goes "
		    "on over %u", has);
	t->kept->is_refused = 1;
	width_refused(&t->kept->automatic, has);
}

void
links_count(struct links *t, uint64_t bytes, uint64_t rest)
{
	struct width *x = &t->kept->automatic;
	unsigned int was = width_want(x);

	width_moved(x, bytes, rest, links_size(t), clock_us());
	if (width_want(x) != was && tell_offers(t->main_fd) == 0)
		debug("TransferStreams auto: %u connections are wanted, "
		    "not %u", width_want(x), was);
}

int
links_offers(struct sshbuf *m, int *offers)
{
	static const struct {
		const char *name, *value;	/* NULL: any */
		int	 bit;
	} known[] = { { "limits@openssh.com", "1", LINKS_LIMITS },
	    { "copy-data", "1", LINKS_COPY },
	    { "fstatvfs@openssh.com", "2", LINKS_SPACE },
	    { "fsync@openssh.com", NULL, LINKS_FSYNC },
	    { STALL_STATS_REQUEST, NULL, LINKS_FIGURES },
	    { "check-file-name", NULL, LINKS_HASHES },
	    { "check-file", NULL, LINKS_HASHES },
	    { "versions", NULL, LINKS_HASHES } };
	char *name;
	u_char *value;
	int r;
	size_t i;

	*offers = LINKS_SPEAKS;
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

/* Reads the reply to INIT. Returns what it offers, or 0. */
static int
read_version(struct link *link, struct sshbuf *m)
{
	u_char type;
	u_int version;
	int r, offers;

	if ((r = sshbuf_get_u8(m, &type)) != 0 ||
	    (r = sshbuf_get_u32(m, &version)) != 0)
		link_fatal(link, "parse version: %s", ssh_err(r));
	if (type != SSH2_FXP_VERSION)
		link_fatal(link, "Invalid packet back from SSH2_FXP_INIT "
		    "(type %u)", type);
	if (version != SSH2_FILEXFER_VERSION)
		return 0;
	if ((r = links_offers(m, &offers)) != 0)
		link_fatal(link, "parse extension: %s", ssh_err(r));
	return offers;
}

/* Transfers */

void
links_begin(struct links *t, int main_fd, struct links_kept *kept,
    struct link *link, void (*before_fatal)(void *), void *arg)
{
	memset(t, 0, sizeof(*t));
	t->main_fd = main_fd;
	t->kept = kept;
	hosts_begin(&kept->hosts, main_fd);
	t->link[0] = link;
	t->end = 1;
	t->told[0] = LINKS_SPEAKS;
	t->is_full = !may_grow(t);
	t->before_fatal = before_fatal;
	t->arg = arg;
	width_pause(&kept->automatic);
}

static void
drop(struct links *t, unsigned int i)
{
	link_free(t->link[i]);
	t->link[i] = NULL;
	t->is_proven[i] = 0;
	proof_free(t->proof[i]);
	t->proof[i] = NULL;
}

void
links_end(struct links *t)
{
	unsigned int i;
	int is_busy;

	proof_witness_free(t->witness);
	for (i = 1; i < t->end; i++) {
		if (t->link[i] == NULL)
			continue;
		is_busy = t->proof[i] != NULL;
		drop(t, i);
		if (is_busy || t->kind == LINKS_CHANNELS)
			close(t->fd[i]);
		else
			leave(t->kept, t->fd[i], t->told[i], t->host[i]);
	}
}

static void
use_channels(struct links *t)
{
	t->kind = LINKS_CHANNELS;
	t->channels = 1;
	t->is_full = 0;
}

void
links_take_channels(struct links *t)
{
	t->takes_channels = 1;
	if (tell_offers(t->main_fd) == 1)
		use_channels(t);
}

/* None is asked for any more. Without any connection there may be channels. */
static void
refuse(struct links *t, unsigned int host)
{
	t->shut |= 1U << host;
	if (hosts_are_many(&t->kept->hosts))
		return;
	t->is_full = 1;
	if (t->takes_channels && t->kind == LINKS_LOGINS && links_size(t) == 1)
		use_channels(t);
}

int
links_is_up(const struct links *t, unsigned int i)
{
	return t->link[i] != NULL && t->told[i] >= 0 &&
	    (t->host[i] == 0 || t->is_proven[i]) &&
	    !link_is_lost(t->link[i]);
}

unsigned int
links_size(const struct links *t)
{
	unsigned int i, n = 0;

	for (i = 0; i < t->end; i++)
		n += links_is_up(t, i);
	return n;
}

unsigned int
links_apart(const struct links *t)
{
	unsigned int i, bits = 0;

	for (i = 1; i < t->end; i++) {
		if (t->link[i] != NULL && t->host[i] != 0)
			bits |= 1U << i;
	}
	return bits;
}

static int
take(struct links *t, unsigned int place)
{
	if (t->kind == LINKS_LOGINS)
		return take_login(t, t->host[place], &t->told[place]);
	debug("asking for channel %u", place + 1);
	t->told[place] = LINKS_NEW;
	return tell_connect(t->main_fd, -1);
}

/* Returns 1 if connections may go to the host, now or later. */
static int
is_open(const struct links *t, unsigned int host)
{
	return (t->shut >> host & 1) == 0 && !t->kept->hosts.is_out[host] &&
	    (host > 0 || !t->kept->is_refused);
}

/*
 * Returns the host for the next connection: of those that have the fewest, one
 * where none is awaited; HOSTS_MOST: none now.
 */
static unsigned int
choose_host(const struct links *t)
{
	unsigned int has[HOSTS_MOST] = { 0 }, waits = 0, fewest = LINKS_MOST;
	unsigned int i, n = t->kept->hosts.n;

	for (i = 0; i < LINKS_MOST; i++) {
		if (t->link[i] == NULL)
			continue;
		has[t->host[i]]++;
		if (i > 0 && !links_is_up(t, i))
			waits |= 1U << t->host[i];
	}
	for (i = 0; i < n; i++) {
		if (is_open(t, i))
			fewest = MINIMUM(fewest, has[i]);
	}
	for (i = 0; i < n; i++) {
		if (is_open(t, i) && has[i] == fewest && (waits >> i & 1) == 0)
			return i;
	}
	return HOSTS_MOST;
}

/*
 * How many are wanted now, with the first. As many as there are hosts means one
 * to each that is left.
 */
static unsigned int
wanted(const struct links *t)
{
	const struct hosts *h = &t->kept->hosts;
	int streams = tell_offers(t->main_fd);

	if (t->kind == LINKS_CHANNELS)
		return t->channels;
	if (streams == 0)
		return MINIMUM(WIDTH_MOST, MAXIMUM(hosts_size(h),
		    width_want(&t->kept->automatic)));
	if (hosts_are_many(h) && streams == (int)h->n)
		return hosts_size(h);
	return streams == -1 ? 1 : MINIMUM(streams, WIDTH_MOST);
}

/* Proofs */

/* The link is dropped, and with it its host. */
static void
leave_out(struct links *t, unsigned int i, const char *why)
{
	hosts_leave_out(&t->kept->hosts, t->host[i], "%s", why);
	drop(t, i);
	close(t->fd[i]);
}

/* Returns 1 if a proof is to come of the link, or may be. */
static int
is_unproven(const struct links *t, unsigned int i)
{
	return t->link[i] != NULL && t->host[i] != 0 && !t->is_proven[i];
}

static void
begin_witness(struct links *t)
{
	struct proof_where where = { 0 };

	if (t->witness == NULL && t->where != NULL && !t->is_closing &&
	    t->where(t->arg, t->tries, &where) == 0)
		t->witness = proof_witness_new(t->link[0], &where);
}

/* So many places are tried. */
#define TRIES_MOST	8

/* It could not be made: there may be another place, or no host is proven. */
static void
try_again(struct links *t, const char *why)
{
	struct proof_where where = { 0 };
	unsigned int i;
	int has_next = ++t->tries < TRIES_MOST && !t->is_closing &&
	    t->where(t->arg, t->tries, &where) == 0;

	for (i = 1; i < LINKS_MOST && !has_next && !t->is_closing; i++) {
		if (is_unproven(t, i))
			leave_out(t, i, why);
	}
}

static void
tend_proof(struct links *t, unsigned int i)
{
	const char *why;

	if (t->proof[i] == NULL && t->told[i] >= 0 && t->witness != NULL &&
	    !proof_witness_is_stopped(t->witness) &&
	    proof_witness_result(t->witness, &why) == PROOF_GOOD)
		t->proof[i] = proof_new(t->link[i], t->witness);
	if (t->proof[i] == NULL ||
	    proof_result(t->proof[i], &why) == PROOF_RUNS)
		return;
	if (proof_result(t->proof[i], &why) == PROOF_BAD) {
		leave_out(t, i, why);
		return;
	}
	t->is_proven[i] = 1;
	verbose("connection %u goes to %s: %s", i + 1,
	    t->kept->hosts.name[t->host[i]], why);
	debug("there are %u connections", links_size(t));
	proof_free(t->proof[i]);
	t->proof[i] = NULL;
}

void
links_tend_proofs(struct links *t)
{
	const char *why;
	unsigned int i, n = 0;
	int is_bad;

	for (i = 1; i < LINKS_MOST; i++) {
		if (is_unproven(t, i))
			tend_proof(t, i);
		n += is_unproven(t, i);
	}
	if (n > 0)
		begin_witness(t);
	if (t->witness == NULL)
		return;
	if (n == 0)
		proof_witness_stop(t->witness);
	is_bad = proof_witness_result(t->witness, &why) == PROOF_BAD;
	if (proof_witness_owes(t->witness) ||
	    (!is_bad && !proof_witness_is_stopped(t->witness)))
		return;
	if (is_bad && n > 0)
		try_again(t, why);
	proof_witness_free(t->witness);
	t->witness = NULL;
}

void
links_stop_proofs(struct links *t)
{
	t->is_closing = 1;
	if (t->witness != NULL)
		proof_witness_stop(t->witness);
}

int
links_owe(const struct links *t)
{
	return t->witness != NULL && proof_witness_owes(t->witness);
}

const char *
links_left(const struct links *t)
{
	return t->witness == NULL ? NULL : proof_witness_left(t->witness);
}

/* Returns 1 if the message belongs to a proof, which has used it. */
static int
is_for_proof(struct links *t, unsigned int i, struct sshbuf *m)
{
	if (i == 0)
		return t->witness != NULL && proof_witness_takes(t->witness, m);
	if (!is_unproven(t, i))
		return 0;
	if (t->proof[i] != NULL)
		proof_takes(t->proof[i], m);
	return 1;
}

/* Returns the place for one more link; 0: none is to be asked for. */
static unsigned int
next_place(struct links *t)
{
	unsigned int i, n = 0, place = 0;

	for (i = 0; i < LINKS_MOST; i++) {
		if (t->link[i] != NULL)
			n++;
		else if (place == 0)
			place = i;
	}
	if (t->is_full || place == 0 || n >= wanted(t))
		return 0;
	t->host[place] = 0;
	if (t->kind == LINKS_LOGINS &&
	    (t->host[place] = choose_host(t)) == HOSTS_MOST)
		return 0;
	return place;
}

/* Returns 1 if a link was asked for. */
static int
grow(struct links *t)
{
	struct link_conf conf = { .may_end = 1,
	    .before_fatal = t->before_fatal, .arg = t->arg };
	unsigned int place = next_place(t);

	if (place == 0)
		return 0;
	if (t->host[place] != 0)
		begin_witness(t);
	t->fd[place] = take(t, place);
	if (t->fd[place] == -1) {
		refuse(t, t->host[place]);
		return 0;
	}
	conf.fd_in = conf.fd_out = t->fd[place];
	t->link[place] = link_new(&conf);
	t->end = MAXIMUM(t->end, place + 1);
	if (t->told[place] == LINKS_NEW) {
		/* The version stands where others have their ID. */
		link_begin(t->link[place], SSH2_FXP_INIT,
		    SSH2_FILEXFER_VERSION);
		link_end(t->link[place]);
	}
	if (t->told[place] < 0)
		t->told[place] = LINKS_ASKED;
	return 1;
}

/* No other host is left. The first may have channels, as without them. */
static void
fall_back(struct links *t)
{
	unsigned int i;

	if (!t->takes_channels || t->kind == LINKS_CHANNELS ||
	    !hosts_are_many(&t->kept->hosts) || wanted(t) > 1)
		return;
	for (i = 1; i < LINKS_MOST; i++) {
		if (t->link[i] != NULL)
			return;
	}
	use_channels(t);
}

void
links_grow(struct links *t)
{
	tell_why_alone(t);
	fall_back(t);
	while (grow(t) && t->kind == LINKS_LOGINS)
		;
}

void
links_move(struct links *t, int wake_fd, int ms)
{
	struct link *links[LINKS_MOST + 1];
	unsigned int i, n = 0;

	for (i = 0; i < t->end; i++) {
		if (t->link[i] != NULL)
			links[n++] = t->link[i];
	}
	if (t->also != NULL)
		links[n++] = t->also;
	link_move(links, n, wake_fd, ms);
}

/* A link that was up has ended. */
static void
count_lost(struct links *t, unsigned int host)
{
	if (host != 0)
		hosts_lost(&t->kept->hosts, host, links_size(t));
	verbose("a further %s is lost",
	    t->kind == LINKS_CHANNELS ? "channel" : "connection");
	t->shut |= 1U << host;
	t->is_full = !hosts_are_many(&t->kept->hosts);
}

/* The link has ended. Returns 1 if it was up. */
static int
lose(struct links *t, unsigned int i)
{
	int has_begun = t->told[i] >= 0;
	int was_up = has_begun && (t->host[i] == 0 || t->is_proven[i]);

	drop(t, i);
	close(t->fd[i]);
	if (has_begun)
		count_lost(t, t->host[i]);
	else {
		if (t->kind == LINKS_LOGINS)
			count_refused(t, t->host[i]);
		refuse(t, t->host[i]);
	}
	return was_up;
}

/* The first message of a further connection */
static void
join(struct links *t, unsigned int i, struct sshbuf *m)
{
	t->told[i] = read_version(t->link[i], m);
	if (t->told[i] == 0) {
		if (t->host[i] != 0)
			hosts_leave_out(&t->kept->hosts, t->host[i],
			    "its SFTP server does not speak version 3");
		drop(t, i);
		close(t->fd[i]);
		refuse(t, t->host[i]);
		return;
	}
	if (t->host[i] != 0)
		return;			/* It is up when it is proven. */
	if (hosts_are_many(&t->kept->hosts))
		verbose("connection %u goes to %s", i + 1,
		    t->kept->hosts.name[0]);
	debug("there are %u %s", links_size(t),
	    t->kind == LINKS_CHANNELS ? "channels" : "connections");
}

struct sshbuf *
links_next(struct links *t, unsigned int *i)
{
	struct sshbuf *m;

	for (*i = 0; *i < t->end; ++*i) {
		while (t->link[*i] != NULL &&
		    (m = link_take(t->link[*i])) != NULL) {
			if (t->told[*i] < 0)
				join(t, *i, m);
			else if (!is_for_proof(t, *i, m))
				return m;
		}
		if (*i > 0 && t->link[*i] != NULL &&
		    link_is_lost(t->link[*i]) && lose(t, *i))
			return NULL;
	}
	*i = LINKS_MOST;
	return NULL;
}
