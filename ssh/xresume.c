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

/* Whether the source may have changed since the target was written */
static int
is_stale(const struct xresume_conf *c)
{
	if (!c->has_times)
		return 0;
	if (c->preserve && c->source == c->target)
		return c->source_time != c->target_time;
	return c->source_time > c->target_time;
}

static void
begin_reading(struct xresume *x)
{
	x->equal = x->verified = 0;
	x->state = is_stale(&x->conf) ? DIFFERENT : READING;
}

void
xresume_begin(struct xresume *x, const struct xresume_conf *conf)
{
	memset(x, 0, sizeof(*x));
	x->conf = *conf;
	x->common = least(conf->source, conf->target);
	if (conf->preserve && conf->has_times && !conf->ask_all &&
	    conf->source == conf->target &&
	    conf->source_time == conf->target_time) {
		x->state = TIMES;
		x->equal = x->common;
	} else if (conf->hashes)
		x->state = HASHING;
	else
		begin_reading(x);
}

void
xresume_next(const struct xresume *x, struct xresume_action *a)
{
	memset(a, 0, sizeof(*a));
	a->off = x->equal;
	a->len = x->common - x->equal;
	if (x->state == HASHING && a->len > 0) {
		a->op = XRESUME_HASH;
		a->len = least(a->len, XRESUME_RANGE);
	} else if (x->state == READING && a->len > 0) {
		a->op = XRESUME_READ;
		a->len = least(a->len, XRESUME_TAIL);
		a->off = x->common - a->len;
	} else
		a->op = x->equal == x->conf.source ? XRESUME_DONE :
		    XRESUME_COPY;
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
	x->verified = x->equal;
	if (x->equal < end)
		x->state = DIFFERENT;
}

void
xresume_refused(struct xresume *x)
{
	begin_reading(x);
}

void
xresume_compared(struct xresume *x, int equal)
{
	if (!equal) {
		x->state = DIFFERENT;
		return;
	}
	x->equal = x->common;
	x->verified = least(x->common, XRESUME_TAIL);
}

int
xresume_is_verified(const struct xresume *x)
{
	return x->state == TIMES || x->verified >= x->equal;
}
