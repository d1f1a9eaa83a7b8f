/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See stall-stats.h for the idea. */

#include <string.h>

#include "stall-stats.h"
#include "minmax.h"

/* A peer that sends more values is not a Hayate, however new. */
#define COUNT_MAX	1000

/* Larger values are cut, so that sums of a few of them do not overflow. */
#define VALUE_MAX		((uint64_t)1 << 56)

static int
is_counter(int i)
{
	return i < STAT_MIN_RTT;
}

struct stall_stats
stall_stats_diff(const struct stall_stats *from, const struct stall_stats *to)
{
	struct stall_stats diff = *to;
	int i;

	for (i = 0; i < STAT_COUNT; i++) {
		/* A peer may send anything. */
		if (is_counter(i))
			diff.n[i] -= min_u64(from->n[i], to->n[i]);
	}
	return diff;
}

int
stall_stats_are_plausible(const struct stall_stats *f)
{
	const uint64_t *n = f->n, most = n[STAT_TIME] / 8 * 9;

	return n[STAT_WAIT_TCP] + n[STAT_WAIT_WINDOW] +
	    n[STAT_WAIT_INPUT] <= most &&
	    n[STAT_WAIT_OUTPUT] + n[STAT_WAIT_NET] <= most &&
	    n[STAT_CPU] + n[STAT_WAIT_CPU] <= most &&
	    n[STAT_FILE_READ] + n[STAT_FILE_WRITE] <= most;
}

unsigned int
stall_stats_percent(const struct stall_stats *f, enum stall_stat which)
{
	double part = (double)f->n[which];

	if (f->n[which] == 0)
		return 0;
	if (f->n[which] >= f->n[STAT_TIME])
		return 100;
	return (unsigned int)(100.0 * part / (double)f->n[STAT_TIME]);
}

uint64_t
stall_stats_scale(uint64_t a, uint64_t b, uint64_t by)
{
	double r;

	if (by == 0)
		return 0;
	r = (double)a * (double)b / (double)by;
	return r >= (double)VALUE_MAX ? VALUE_MAX : (uint64_t)r;
}

uint64_t
stall_stats_rate(const struct stall_stats *f, enum stall_stat which)
{
	return stall_stats_scale(f->n[which], 1000000, f->n[STAT_TIME]);
}

static void
put_be(unsigned char *p, uint64_t n, int bytes)
{
	while (bytes-- > 0) {
		p[bytes] = (unsigned char)n;
		n >>= 8;
	}
}

static uint64_t
get_be(const unsigned char *p, int bytes)
{
	uint64_t n = 0;

	while (bytes-- > 0)
		n = n << 8 | *p++;
	return n;
}

void
stall_stats_encode(const struct stall_stats *f,
    unsigned char out[STALL_STATS_WIRE_LEN])
{
	int i;

	put_be(out, STALL_STATS_VERSION, 4);
	put_be(out + 4, STAT_COUNT, 4);
	for (i = 0; i < STAT_COUNT; i++)
		put_be(out + 8 + 8 * i, f->n[i], 8);
}

int
stall_stats_decode(struct stall_stats *f, const unsigned char *p, size_t len)
{
	uint64_t i, n;

	memset(f, 0, sizeof(*f));
	if (len < 8 || get_be(p, 4) != STALL_STATS_VERSION)
		return -1;
	n = get_be(p + 4, 4);
	if (n > COUNT_MAX || len < 8 + 8 * n)
		return -1;
	for (i = 0; i < n && i < STAT_COUNT; i++)
		f->n[i] = min_u64(get_be(p + 8 + 8 * i, 8), VALUE_MAX);
	return 0;
}
