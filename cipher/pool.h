/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * pool: runs jobs in threads, or in the thread that waits for them.
 *
 * Jobs are begun in the order in which they were submitted. A caller that waits
 * for a job which no thread has begun runs it itself. So nothing depends on a
 * thread: without any, the pool is a list of functions to call later.
 *
 * There is one pool in a process. Only the thread that owns it may call these
 * functions. The owner is worker 0 in the jobs that it runs itself. The threads
 * are workers 1 and up. They block all signals, and end when they have had no
 * work for POOL_IDLE_MS. The child of a fork has the same pool without threads:
 * fork() waits until no thread runs a job, and the child can run those that
 * were not begun.
 *
 * No upstream header.
 */

#ifndef HAYATE_POOL_H
#define HAYATE_POOL_H

#include <stdatomic.h>

#define POOL_MAX	16	/* threads */
#define POOL_IDLE_MS	2000

/* The first member of the caller's own job; zeroed before its first use. */
struct pool_job {
	/*
	 * Does the work. It must not log, exit, or touch what another job may
	 * touch.
	 */
	void	(*run)(struct pool_job *, unsigned int worker);
	struct pool_job *next;	/* private */
	atomic_int state;	/* private */
};

/*
 * Starts or ends threads until there are "want". Returns how many there are.
 * They are fewer when the system does not start more.
 */
unsigned int pool_resize(unsigned int want);

/* Threads that exist: those that were started and have not ended. */
unsigned int pool_size(void);

/* The caller may not touch the job until it is done. */
void	pool_submit(struct pool_job *);

/* Jobs that were submitted and that nobody has begun. */
unsigned int pool_count_queued(void);

/* Whether a job is done. */
int	pool_is_done(struct pool_job *);

/* Whether a job that is not done has been begun. */
int	pool_is_started(struct pool_job *);

/*
 * Returns when the job is done. Runs it if nobody has begun it. While a thread
 * runs it, the caller runs other jobs, or waits if there are none.
 */
void	pool_wait(struct pool_job *);

#endif /* HAYATE_POOL_H */
