/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

#include "autoscale.h"

#define FIRST_BYTES	(8 << 20)	/* short sessions never get here */
#define BULK_RATE	(20 << 20)	/* bytes per second; less needs no help */
#define BUSY		0.80		/* of a core, by the owner */
#define CRYPTO		0.15		/* of a core: what there is to gain */
#define FREE		0.50		/* cores */
#define PAYS		1.03		/* times the rate before */
#define LOST		0.90		/* times the best rate, on average */
#define SMOOTH		8		/* intervals: one alone says little */
#define PAUSE_US	5000000		/* after a trial that did not pay */
#define PAUSE_MOST_US	80000000

static void
begin_trial(struct autoscale *a, uint64_t rate)
{
	a->threads++;
	a->trial = 1;
	a->rate_before = rate;
}

static void
one_less(struct autoscale *a, uint64_t now_us)
{
	a->threads--;
	if (a->threads == 0)
		a->measured = 0;
	a->trial = 0;
	a->rate_best = 0;
	a->pause_us = a->pause_us == 0 ? PAUSE_US : a->pause_us * 2;
	if (a->pause_us > PAUSE_MOST_US)
		a->pause_us = PAUSE_MOST_US;
	a->retry_us = now_us + a->pause_us;
}

/* The first interval holds the thread's start. */
static void
end_trial(struct autoscale *a, uint64_t rate, uint64_t now_us)
{
	if (a->trial++ < 2)
		return;
	a->trial = 0;
	if ((double)rate < PAYS * (double)a->rate_before) {
		one_less(a, now_us);
		return;
	}
	a->rate_best = a->rate_mean = (int64_t)rate;
	a->pause_us = 0;
	a->retry_us = now_us + AUTOSCALE_US;
}

/* Sets what there should be, for an interval of "rate" and these shares. */
static void
judge(struct autoscale *a, const struct autoscale_now *now, uint64_t rate,
    double busy, double crypto)
{
	int spare = now->free_cores >= FREE;

	if (rate < BULK_RATE) {
		a->threads = 0;
		a->trial = 0;
		a->rate_best = 0;
		return;
	}
	if (a->trial != 0) {
		end_trial(a, rate, now->now_us);
		return;
	}
	a->rate_mean += ((int64_t)rate - a->rate_mean) / SMOOTH;
	if (a->rate_mean > a->rate_best)
		a->rate_best = a->rate_mean;
	if (a->threads > 0 && !spare &&
	    (double)a->rate_mean < LOST * (double)a->rate_best) {
		one_less(a, now->now_us);
		return;
	}
	if (busy < BUSY || !spare || now->now_us < a->retry_us ||
	    a->threads + 1 >= now->cores)
		return;
	if (!a->measured)
		a->measured = 1;
	else if (crypto >= CRYPTO)
		begin_trial(a, rate);
}

int
autoscale_decide(struct autoscale *a, const struct autoscale_now *now)
{
	uint64_t us = now->now_us - a->last.now_us;
	unsigned int threads = a->threads;
	int measured = a->measured;

	if (a->last.now_us == 0) {
		a->last = *now;
		return 0;
	}
	if (us < AUTOSCALE_US)
		return 0;
	if (now->bytes >= FIRST_BYTES)
		judge(a, now, (now->bytes - a->last.bytes) * 1000000 / us,
		    (double)(now->cpu_us - a->last.cpu_us) / us,
		    (double)(now->crypto_us - a->last.crypto_us) / us);
	a->last = *now;
	return a->threads != threads || a->measured != measured;
}
