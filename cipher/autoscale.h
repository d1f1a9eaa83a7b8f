/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * autoscale: decides how many threads seal and open packets, by trials.
 *
 * More threads help where this process has no CPU time left, spends a good part
 * of it on sealing and opening, and the machine has a core to spare. All three
 * can be seen, but whether a thread pays can only be measured:
 *
 *	OFF -----> STEADY -----> TRIAL      one more thread
 *	 ^          |   ^          |
 *	 +----------+   +----------+        it stays if data moved faster
 *
 * OFF: the cost of sealing is not measured, and there is no thread. STEADY: it
 * is measured, and the number of threads stays. A trial that did not pay is not
 * repeated for a while.
 *
 * It reads no clock and starts no thread. Not thread safe; no upstream header.
 */

#ifndef HAYATE_AUTOSCALE_H
#define HAYATE_AUTOSCALE_H

#include <stdint.h>

/* Shorter intervals are not judged: microseconds. */
#define AUTOSCALE_US	150000

/* Totals since the session began, except for the last two */
struct autoscale_now {
	uint64_t now_us;
	uint64_t bytes;		/* sealed and opened */
	uint64_t crypto_us;	/* that took, in all threads; 0: unknown */
	uint64_t cpu_us;	/* CPU time of the owner's thread */
	unsigned int cores;	/* that this process may use */
	double	free_cores;	/* idle since the last call; < 0: unknown */
};

enum autoscale_state { AUTOSCALE_OFF, AUTOSCALE_STEADY, AUTOSCALE_TRIAL };

struct autoscale {
	enum autoscale_state state;
	unsigned int threads;	/* that there should be */
	/* private */
	struct autoscale_now last;
	int	 intervals;	/* of this trial */
	uint64_t rate_before;	/* bytes per second, before the trial */
	uint64_t rate_trial;	/* the mean in it, once it is over */
	int64_t	 rate_mean;	/* of the last intervals */
	int64_t	 rate_best;	/* the best mean with so many threads */
	double	 free_mean;	/* idle cores, of the last intervals */
	uint64_t retry_us;	/* no trial before this time */
	uint64_t pause_us;	/* after the last trial that did not pay */
};

/*
 * Judges the interval since the last call. The structure is zeroed before the
 * first. Returns 1 if "threads" has changed, or "state" from or to OFF.
 */
int	autoscale_decide(struct autoscale *, const struct autoscale_now *);

/*
 * No more than so many threads could be made. If that is fewer than there
 * should be, a trial has failed, and the next one waits as after any that did.
 */
void	autoscale_set_started(struct autoscale *, unsigned int threads);

#endif /* HAYATE_AUTOSCALE_H */
