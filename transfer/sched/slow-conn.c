/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See slow-conn.h. */

#include <stdlib.h>

#include "minmax.h"
#include "slow-conn.h"

/* Less says nothing: of a connection, and as a part of the copy. */
#define BUSY_MIN_US	700000
#define BUSY_MIN_PART	4

#define SLOW		4		/* times slower than the others */

void
slow_conn_acked(struct slow_conn *u, unsigned int i, unsigned int host,
    uint64_t bytes, uint64_t sent_us, uint64_t now_us)
{
	if (u->of[i].host != host) {
		u->of[i].host = host;
		u->of[i].bytes = u->of[i].busy_us = 0;
	}
	u->of[i].bytes += bytes;
	u->of[i].busy_us += now_us - max_u64(sent_us, u->of[i].last_us);
	u->of[i].last_us = now_us;
}

static int
compare_rates(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

int
slow_conn_find(const struct slow_conn *u, uint64_t us, uint64_t *rate,
    uint64_t *others)
{
	uint64_t all[SLOW_CONN_MAX];
	unsigned int i, n = 0;
	int slowest = -1;

	for (i = 0; i < SLOW_CONN_MAX; i++) {
		if (u->of[i].busy_us < max_u64(BUSY_MIN_US, us / BUSY_MIN_PART))
			continue;
		all[n] = (uint64_t)((double)u->of[i].bytes * 1e6 /
		    (double)u->of[i].busy_us);
		if (slowest == -1 || all[n] < *rate) {
			slowest = (int)i;
			*rate = all[n];
		}
		n++;
	}
	if (n < 2)
		return -1;
	qsort(all, n, sizeof(*all), compare_rates);
	*others = all[1 + (n - 2) / 2];
	return *rate < *others / SLOW ? slowest : -1;
}
