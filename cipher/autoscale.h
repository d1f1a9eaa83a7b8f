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
 *	 |          |   +----------+        it stays if data moved faster
 *	 +----------+--------------+        the only thread was removed
 *
 * OFF       There is no thread, and the cost of sealing and opening need not be
 *           measured. STEADY follows if at least 20 MiB/s move, the pool's
 *           owner uses 80 % of a core, and half a core is idle.
 * STEADY    The number of threads stays as it is, 0 right after OFF. The caller
 *           measures the cost. TRIAL follows if these conditions still hold and
 *           the cost is 15 % of a core or more. If the rate falls by 10 % while
 *           less than half a core is idle, one thread is removed.
 * TRIAL     For five intervals there is one more thread. If it has raised the
 *           rate by 3 %, it stays and STEADY follows; otherwise it is removed.
 *
 * After a thread was removed, the state is STEADY, or OFF if no thread is left,
 * and for 5 to 80 s no thread is added and OFF is not left. Below 20 MiB/s no
 * threads are wanted: "threads" becomes 0 without such a pause, TRIAL becomes
 * STEADY, and STEADY and OFF stay as they are.
 *
 * The module reads no clock and starts no thread. Not thread safe; no upstream
 * header.
 */

#ifndef HAYATE_AUTOSCALE_H
#define HAYATE_AUTOSCALE_H

#include <stdint.h>

#define AUTOSCALE_US	150000	/* least time between two decisions */

/*
 * Measurements of the caller. Totals count from the beginning of the session;
 * that of the cost may stand still in OFF.
 */
struct autoscale_now {
	uint64_t now_us;	/* monotonic clock, never 0 */
	uint64_t bytes;		/* total: of packets sealed and opened */
	uint64_t crypto_us;	/* total: time of that, in all threads */
	uint64_t cpu_us;	/* total: CPU time of the pool's owner */
	unsigned int cores;	/* cores that this process may use */
	/*
	 * Mean number of the machine's cores that were idle since the last
	 * decision; negative: unknown, which counts as none
	 */
	double	free_cores;
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
	int64_t	 rate_mean;	/* bytes per second in the last 8 intervals */
	int64_t	 rate_best;	/* best rate_mean with this number of threads */
	double	 free_mean;	/* mean of the last values of free_cores */
	uint64_t retry_us;	/* no trial before this time */
	uint64_t pause_us;	/* last pause; 0 after a trial that paid */
};

/*
 * Evaluates the time since the last decision, if it is AUTOSCALE_US or longer;
 * otherwise does nothing and returns 0. Zero the structure before the first
 * call, which only stores the measurements and returns 0. Nothing changes until
 * the session has moved 8 MiB. The owner keeps a core, so at most "cores" - 1
 * threads are wanted, and at most POOL_MAX.
 *
 * Returns 1 if "threads" has changed, or "state" has become OFF or left it:
 * start or end threads then, and report with autoscale_set_started() how many
 * there are.
 */
int	autoscale_decide(struct autoscale *, const struct autoscale_now *);

/*
 * Says how many threads there are now. A number below "threads" means that the
 * system could start no more, and counts as a failed trial: "threads" becomes
 * that number, the state becomes STEADY, or OFF if the number is 0, and a pause
 * without trials begins. It lasts 5 s, or twice as long as the last one if no
 * trial has paid since, but at most 80 s. Any other number changes nothing. Do
 * not report a number that is lower because idle threads have ended (pool.h).
 */
void	autoscale_set_started(struct autoscale *, unsigned int threads);

#endif /* HAYATE_AUTOSCALE_H */
