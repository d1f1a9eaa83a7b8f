/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

#include "autoscale.h"
#include "minmax.h"
#include "pool.h"

#define FIRST_BYTES	(8 << 20)	/* shorter sessions gain nothing */
#define BULK_RATE	(20 << 20)	/* bytes per second; less needs none */
#define BUSY		0.80		/* CPU time of the owner, of a core */
#define CRYPTO		0.15		/* of a core; less is not worth it */
#define SPARE_CORES		0.50	/* idle cores that a trial needs */
#define SPARE_SMOOTH	3		/* intervals in their mean */
#define PAYS		1.03		/* its mean rate, times that before */
#define SLOWER		0.90		/* mean rate, times the best one */
#define SMOOTH		8		/* intervals in the mean rate */
#define TRIAL_INTERVALS	4		/* intervals of a trial, after one */
#define PAUSE_US	5000000		/* after a trial that did not pay */
#define PAUSE_MOST_US	80000000

/* An uneven rate that is low at the moment would make any thread pay. */
static void
begin_trial(struct autoscale *a, uint64_t rate)
{
	a->threads++;
	a->state = AUTOSCALE_TRIAL;
	a->intervals = 0;
	a->rate_trial = 0;
	a->rate_before = max_u64(rate, (uint64_t)a->rate_mean);
}

/* Keeps this number of threads, and starts no trial for a while. */
static void
end_trials(struct autoscale *a, unsigned int threads, uint64_t now_us)
{
	a->threads = threads;
	a->state = threads == 0 ? AUTOSCALE_OFF : AUTOSCALE_STEADY;
	a->rate_best = 0;
	a->pause_us = a->pause_us == 0 ? PAUSE_US : a->pause_us * 2;
	if (a->pause_us > PAUSE_MOST_US)
		a->pause_us = PAUSE_MOST_US;
	a->retry_us = now_us + a->pause_us;
}

static void
judge_trial(struct autoscale *a, uint64_t rate, uint64_t now_us)
{
	if (a->intervals++ == 0)
		return;		/* the start is in this one */
	a->rate_trial += rate / TRIAL_INTERVALS;
	if (a->intervals <= TRIAL_INTERVALS)
		return;
	if ((double)a->rate_trial < PAYS * (double)a->rate_before) {
		end_trials(a, a->threads - 1, now_us);
		return;
	}
	a->state = AUTOSCALE_STEADY;
	a->rate_best = a->rate_mean = (int64_t)a->rate_trial;
	a->pause_us = 0;
	a->retry_us = now_us + AUTOSCALE_US;
}

/* Little data moves, so no thread is needed. Measurements are kept. */
static void
remove_all_threads(struct autoscale *a)
{
	a->threads = 0;
	if (a->state == AUTOSCALE_TRIAL)
		a->state = AUTOSCALE_STEADY;
	a->rate_best = 0;
}

/*
 * The idle share of a core differs much from one interval to the next: where
 * both ends of a copy share two cores, half a core is idle now and then, but a
 * thread on it slows the copy down.
 */
static int
has_spare_core(struct autoscale *a, double free_cores)
{
	if (free_cores < 0)
		return 0;
	a->free_mean += (free_cores - a->free_mean) / SPARE_SMOOTH;
	return a->free_mean >= SPARE_CORES;
}

/* "busy" and "crypto" are shares of a core, in this interval. */
static void
judge_interval(struct autoscale *a, const struct autoscale_now *now,
    uint64_t rate, double busy, double crypto)
{
	int spare = has_spare_core(a, now->free_cores);

	if (rate < BULK_RATE) {
		remove_all_threads(a);
		return;
	}
	if (a->state == AUTOSCALE_TRIAL) {
		judge_trial(a, rate, now->now_us);
		return;
	}
	a->rate_mean += ((int64_t)rate - a->rate_mean) / SMOOTH;
	if (a->rate_mean > a->rate_best)
		a->rate_best = a->rate_mean;
	if (a->threads > 0 && !spare &&
	    (double)a->rate_mean < SLOWER * (double)a->rate_best) {
		end_trials(a, a->threads - 1, now->now_us);
		return;
	}
	if (busy < BUSY || !spare || now->now_us < a->retry_us ||
	    a->threads + 1 >= now->cores || a->threads >= POOL_MAX)
		return;
	if (a->state == AUTOSCALE_OFF)
		a->state = AUTOSCALE_STEADY;
	else if (crypto >= CRYPTO)
		begin_trial(a, rate);
}

int
autoscale_decide(struct autoscale *a, const struct autoscale_now *now)
{
	uint64_t us = now->now_us - a->last.now_us;
	unsigned int threads = a->threads;
	int off = a->state == AUTOSCALE_OFF;

	if (a->last.now_us == 0) {
		a->last = *now;
		return 0;
	}
	if (us < AUTOSCALE_US)
		return 0;
	if (now->bytes >= FIRST_BYTES)
		judge_interval(a, now,
		    (now->bytes - a->last.bytes) * 1000000 / us,
		    (double)(now->cpu_us - a->last.cpu_us) / us,
		    (double)(now->crypto_us - a->last.crypto_us) / us);
	a->last = *now;
	return a->threads != threads || (a->state == AUTOSCALE_OFF) != off;
}

void
autoscale_set_started(struct autoscale *a, unsigned int threads)
{
	if (threads < a->threads)
		end_trials(a, threads, a->last.now_us);
}
