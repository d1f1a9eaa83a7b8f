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
#include "figures.h"
#include "hop-hook.h"
#include "link-hook.h"
#include "links-hook.h"
#include "opening-hook.h"
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
	tell_wish(fd, is_wanted, hop_offer_ssh(fd), opening_offer(fd));
}

/* What is kept of one server between transfers */

void
links_drop(struct links_kept *s)
{
	while (s->nspare > 0)
		close(s->spare[--s->nspare].fd);
}

static int
may_grow(const struct links *t)
{
	int streams = tell_offers(t->main_fd);

	return (streams == 0 || streams > 1) &&
	    (!t->kept->is_refused || t->kept->nspare > 0);
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

/* Takes one that is up, if there is one: what is awaited may never come. */
static int
take_spare(struct links_kept *s, int *state)
{
	unsigned int i = s->nspare - 1;
	int fd;

	while (i > 0 && s->spare[i].state < 0)
		i--;
	*state = s->spare[i].state;
	fd = s->spare[i].fd;
	s->spare[i] = s->spare[--s->nspare];
	return fd;
}

static int
take_login(struct links *t, int *state)
{
	if (t->kept->nspare > 0)
		return take_spare(t->kept, state);
	*state = LINKS_NEW;
	if (t->kept->is_refused)
		return -1;
	debug("asking for a further connection");
	return tell_connect(t->main_fd, 1);
}

/* It is no longer used. Nothing is under way on it, but maybe VERSION. */
static void
leave(struct links_kept *s, int fd, int state)
{
	if (s->nspare == WIDTH_MOST) {
		close(fd);
		return;
	}
	s->spare[s->nspare].fd = fd;
	s->spare[s->nspare++].state = state;
}

/* A connection ended before VERSION. */
static void
count_refused(struct links *t)
{
	unsigned int has = links_size(t);

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
	    { FIGURES_REQUEST, NULL, LINKS_FIGURES },
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
	t->link[0] = link;
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
}

void
links_end(struct links *t)
{
	unsigned int i;

	for (i = 1; i < LINKS_MOST; i++) {
		if (t->link[i] == NULL)
			continue;
		drop(t, i);
		if (t->kind == LINKS_CHANNELS)
			close(t->fd[i]);
		else
			leave(t->kept, t->fd[i], t->told[i]);
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
refuse(struct links *t)
{
	t->is_full = 1;
	if (t->takes_channels && t->kind == LINKS_LOGINS && links_size(t) == 1)
		use_channels(t);
}

int
links_is_up(const struct links *t, unsigned int i)
{
	return t->link[i] != NULL && t->told[i] >= 0 &&
	    !link_is_lost(t->link[i]);
}

unsigned int
links_size(const struct links *t)
{
	unsigned int i, n = 0;

	for (i = 0; i < LINKS_MOST; i++)
		n += links_is_up(t, i);
	return n;
}

static int
take(struct links *t, unsigned int place)
{
	if (t->kind == LINKS_LOGINS)
		return take_login(t, &t->told[place]);
	debug("asking for channel %u", place + 1);
	t->told[place] = LINKS_NEW;
	return tell_connect(t->main_fd, 0);
}

/* How many are wanted now, with the first */
static unsigned int
wanted(const struct links *t)
{
	int streams = tell_offers(t->main_fd);

	if (t->kind == LINKS_CHANNELS)
		return t->channels;
	if (streams == 0)
		return width_want(&t->kept->automatic);
	return streams == -1 ? 1 : MINIMUM(streams, WIDTH_MOST);
}

void
links_grow(struct links *t)
{
	struct link_conf conf = { .may_end = 1,
	    .before_fatal = t->before_fatal, .arg = t->arg };
	unsigned int i, n = 0, place = 0;

	tell_why_alone(t);
	for (i = 0; i < LINKS_MOST; i++) {
		if (t->link[i] == NULL) {
			place = place == 0 ? i : place;
			continue;
		}
		if (t->told[i] < 0 && t->kind == LINKS_LOGINS)
			return;
		n++;
	}
	if (t->is_full || place == 0 || n >= wanted(t))
		return;
	t->fd[place] = take(t, place);
	if (t->fd[place] == -1) {
		refuse(t);
		return;
	}
	conf.fd_in = conf.fd_out = t->fd[place];
	t->link[place] = link_new(&conf);
	if (t->told[place] == LINKS_NEW) {
		/* The version stands where others have their ID. */
		link_begin(t->link[place], SSH2_FXP_INIT,
		    SSH2_FILEXFER_VERSION);
		link_end(t->link[place]);
	}
	if (t->told[place] < 0)
		t->told[place] = LINKS_ASKED;
}

void
links_move(struct links *t, int wake_fd, int ms)
{
	struct link *links[LINKS_MOST + 1];
	unsigned int i, n = 0;

	for (i = 0; i < LINKS_MOST; i++) {
		if (t->link[i] != NULL)
			links[n++] = t->link[i];
	}
	if (t->also != NULL)
		links[n++] = t->also;
	link_move(links, n, wake_fd, ms);
}

/* The link has ended. Returns 1 if it was up. */
static int
lose(struct links *t, unsigned int i)
{
	int was_up = t->told[i] >= 0;

	drop(t, i);
	close(t->fd[i]);
	if (was_up)
		verbose("a further %s is lost",
		    t->kind == LINKS_CHANNELS ? "channel" : "connection");
	else if (t->kind == LINKS_LOGINS)
		count_refused(t);
	if (was_up)
		t->is_full = 1;
	else
		refuse(t);
	return was_up;
}

/* The first message of a further connection */
static void
join(struct links *t, unsigned int i, struct sshbuf *m)
{
	t->told[i] = read_version(t->link[i], m);
	if (t->told[i] == 0) {
		drop(t, i);
		close(t->fd[i]);
		refuse(t);
		return;
	}
	debug("there are %u %s", links_size(t),
	    t->kind == LINKS_CHANNELS ? "channels" : "connections");
}

struct sshbuf *
links_next(struct links *t, unsigned int *i)
{
	struct sshbuf *m;

	for (*i = 0; *i < LINKS_MOST; ++*i) {
		while (t->link[*i] != NULL &&
		    (m = link_take(t->link[*i])) != NULL) {
			if (t->told[*i] >= 0)
				return m;
			join(t, *i, m);
		}
		if (*i > 0 && t->link[*i] != NULL &&
		    link_is_lost(t->link[*i]) && lose(t, *i))
			return NULL;
	}
	return NULL;
}
