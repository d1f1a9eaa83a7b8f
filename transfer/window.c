/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See window.h. */

#include "minmax.h"
#include "window.h"

#define RTT_LEAST	8000

/* Rates above that of the window in a row show that it is no limit. */
#define BEYOND_MOST	3

static const unsigned int levels[] = { 2, 4, 8, 10 };

/* "bytes" were acknowledged in a round trip. */
static void
consider(struct window *w, uint64_t bytes, unsigned int n)
{
	uint64_t cap = (uint64_t)WINDOW_BYTES * n, need = 0;
	unsigned int i;
	int rises = w->best > 0 && bytes >= w->best + w->best / 2;

	if (n != w->with) {
		/* Channels were added in this period: it tells nothing. */
		w->with = n;
		w->best = 0;
		return;
	}
	w->beyond = n == 1 && bytes > cap + cap / 4 ? w->beyond + 1 : 0;
	if (w->beyond >= BEYOND_MOST)
		w->never = 1;
	w->limited = w->beyond == 0 && bytes >= cap / 10 * 6;
	if (rises && w->beyond == 0 && bytes >= cap / 10 * 3)
		need = 4 * bytes;
	else if (w->limited)
		need = cap;		/* and a little: the next level */
	for (i = 0; need > 0 && i < sizeof(levels) / sizeof(*levels); i++) {
		w->want = (unsigned int)max_u64(w->want, levels[i]);
		if ((uint64_t)WINDOW_BYTES / 10 * 8 * levels[i] >= need)
			need = 0;
	}
	w->best = max_u64(w->best, bytes);
}

void
window_count(struct window *w, uint32_t len, uint64_t age, uint64_t now,
    unsigned int has)
{
	if (w->rtt == 0 || age < w->rtt)
		w->rtt = max_u64(age, 1);
	if (w->since == 0) {
		w->since = now;
		return;
	}
	w->sum += len;
	if (now - w->since < w->rtt)
		return;
	if (w->rtt >= RTT_LEAST && !w->never)
		consider(w, w->sum * w->rtt / (now - w->since), has);
	w->since = now;
	w->sum = 0;
}

int
window_may_limit(const struct window *w)
{
	return !w->never && (w->rtt == 0 || w->rtt >= RTT_LEAST);
}
