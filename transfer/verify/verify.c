/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See verify.h. */

#include <string.h>

#include "verify.h"

static uint64_t
min_of(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

void
verify_begin(struct verify *x, const struct verify_conf *conf)
{
	memset(x, 0, sizeof(*x));
	x->conf = *conf;
	x->common = min_of(conf->source, conf->target);
	x->state = conf->hashes ? HASHING : READING;
	if (conf->same_time && !conf->hashes && conf->source == conf->target)
		x->equal = x->common;
}

void
verify_next(const struct verify *x, struct verify_action *a)
{
	memset(a, 0, sizeof(*a));
	a->off = x->equal;
	a->len = x->common - x->equal;
	if (a->len == 0 || x->state == DIFFERENT)
		a->op = x->equal == x->conf.source ? VERIFY_DONE :
		    VERIFY_COPY;
	else if (x->state == HASHING) {
		a->op = VERIFY_HASH;
		a->len = min_of(a->len, VERIFY_RANGE);
	} else
		a->op = VERIFY_READ;
}

void
verify_hashed(struct verify *x, const unsigned char *ours, size_t nours,
    const unsigned char *theirs, size_t ntheirs)
{
	uint64_t end = x->equal + min_of(x->common - x->equal, VERIFY_RANGE);
	size_t i, n = nours < ntheirs ? nours : ntheirs;

	for (i = 0; i < n && x->equal < end &&
	    memcmp(ours + i * VERIFY_HASH_LEN, theirs + i * VERIFY_HASH_LEN,
	    VERIFY_HASH_LEN) == 0; i++)
		x->equal += min_of(end - x->equal, VERIFY_BLOCK);
	if (x->equal < end)
		x->state = DIFFERENT;
}

void
verify_refused(struct verify *x)
{
	x->state = READING;
}

void
verify_compared(struct verify *x, uint64_t equal)
{
	x->equal += min_of(equal, x->common - x->equal);
	if (x->equal < x->common)
		x->state = DIFFERENT;
}
