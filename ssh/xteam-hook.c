/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See xteam-hook.h for the idea. */

#include "includes.h"

#include <sys/types.h>

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log.h"
#include "misc.h"
#include "sftp.h"
#include "sshbuf.h"
#include "ssherr.h"
#include "xmalloc.h"

#include "clock.h"
#include "sftp-tell.h"
#include "xauto.h"
#include "xlink-hook.h"
#include "xteam-hook.h"

/* What is kept of one server between transfers */
static struct server {
	struct server *next;
	int	 main_fd;
	int	 is_refused;
	int	 is_told;		/* why there is only one */
	struct xauto automatic;
	struct {
		int fd, state;
	} spare[XTEAM_MOST];
	size_t	 nspare;
} *servers;

static struct server *
server_of(int main_fd)
{
	struct server *s;

	for (s = servers; s != NULL && s->main_fd != main_fd; s = s->next)
		;
	if (s != NULL)
		return s;
	s = xcalloc(1, sizeof(*s));
	s->main_fd = main_fd;
	s->next = servers;
	servers = s;
	return s;
}

void
xteam_forget(int main_fd)
{
	struct server *s = server_of(main_fd), *next = s->next;

	while (s->nspare > 0)
		close(s->spare[--s->nspare].fd);
	memset(s, 0, sizeof(*s));
	s->next = next;
	s->main_fd = main_fd;
}

unsigned int
xteam_wanted(int main_fd)
{
	int streams = sftp_tell_offers(main_fd);

	if (streams == -1)
		return 1;
	if (streams == 0)
		return xauto_want(&server_of(main_fd)->automatic);
	return MINIMUM(streams, XTEAM_MOST);
}

static int
may_grow(int main_fd)
{
	int streams = sftp_tell_offers(main_fd);
	const struct server *s = server_of(main_fd);

	return (streams == 0 || streams > 1) &&
	    (!s->is_refused || s->nspare > 0);
}

void
xteam_tell_why_alone(int main_fd)
{
	struct server *s = server_of(main_fd);

	if (!s->is_told && sftp_tell_is_alone(main_fd))
		logit("There is one connection only, as each further one "
		    "would need a password, passphrase or answer again.");
	s->is_told = 1;
}

int
xteam_may_grow(int main_fd)
{
	xteam_tell_why_alone(main_fd);
	return may_grow(main_fd);
}

/* Takes one that is up, if there is one: what is awaited may never come. */
static int
take_spare(struct server *s, int *state)
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

int
xteam_take(int main_fd, int *state)
{
	struct server *s = server_of(main_fd);

	if (s->nspare > 0)
		return take_spare(s, state);
	*state = XTEAM_NEW;
	if (s->is_refused)
		return -1;
	debug("asking for a further connection");
	return sftp_tell_connect(main_fd, 1);
}

void
xteam_leave(int main_fd, int fd, int state)
{
	struct server *s = server_of(main_fd);

	if (s->nspare == XTEAM_MOST) {
		close(fd);
		return;
	}
	s->spare[s->nspare].fd = fd;
	s->spare[s->nspare++].state = state;
}

void
xteam_refused(int main_fd, unsigned int has)
{
	struct server *s = server_of(main_fd);

	if (!s->is_refused)
		verbose("a further connection was refused; the transfer goes "
		    "on over %u", has);
	s->is_refused = 1;
	xauto_refused(&s->automatic, has);
}

void
xteam_count(int main_fd, uint64_t bytes, uint64_t rest, unsigned int has)
{
	struct xauto *x = &server_of(main_fd)->automatic;
	unsigned int was = xauto_want(x);

	xauto_count(x, bytes, rest, has, clock_us());
	if (xauto_want(x) != was && sftp_tell_offers(main_fd) == 0)
		debug("TransferStreams auto: %u connections are wanted, "
		    "not %u", xauto_want(x), was);
}

void
xteam_pause(int main_fd)
{
	xauto_pause(&server_of(main_fd)->automatic);
}

int
xteam_read_version(struct xlink *link, struct sshbuf *m)
{
	static const struct {
		const char *name, *value;
		int	 bit;
	} known[] = { { "limits@openssh.com", "1", XTEAM_LIMITS },
	    { "copy-data", "1", XTEAM_COPY },
	    { "fstatvfs@openssh.com", "2", XTEAM_SPACE } };
	char *name;
	u_char *value, type;
	u_int version;
	int r, has = 0;
	size_t i;

	if ((r = sshbuf_get_u8(m, &type)) != 0 ||
	    (r = sshbuf_get_u32(m, &version)) != 0)
		xlink_fatal(link, "parse version: %s", ssh_err(r));
	if (type != SSH2_FXP_VERSION)
		xlink_fatal(link, "Invalid packet back from SSH2_FXP_INIT "
		    "(type %u)", type);
	if (version != SSH2_FILEXFER_VERSION)
		return 0;
	while (sshbuf_len(m) > 0) {
		if ((r = sshbuf_get_cstring(m, &name, NULL)) != 0 ||
		    (r = sshbuf_get_string(m, &value, NULL)) != 0)
			xlink_fatal(link, "parse extension: %s", ssh_err(r));
		for (i = 0; i < sizeof(known) / sizeof(*known); i++) {
			if (strcmp(name, known[i].name) == 0 &&
			    strcmp((char *)value, known[i].value) == 0)
				has |= known[i].bit;
		}
		free(name);
		free(value);
	}
	return XTEAM_SPEAKS | has;
}

void
xteam_send_init(struct xlink *link)
{
	/* The version stands where others have their ID. */
	xlink_begin(link, SSH2_FXP_INIT, SSH2_FILEXFER_VERSION);
	xlink_end(link);
}

/* Transfers */

void
xteam_begin(struct xteam *t, int main_fd, struct xlink *link,
    void (*before_fatal)(void *), void *arg)
{
	memset(t, 0, sizeof(*t));
	t->main_fd = main_fd;
	t->link[0] = link;
	t->state[0] = XTEAM_SPEAKS;
	t->is_full = !may_grow(main_fd);
	t->before_fatal = before_fatal;
	t->arg = arg;
	xteam_pause(main_fd);
}

static void
drop(struct xteam *t, unsigned int i)
{
	xlink_free(t->link[i]);
	t->link[i] = NULL;
}

void
xteam_end(struct xteam *t)
{
	unsigned int i;

	for (i = 1; i < XTEAM_MOST; i++) {
		if (t->link[i] == NULL)
			continue;
		drop(t, i);
		if (t->channels > 0)
			close(t->fd[i]);
		else
			xteam_leave(t->main_fd, t->fd[i], t->state[i]);
	}
}

void
xteam_use_channels(struct xteam *t)
{
	if (sftp_tell_offers(t->main_fd) != 1)
		return;
	t->channels = 1;
	t->is_full = 0;
}

int
xteam_is_up(const struct xteam *t, unsigned int i)
{
	return t->link[i] != NULL && t->state[i] >= 0 &&
	    !xlink_is_lost(t->link[i]);
}

unsigned int
xteam_size(const struct xteam *t)
{
	unsigned int i, n = 0;

	for (i = 0; i < XTEAM_MOST; i++)
		n += xteam_is_up(t, i);
	return n;
}

static int
take(struct xteam *t, unsigned int place)
{
	if (t->channels == 0)
		return xteam_take(t->main_fd, &t->state[place]);
	debug("asking for channel %u", place + 1);
	t->state[place] = XTEAM_NEW;
	return sftp_tell_connect(t->main_fd, 0);
}

static unsigned int
wanted(const struct xteam *t)
{
	return t->channels > 0 ? t->channels : xteam_wanted(t->main_fd);
}

void
xteam_grow(struct xteam *t)
{
	struct xlink_conf conf = { .may_end = 1,
	    .before_fatal = t->before_fatal, .arg = t->arg };
	unsigned int i, n = 0, place = 0;

	xteam_tell_why_alone(t->main_fd);
	for (i = 0; i < XTEAM_MOST; i++) {
		if (t->link[i] == NULL) {
			place = place == 0 ? i : place;
			continue;
		}
		if (t->state[i] < 0 && t->channels == 0)
			return;
		n++;
	}
	if (t->is_full || place == 0 || n >= wanted(t))
		return;
	t->fd[place] = take(t, place);
	if (t->fd[place] == -1) {
		t->is_full = 1;
		return;
	}
	conf.fd_in = conf.fd_out = t->fd[place];
	t->link[place] = xlink_new(&conf);
	if (t->state[place] == XTEAM_NEW)
		xteam_send_init(t->link[place]);
	if (t->state[place] < 0)
		t->state[place] = XTEAM_ASKED;
}

void
xteam_move(struct xteam *t, int ms)
{
	struct xlink *links[XTEAM_MOST + 1];
	unsigned int i, n = 0;

	for (i = 0; i < XTEAM_MOST; i++) {
		if (t->link[i] != NULL)
			links[n++] = t->link[i];
	}
	if (t->also != NULL)
		links[n++] = t->also;
	xlink_move_all(links, n, ms);
}

/* The link has ended. Returns 1 if it was up. */
static int
lose(struct xteam *t, unsigned int i)
{
	int was_up = t->state[i] >= 0;

	drop(t, i);
	close(t->fd[i]);
	t->is_full = 1;
	if (was_up)
		verbose("a further %s is lost",
		    t->channels > 0 ? "channel" : "connection");
	else if (t->channels == 0)
		xteam_refused(t->main_fd, xteam_size(t));
	return was_up;
}

/* The first message of a further connection */
static void
join(struct xteam *t, unsigned int i, struct sshbuf *m)
{
	t->state[i] = xteam_read_version(t->link[i], m);
	if (t->state[i] == 0) {
		drop(t, i);
		close(t->fd[i]);
		t->is_full = 1;
		return;
	}
	debug("there are %u %s", xteam_size(t),
	    t->channels > 0 ? "channels" : "connections");
}

struct sshbuf *
xteam_next(struct xteam *t, unsigned int *i)
{
	struct sshbuf *m;

	for (*i = 0; *i < XTEAM_MOST; ++*i) {
		while (t->link[*i] != NULL &&
		    (m = xlink_take(t->link[*i])) != NULL) {
			if (t->state[*i] >= 0)
				return m;
			join(t, *i, m);
		}
		if (*i > 0 && t->link[*i] != NULL &&
		    xlink_is_lost(t->link[*i]) && lose(t, *i))
			return NULL;
	}
	return NULL;
}
