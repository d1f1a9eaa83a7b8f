/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See figures.h for the idea. */

#include <string.h>

#include "figures.h"
#include "minmax.h"

/* A peer that tells more is none of ours, however much later it is. */
#define NUMBER_MAX	1000

/* Larger numbers are none: sums of a few of these do not overflow. */
#define LARGEST		((uint64_t)1 << 56)

static int
is_sum(int i)
{
	return i < FIGURE_MIN_RTT;
}

struct figures
figures_since(const struct figures *from, const struct figures *to)
{
	struct figures span = *to;
	int i;

	for (i = 0; i < FIGURES; i++) {
		/* A peer may tell anything. */
		if (is_sum(i))
			span.n[i] -= min_u64(from->n[i], to->n[i]);
	}
	return span;
}

int
figures_are_sane(const struct figures *f)
{
	const uint64_t *n = f->n, most = n[FIGURE_TIME] / 8 * 9;

	return n[FIGURE_TCP] + n[FIGURE_WINDOW] + n[FIGURE_INPUT] <= most &&
	    n[FIGURE_OUTPUT] + n[FIGURE_NET] <= most &&
	    n[FIGURE_CPU] + n[FIGURE_QUEUE] <= most &&
	    n[FIGURE_READ] + n[FIGURE_WRITE] <= most;
}

unsigned int
figures_share(const struct figures *f, enum figure which)
{
	double part = (double)f->n[which];

	if (f->n[which] == 0)
		return 0;
	if (f->n[which] >= f->n[FIGURE_TIME])
		return 100;
	return (unsigned int)(100.0 * part / (double)f->n[FIGURE_TIME]);
}

uint64_t
figures_scale(uint64_t a, uint64_t b, uint64_t by)
{
	double r;

	if (by == 0)
		return 0;
	r = (double)a * (double)b / (double)by;
	return r >= (double)LARGEST ? LARGEST : (uint64_t)r;
}

uint64_t
figures_rate(const struct figures *f, enum figure which)
{
	return figures_scale(f->n[which], 1000000, f->n[FIGURE_TIME]);
}

static void
put_bytes(unsigned char *p, uint64_t n, int bytes)
{
	while (bytes-- > 0) {
		p[bytes] = (unsigned char)n;
		n >>= 8;
	}
}

static uint64_t
get_bytes(const unsigned char *p, int bytes)
{
	uint64_t n = 0;

	while (bytes-- > 0)
		n = n << 8 | *p++;
	return n;
}

void
figures_write(const struct figures *f, unsigned char out[FIGURES_ROOM])
{
	int i;

	put_bytes(out, FIGURES_VERSION, 4);
	put_bytes(out + 4, FIGURES, 4);
	for (i = 0; i < FIGURES; i++)
		put_bytes(out + 8 + 8 * i, f->n[i], 8);
}

int
figures_read(struct figures *f, const unsigned char *p, size_t len)
{
	uint64_t i, n;

	memset(f, 0, sizeof(*f));
	if (len < 8 || get_bytes(p, 4) != FIGURES_VERSION)
		return -1;
	n = get_bytes(p + 4, 4);
	if (n > NUMBER_MAX || len < 8 + 8 * n)
		return -1;
	for (i = 0; i < n && i < FIGURES; i++)
		f->n[i] = min_u64(get_bytes(p + 8 + 8 * i, 8), LARGEST);
	return 0;
}
