/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * pool: jobs for other cores, or for this one.
 *
 * Jobs are begun in the order in which they were given. Who waits for a job
 * that nobody has begun does it himself, so nothing waits for a thread to
 * exist: without threads the pool is a list of functions to call later.
 *
 * One pool a process. All functions are for the one thread that owns it, which
 * is worker 0 in the jobs that it does itself. The threads are workers 1 and
 * up; they block all signals and end after idling for POOL_IDLE_MS. In the
 * child of a fork there is the same pool without threads: fork() waits until
 * no job is being done, and what was not begun can be done by the child.
 *
 * No upstream header.
 */

#ifndef POOL_H
#define POOL_H

#include <stdatomic.h>

#define POOL_MOST	16	/* threads */
#define POOL_IDLE_MS	2000

/* Part of whatever a job is; zeroed before its first use. */
struct pool_job {
	/* Must not log, exit, or touch what another job may touch. */
	void	(*run)(struct pool_job *, unsigned int worker);
	struct pool_job *next;	/* private, like the rest */
	atomic_int state;
};

/*
 * Starts or ends threads until there are "want". Returns how many there are:
 * fewer where the system gives no more.
 */
unsigned int pool_resize(unsigned int want);

/* Threads that are there, less those that idled away. */
unsigned int pool_size(void);

/* The job is the pool's until it is done. */
void	pool_give(struct pool_job *);

/* Jobs that nobody has begun. */
unsigned int pool_given(void);

/* Whether a job is done. */
int	pool_done(struct pool_job *);

/* Whether a job that is not done has been begun. */
int	pool_begun(struct pool_job *);

/*
 * Does a job, or others for as long as somebody is at it, and waits where there
 * are none.
 */
void	pool_finish(struct pool_job *);

#endif /* POOL_H */
