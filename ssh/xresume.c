/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See xresume.h. */

#include <string.h>

#include "xresume.h"

static uint64_t
least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

void
xresume_begin(struct xresume *x, const struct xresume_conf *conf)
{
	memset(x, 0, sizeof(*x));
	x->conf = *conf;
	x->common = least(conf->source, conf->target);
	x->state = conf->hashes ? HASHING : READING;
	if (conf->same_time && conf->source == conf->target)
		x->equal = x->common;
}

void
xresume_next(const struct xresume *x, struct xresume_action *a)
{
	memset(a, 0, sizeof(*a));
	a->off = x->equal;
	a->len = x->common - x->equal;
	if (a->len == 0 || x->state == DIFFERENT)
		a->op = x->equal == x->conf.source ? XRESUME_DONE :
		    XRESUME_COPY;
	else if (x->state == HASHING) {
		a->op = XRESUME_HASH;
		a->len = least(a->len, XRESUME_RANGE);
	} else
		a->op = XRESUME_READ;
}

void
xresume_hashed(struct xresume *x, const unsigned char *ours, size_t nours,
    const unsigned char *theirs, size_t ntheirs)
{
	uint64_t end = x->equal + least(x->common - x->equal, XRESUME_RANGE);
	size_t i, n = nours < ntheirs ? nours : ntheirs;

	for (i = 0; i < n && x->equal < end &&
	    memcmp(ours + i * XRESUME_HASH_LEN, theirs + i * XRESUME_HASH_LEN,
	    XRESUME_HASH_LEN) == 0; i++)
		x->equal += least(end - x->equal, XRESUME_BLOCK);
	if (x->equal < end)
		x->state = DIFFERENT;
}

void
xresume_refused(struct xresume *x)
{
	x->state = READING;
}

void
xresume_compared(struct xresume *x, uint64_t equal)
{
	x->equal += least(equal, x->common - x->equal);
	if (x->equal < x->common)
		x->state = DIFFERENT;
}
