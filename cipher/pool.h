/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * pool: runs jobs in threads, or in the thread that waits for them.
 *
 *	NEW --> pool_submit() --> SUBMITTED --> STARTED, by a worker --> DONE
 *
 * Jobs are started in the order in which they were submitted. pool_wait() runs
 * a job itself if no thread has started it. Without threads, the pool is a list
 * of functions to call later.
 *
 * There is one pool per process, and all calls must come from one thread, its
 * owner: in all our programs the main thread. The owner is worker 0 in the jobs
 * that it runs itself; the threads are workers 1 to POOL_MAX. Each thread
 * blocks all signals, and ends when it has had no work for POOL_IDLE_MS. The
 * child of a fork has a copy of the pool, without threads but with the queued
 * jobs. fork() and exit() wait until no thread runs a job; exit() ends the
 * threads.
 *
 * No upstream header.
 */

#ifndef HAYATE_POOL_H
#define HAYATE_POOL_H

#include <stdatomic.h>

#define POOL_MAX	16	/* threads */
#define POOL_IDLE_MS	2000	/* a thread ends after so long without work */

/*
 * The first member of the caller's own job. Zero it before its first use; when
 * it is done, it may be submitted again. The pool never frees it.
 */
struct pool_job {
	/*
	 * Does the work; set by the caller. "worker" is 0 in the owner. The
	 * function must not log, exit, call the pool, or use data that another
	 * job may change.
	 */
	void	(*run)(struct pool_job *, unsigned int worker);
	struct pool_job *next;	/* private */
	atomic_int state;	/* private */
};

/*
 * Starts or ends threads until there are "want", at most POOL_MAX; blocks until
 * those that end have finished their jobs. Queued jobs stay queued, also with 0
 * threads. Returns the number of threads, which is below "want" if the system
 * starts no more. The first call with a "want" above 0 also installs handlers
 * for fork() and exit(), and limits glibc to one malloc arena.
 */
unsigned int pool_resize(unsigned int want);

/*
 * Returns the number of threads that were started and have not ended; it falls
 * by itself when threads have had no work.
 */
unsigned int pool_size(void);

/*
 * Queues a job, and wakes a thread that waits for work. The caller must not
 * touch the job, or submit it again, until pool_is_done() or pool_wait().
 */
void	pool_submit(struct pool_job *);

/*
 * Returns the number of jobs that were submitted and not started, at about this
 * moment.
 */
unsigned int pool_count_queued(void);

/*
 * Returns 1 if the job is done; its results are visible to the caller then.
 * Else 0, also for a job that was never submitted. Does not block.
 */
int	pool_is_done(struct pool_job *);

/*
 * Returns 1 while the job is running, 0 before and afterwards. The answer may
 * be outdated at once.
 */
int	pool_is_started(struct pool_job *);

/*
 * Returns when the job is done; it must have been submitted. Runs it in the
 * calling thread if no thread has started it. While a thread runs it, the
 * caller runs other queued jobs, or blocks if there are none.
 */
void	pool_wait(struct pool_job *);

#endif /* HAYATE_POOL_H */
