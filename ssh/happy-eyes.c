/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See happy-eyes.h for the idea. */

#include <limits.h>

#include "happy-eyes.h"

#define DELAY_DEFAULT	250	/* ms, as RFC 8305 recommends */
#define DELAY_LEAST	10

/* Returns the first index from i on whose family is the first one, or not. */
static size_t
find_family(const int *family, size_t n, size_t i, int is_first)
{
	while (i < n && (family[i] == family[0]) != is_first)
		i++;
	return i;
}

void
happy_eyes_order(const int *family, size_t n, size_t *order)
{
	size_t at[2] = { 0, 0 };	/* of other families, of the first */
	size_t i;
	int is_first = 1;

	for (i = 0; i < n; i++, is_first = !is_first) {
		at[is_first] = find_family(family, n, at[is_first], is_first);
		if (at[is_first] == n) {
			is_first = !is_first;
			at[is_first] = find_family(family, n, at[is_first],
			    is_first);
		}
		order[i] = at[is_first]++;
	}
}

int
happy_eyes_delay(uint64_t happy_delay)
{
	if (happy_delay == 0)
		return DELAY_DEFAULT;
	return happy_delay < DELAY_LEAST ? DELAY_LEAST :
	    happy_delay > INT_MAX ? INT_MAX : (int)happy_delay;
}

int
happy_eyes_wait(int64_t now, int64_t next, const int64_t *deadline, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (deadline[i] < next)
			next = deadline[i];
	}
	if (next == HAPPY_EYES_NEVER)
		return -1;
	return next <= now ? 0 : next - now > INT_MAX ? INT_MAX :
	    (int)(next - now);
}
