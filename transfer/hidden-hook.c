/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See hidden-hook.h. */

#include "includes.h"

#include <sys/types.h>
#include <sys/stat.h>

#include <poll.h>
#ifdef HAVE_SHA2_H
# include <sha2.h>
#endif
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "misc.h"
#include "sftp.h"
#include "sftp-common.h"
#include "sshbuf.h"
#include "ssherr.h"
#include "xmalloc.h"

#include "clock.h"
#include "hidden-hook.h"
#include "landing.h"
#include "link-hook.h"
#include "server-hook.h"

/* Of a name, so many bytes are part of the hidden name; 255 are allowed. */
#define NAME_KEPT	230

extern volatile sig_atomic_t interrupted;

struct hidden {
	struct sftp_conn *conn;
	char	*name;
	uint64_t looked;		/* when, microseconds */
	int	 at;			/* what hidden_next() returned */
	struct beside {
		enum { NONE, FOUND, TAKEN, DEAD, ALIVE } is;
		int	 was_next;
		Attrib	 a;
	} beside[LANDING_NAMES];
};

/* Names */

static uint64_t
hash(const char *name, uint64_t size, const struct timespec *mtime)
{
	const uint64_t numbers[] = { size, mtime->tv_sec, mtime->tv_nsec };
	u_char sum[SHA256_DIGEST_LENGTH], number[8];
	SHA2_CTX sha;
	size_t i;

	SHA256Init(&sha);
	for (i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		POKE_U64(number, numbers[i]);
		SHA256Update(&sha, number, sizeof(number));
	}
	SHA256Update(&sha, (const u_char *)name, strlen(name));
	SHA256Final(sum, &sha);
	return PEEK_U64(sum);
}

char *
hidden_name(const char *path, uint64_t size, const struct timespec *mtime)
{
	const char *slash = strrchr(path, '/'), *name;
	char *hidden;

	name = slash == NULL ? path : slash + 1;
	xasprintf(&hidden, "%.*s.%.*s.hayate-%016llx", (int)(name - path),
	    path, NAME_KEPT, name,
	    (unsigned long long)hash(name, size, mtime) & ~15ULL);
	return hidden;
}

void
hidden_number(char *name, unsigned int number)
{
	name[strlen(name) - 1] = '0' + number;
}

/* Requests: one for each number, all together */

struct batch {
	struct link *link;
	u_int	 first;
	unsigned int sent, done;	/* a bit for each number */
	Attrib	 a[LANDING_NAMES];
	int	 ok[LANDING_NAMES];
};

static void
take_reply(struct batch *b, unsigned int number, u_char type, struct sshbuf *m)
{
	int r;

	if (type != SSH2_FXP_STATUS && type != SSH2_FXP_ATTRS)
		link_fatal(b->link, "Expected SSH2_FXP_ATTRS(%u) packet, "
		    "got %u", SSH2_FXP_ATTRS, type);
	b->ok[number] = type == SSH2_FXP_ATTRS;
	if (b->ok[number] && (r = decode_attrib(m, &b->a[number])) != 0)
		link_fatal(b->link, "parse attributes: %s", ssh_err(r));
	b->done |= 1U << number;
}

static void
take_replies(struct hidden *h, struct batch *b)
{
	struct sshbuf *m;
	u_char type;
	u_int id;

	while ((m = link_take(b->link)) != NULL) {
		if (server_sees(h->conn, m))
			continue;
		link_head(b->link, m, &type, &id);
		if (id - b->first >= LANDING_NAMES ||
		    (b->sent & ~b->done & 1U << (id - b->first)) == 0)
			link_fatal(b->link, "Unexpected reply %u", id);
		take_reply(b, id - b->first, type, m);
	}
}

/* "which": a bit for each number */
static void
ask(struct hidden *h, u_char code, unsigned int which, struct batch *b)
{
	const struct server_conn *c = server_get_conn(h->conn);
	struct link_conf conf = { .fd_in = c->fd_in, .fd_out = c->fd_out };
	struct sshbuf *m;
	unsigned int i;
	int r;

	memset(b, 0, sizeof(*b));
	server_take(h->conn, NULL);
	b->link = link_new(&conf);
	b->first = *c->msg_id;
	*c->msg_id += LANDING_NAMES;
	for (i = 0; i < LANDING_NAMES; i++) {
		if ((which & 1U << i) == 0)
			continue;
		m = link_begin(b->link, code, b->first + i);
		hidden_number(h->name, i);
		if ((r = sshbuf_put_cstring(m, h->name)) != 0)
			fatal_fr(r, "compose");
		link_end(b->link);
	}
	for (b->sent = which; b->done != b->sent; take_replies(h, b))
		link_move(b->link, -1);
	link_free(b->link);
	server_give(h->conn);
}

/* What is there */

int
hidden_is_file(const Attrib *a)
{
	const u_int needed = SSH2_FILEXFER_ATTR_SIZE |
	    SSH2_FILEXFER_ATTR_PERMISSIONS | SSH2_FILEXFER_ATTR_ACMODTIME;

	return (a->flags & needed) == needed && S_ISREG(a->perm);
}

static unsigned int
those_that_are(const struct hidden *h, int is)
{
	unsigned int i, which = 0;

	for (i = 0; i < LANDING_NAMES; i++) {
		if ((int)h->beside[i].is == is)
			which |= 1U << i;
	}
	return which;
}

struct hidden *
hidden_look(struct sftp_conn *conn, const char *path, uint64_t size,
    const struct timespec *mtime)
{
	struct hidden *h = xcalloc(1, sizeof(*h));
	struct batch b;
	unsigned int i;

	h->conn = conn;
	h->at = -1;
	h->name = hidden_name(path, size, mtime);
	ask(h, SSH2_FXP_LSTAT, (1U << LANDING_NAMES) - 1, &b);
	h->looked = clock_us();
	for (i = 0; i < LANDING_NAMES; i++) {
		h->beside[i].a = b.a[i];
		if (b.ok[i] && hidden_is_file(&b.a[i]))
			h->beside[i].is = FOUND;
	}
	if (those_that_are(h, FOUND) != 0)
		return h;
	hidden_free(h);
	return NULL;
}

void
hidden_free(struct hidden *h)
{
	if (h == NULL)
		return;
	free(h->name);
	free(h);
}

const char *
hidden_next(struct hidden *h)
{
	int i;

	h->at = -1;
	for (i = 0; i < LANDING_SECOND; i++) {
		if ((h->beside[i].is == FOUND || h->beside[i].is == DEAD) &&
		    !h->beside[i].was_next &&
		    (h->at == -1 ||
		    h->beside[i].a.size > h->beside[h->at].a.size))
			h->at = i;
	}
	if (h->at == -1)
		return NULL;
	h->beside[h->at].was_next = 1;
	hidden_number(h->name, h->at);
	return h->name;
}

/* "which", a bit for each number: do they have the size and time they had? */
static void
look_again(struct hidden *h, unsigned int which)
{
	struct batch b;
	unsigned int i;

	ask(h, SSH2_FXP_LSTAT, which, &b);
	for (i = 0; i < LANDING_NAMES; i++) {
		if ((which & 1U << i) == 0)
			continue;
		h->beside[i].is = b.ok[i] && hidden_is_file(&b.a[i]) &&
		    b.a[i].size == h->beside[i].a.size &&
		    b.a[i].mtime == h->beside[i].a.mtime ? DEAD : ALIVE;
	}
}

static void
watch(struct hidden *h)
{
	unsigned int which = those_that_are(h, FOUND);
	uint64_t waited;

	while (which != 0 && !interrupted &&
	    (waited = clock_us() - h->looked) < LANDING_WATCH_US)
		(void)poll(NULL, 0, (LANDING_WATCH_US - waited) / 1000 + 1);
	if (which != 0 && !interrupted)
		look_again(h, which);
}

int
hidden_is_dead(struct hidden *h)
{
	watch(h);
	if (h->at == -1)
		return 0;
	hidden_number(h->name, h->at);
	return h->beside[h->at].is == DEAD;
}

void
hidden_taken(struct hidden *h)
{
	h->beside[h->at].is = TAKEN;
}

/* The copy may have taken hours, and the names be those of another one now. */
void
hidden_remove(struct hidden *h)
{
	struct batch b;

	watch(h);
	if (!interrupted && those_that_are(h, DEAD) != 0)
		look_again(h, those_that_are(h, DEAD));
	if (!interrupted && those_that_are(h, DEAD) != 0)
		ask(h, SSH2_FXP_REMOVE, those_that_are(h, DEAD), &b);
}
