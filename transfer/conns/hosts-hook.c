/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See hosts-hook.h for the idea. */

#include "includes.h"

#include <sys/types.h>

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "xmalloc.h"

#include "hayopt.h"
#include "hosts-hook.h"
#include "rendezvous.h"

/* The first name is as long as the user likes. */
#define NAMES_MAX	(HAYOPT_HOSTS_LEN + 1024)

void
hosts_begin(struct hosts *h, int fd)
{
	char names[NAMES_MAX], *rest = names, *name;

	if (h->n > 0)
		return;
	if (rendezvous_hosts(fd, names, sizeof(names)) == -1) {
		h->n = 1;
		return;
	}
	while (h->n < HOSTS_MAX && (name = strsep(&rest, ",")) != NULL)
		h->name[h->n++] = xstrdup(name);
	verbose("connection 1 goes to %s", h->name[0]);
}

void
hosts_end(struct hosts *h)
{
	unsigned int i;

	for (i = 0; i < h->n; i++)
		free(h->name[i]);
	memset(h, 0, sizeof(*h));
}

int
hosts_are_many(const struct hosts *h)
{
	return h->n > 1;
}

const char *
hosts_name(const struct hosts *h, unsigned int i)
{
	return i < h->n ? h->name[i] : NULL;
}

unsigned int
hosts_usable(const struct hosts *h)
{
	unsigned int i, n = 1;

	for (i = 1; i < h->n; i++)
		n += !h->is_excluded[i];
	return n;
}

void
hosts_exclude(struct hosts *h, unsigned int i, const char *why, ...)
{
	char *text;
	va_list args;

	if (h->is_excluded[i])
		return;
	h->is_excluded[i] = 1;
	if (why == NULL)
		return;
	va_start(args, why);
	xvasprintf(&text, why, args);
	va_end(args);
	logit("Host %s is left out: %s", h->name[i], text);
	free(text);
}

void
hosts_lost(struct hosts *h, unsigned int i, unsigned int rest)
{
	if (h->is_excluded[i])
		return;
	h->is_excluded[i] = 1;
	logit("Host %s was lost; continuing with %u connection%s", h->name[i],
	    rest, rest == 1 ? "" : "s");
}
