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
 * OFF: there is no thread, and the cost of sealing is not known. When much data
 * moves (20 MiB/s), the process is busy (80 % of a core) and a core is half
 * idle, STEADY follows, in which the caller measures that cost. TRIAL follows
 * if the cost is 15 % of a core or more, and lasts five intervals. A thread is
 * removed if its trial has not raised the rate by 3 %, or if the rate falls by
 * 10 % in STEADY while no core is idle. No trial begins for a while after that,
 * and the state is OFF if no thread is left. While little data moves, there are
 * no threads, and a TRIAL becomes STEADY.
 *
 * The module reads no clock and starts no thread. Not thread safe; no upstream
 * header.
 */

#ifndef HAYATE_AUTOSCALE_H
#define HAYATE_AUTOSCALE_H

#include <stdint.h>

#define AUTOSCALE_US	150000	/* least time between two decisions */

/* Measurements of the caller; totals are since the session began */
struct autoscale_now {
	uint64_t now_us;	/* monotonic clock */
	uint64_t bytes;		/* total: sealed and opened */
	uint64_t crypto_us;	/* total: time of that, in all threads */
	uint64_t cpu_us;	/* total: CPU time of the pool's owner */
	unsigned int cores;	/* cores that this process may use */
	double	free_cores;	/* idle since last decision; < 0: as if none */
};

/* OFF is the state of a zeroed struct autoscale; see above. */
enum autoscale_state { AUTOSCALE_OFF, AUTOSCALE_STEADY, AUTOSCALE_TRIAL };

struct autoscale {
	enum autoscale_state state;
	unsigned int threads;	/* the wanted number of threads; OFF: 0 */
	struct autoscale_now last;	/* of the last decision; zero: none */
	/* private */
	int	 intervals;	/* TRIAL: intervals since it began */
	uint64_t rate_before;	/* TRIAL: bytes per second before it */
	uint64_t rate_trial;	/* TRIAL: its mean rate, valid at its end */
	int64_t	 rate_mean;	/* mean rate of the last 8 intervals */
	int64_t	 rate_best;	/* best rate_mean with this number of threads */
	double	 free_mean;	/* mean of the last values of free_cores */
	uint64_t retry_us;	/* no trial before this time */
	uint64_t pause_us;	/* last pause; doubles if a trial fails */
};

/*
 * Evaluates the time since the last decision, if it is AUTOSCALE_US or longer;
 * otherwise does nothing and returns 0. Zero the structure before the first
 * call, which only stores the measurements. Nothing changes before 8 MiB have
 * moved. The owner keeps a core: there are at most cores - 1 threads, and at
 * most POOL_MAX.
 *
 * Returns 1 if "threads" has changed, or "state" has become OFF or left it:
 * start or end threads then, and report with autoscale_set_started() how many
 * there are.
 */
int	autoscale_decide(struct autoscale *, const struct autoscale_now *);

/*
 * Says how many threads there are now. Fewer than wanted means that no more
 * could be started. This counts as a failed trial: "threads" becomes that
 * number, the state OFF or STEADY, and no trial begins for 5 s, or twice the
 * last pause, up to 80 s. Any other number changes nothing.
 */
void	autoscale_set_started(struct autoscale *, unsigned int threads);

#endif /* HAYATE_AUTOSCALE_H */
