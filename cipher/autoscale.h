/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * autoscale: how many threads bring something, by trying.
 *
 * More threads help where this process has no CPU time left, spends a good
 * part of it on sealing and opening, and the machine has a core to spare. All
 * three can be seen, but whether a thread pays can only be measured: one more
 * is taken on trial, stays if data moved faster with it, and is not tried
 * again for a while if it did not.
 *
 * It reads no clock and starts no thread. Not thread safe; no upstream header.
 */

#ifndef AUTOSCALE_H
#define AUTOSCALE_H

#include <stdint.h>

/* No sooner than this is there anything to decide. */
#define AUTOSCALE_US	150000

/* Totals since the session began, except for the last two */
struct autoscale_now {
	uint64_t now_us;
	uint64_t bytes;		/* sealed and opened */
	uint64_t crypto_us;	/* spent on that, by whoever did it; 0: unknown */
	uint64_t cpu_us;	/* of the owner's thread */
	unsigned int cores;	/* that this process may use */
	double	free_cores;	/* idle since the last time; < 0: unknown */
};

struct autoscale {
	int	 measured;	/* what sealing costs is being measured */
	unsigned int threads;	/* to have */
	/* private */
	struct autoscale_now last;
	int	 trial;		/* intervals since one more was taken */
	uint64_t rate_before;	/* bytes per second, of the trial */
	int64_t	 rate_mean;	/* of the last intervals */
	int64_t	 rate_best;	/* mean that was reached with so many threads */
	uint64_t retry_us, pause_us;
};

/*
 * Zeroed before the first call. Returns 1 if "measured" or "threads" changed.
 */
int	autoscale_decide(struct autoscale *, const struct autoscale_now *);

#endif /* AUTOSCALE_H */
