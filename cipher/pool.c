/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * One mutex guards the list of jobs that nobody has begun and the states of the
 * threads. Only a job's state is read without it: JOB_DONE is written with
 * release order and read with acquire order, so whoever reads it sees what the
 * job wrote.
 */

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "clock.h"
#include "pool.h"

/*
 * Valgrind's helgrind does not know C11 atomics: these macros say what they
 * order.
 */
#ifdef POOL_HELGRIND
#include <valgrind/helgrind.h>
#define NO_RACE_IN(p)	VALGRIND_HG_DISABLE_CHECKING(p, sizeof(*(p)))
#define PUBLISHES(p)	ANNOTATE_HAPPENS_BEFORE(p)
#define SEES(p)		ANNOTATE_HAPPENS_AFTER(p)
#else
#define NO_RACE_IN(p)
#define PUBLISHES(p)
#define SEES(p)
#endif

#define STACK	(256 * 1024)	/* bytes */
#define SPIN_US	50		/* about one read or write of the owner's */

/* JOB_NEW -> JOB_SUBMITTED -> JOB_STARTED -> JOB_DONE */
enum job_state { JOB_NEW, JOB_SUBMITTED, JOB_STARTED, JOB_DONE };

/* ABSENT -> RUNNING -> ENDED, when it returned -> ABSENT, when it was joined */
enum worker_state { WORKER_ABSENT, WORKER_RUNNING, WORKER_ENDED };

static struct {
	pthread_mutex_t	 mutex;
	pthread_cond_t	 work;		/* threads wait here for a job */
	pthread_cond_t	 done;		/* the owner and fork() wait here */
	struct pool_job	*first, **last;	/* jobs that nobody has begun */
	atomic_int	 queued;	/* how many these are */
	unsigned int	 size;		/* threads that are running */
	unsigned int	 target;	/* workers above this one end */
	unsigned int	 idle;		/* running threads that wait for work */
	unsigned int	 busy;		/* running threads that run a job */
	struct pool_job	*wanted;	/* the owner sleeps until it is done */
	int		 forking;	/* no thread may begin a job */
	int		 prepared;	/* handlers for fork and exit are set */
	long		 cores;		/* of the machine */
	struct {
		pthread_t	thread;
		enum worker_state state;
	} worker[POOL_MAX + 1];
} pool = {
	.mutex = PTHREAD_MUTEX_INITIALIZER,
	.work = PTHREAD_COND_INITIALIZER,
	.done = PTHREAD_COND_INITIALIZER,
	.last = &pool.first,
};

/* Call it for a job that was taken out of the list. The mutex is held. */
static void
mark_started(struct pool_job *job)
{
	atomic_fetch_sub_explicit(&pool.queued, 1, memory_order_relaxed);
	atomic_store_explicit(&job->state, JOB_STARTED, memory_order_relaxed);
}

/* Takes the first job out of the list; NULL if none. The mutex is held. */
static struct pool_job *
start_first(void)
{
	struct pool_job *job = pool.first;

	if (job == NULL)
		return NULL;
	if ((pool.first = job->next) == NULL)
		pool.last = &pool.first;
	mark_started(job);
	return job;
}

static void
run_pool_job(struct pool_job *job, unsigned int worker)
{
	job->run(job, worker);
	PUBLISHES(&job->state);
	atomic_store_explicit(&job->state, JOB_DONE, memory_order_release);
}

/*
 * Waits a moment. Returns 0 when sleeping is better. Sleeping and waking cost
 * both threads some microseconds, and in a stream of packets more work comes
 * soon. On one core, spinning would only keep the other thread from its work.
 */
static int
spin_once(uint64_t since_us)
{
#ifdef __x86_64__
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile ("yield");
#endif
	return pool.cores > 1 && clock_us() - since_us < SPIN_US;
}

/*
 * Threads
 */

/*
 * Returns 1 when there is a job to begin, 0 when this thread should end. The
 * mutex is held.
 */
static int
wait_for_work(unsigned int self)
{
	struct timespec until;
	uint64_t since = clock_us();
	int r = 0;

	if (pool.first == NULL && self <= pool.target && !pool.forking) {
		pthread_mutex_unlock(&pool.mutex);
		while (atomic_load_explicit(&pool.queued,
		    memory_order_relaxed) == 0 && spin_once(since))
			continue;
		pthread_mutex_lock(&pool.mutex);
	}
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += POOL_IDLE_MS / 1000;
	pool.idle++;
	while ((pool.first == NULL || pool.forking) && self <= pool.target &&
	    r != ETIMEDOUT)
		r = pthread_cond_timedwait(&pool.work, &pool.mutex, &until);
	pool.idle--;
	return pool.first != NULL && !pool.forking && self <= pool.target;
}

static void *
run_worker(void *arg)
{
	unsigned int self = (unsigned int)(uintptr_t)arg;
	struct pool_job *job;

	pthread_mutex_lock(&pool.mutex);
	while (wait_for_work(self)) {
		job = start_first();
		pool.busy++;
		pthread_mutex_unlock(&pool.mutex);
		run_pool_job(job, self);
		pthread_mutex_lock(&pool.mutex);
		pool.busy--;
		if (pool.wanted == job || pool.forking)
			pthread_cond_broadcast(&pool.done);
	}
	pool.worker[self].state = WORKER_ENDED;
	pool.size--;
	pthread_mutex_unlock(&pool.mutex);
	return NULL;
}

/* Joins the threads that have ended, and those above the target, which will. */
static void
join_ended_workers(void)
{
	unsigned int i;

	for (i = 1; i <= POOL_MAX; i++) {
		pthread_mutex_lock(&pool.mutex);
		if (pool.worker[i].state == WORKER_ENDED ||
		    (pool.worker[i].state == WORKER_RUNNING &&
		    i > pool.target)) {
			pthread_mutex_unlock(&pool.mutex);
			pthread_join(pool.worker[i].thread, NULL);
			pthread_mutex_lock(&pool.mutex);
			pool.worker[i].state = WORKER_ABSENT;
		}
		pthread_mutex_unlock(&pool.mutex);
	}
}

/* Returns when no thread runs a job; none begins one until the fork is over. */
static void
before_fork(void)
{
	pthread_mutex_lock(&pool.mutex);
	pool.forking = 1;
	while (pool.busy > 0)
		pthread_cond_wait(&pool.done, &pool.mutex);
}

static void
after_fork(void)
{
	pool.forking = 0;
	pthread_cond_broadcast(&pool.work);
	pthread_mutex_unlock(&pool.mutex);
}

static void
in_child(void)
{
	unsigned int i;

	for (i = 1; i <= POOL_MAX; i++)
		pool.worker[i].state = WORKER_ABSENT;
	pool.size = pool.target = pool.idle = 0;
	pool.forking = 0;
	/* The threads that waited here are not in this process. */
	pthread_cond_init(&pool.work, NULL);
	pthread_cond_init(&pool.done, NULL);
	pthread_mutex_unlock(&pool.mutex);
}

/* No thread may be in libcrypto when exit() takes it down. */
static void
stop_all_workers(void)
{
	pool_resize(0);
}

/*
 * Sets what a process with threads needs, once. Returns 0, or -1 if the process
 * could not fork or exit safely.
 */
static int
prepare_process(void)
{
	if (pool.prepared)
		return 0;
	NO_RACE_IN(&pool.queued);
	if (atexit(stop_all_workers) != 0 ||
	    pthread_atfork(before_fork, after_fork, in_child) != 0)
		return -1;
#ifdef M_ARENA_MAX
	mallopt(M_ARENA_MAX, 1);	/* else each thread reserves 64 MB */
#endif
	pool.cores = sysconf(_SC_NPROCESSORS_ONLN);
	pool.prepared = 1;
	return 0;
}

static int
start_worker(unsigned int self)
{
	pthread_attr_t attr;
	int r;

	if ((r = pthread_attr_init(&attr)) != 0)
		return r;
	pthread_attr_setstacksize(&attr, STACK);
	r = pthread_create(&pool.worker[self].thread, &attr,
	    run_worker, (void *)(uintptr_t)self);
	pthread_attr_destroy(&attr);
	return r;
}

/* Starts the absent ones of "want" workers, until the system starts no more. */
static void
start_missing_workers(unsigned int want)
{
	unsigned int i;

	for (i = 1; i <= want; i++) {
		pthread_mutex_lock(&pool.mutex);
		if (pool.target < i)
			pool.target = i;
		if (pool.worker[i].state == WORKER_ENDED) {
			pthread_join(pool.worker[i].thread, NULL);
			pool.worker[i].state = WORKER_ABSENT;
		}
		if (pool.worker[i].state == WORKER_ABSENT &&
		    start_worker(i) == 0) {
			pool.worker[i].state = WORKER_RUNNING;
			pool.size++;
		}
		if (pool.worker[i].state != WORKER_RUNNING)
			pool.target = i - 1;
		pthread_mutex_unlock(&pool.mutex);
		if (pool.target < i)
			return;
	}
}

unsigned int
pool_resize(unsigned int want)
{
	sigset_t all, were;

	if (want > POOL_MAX)
		want = POOL_MAX;
	pthread_mutex_lock(&pool.mutex);
	pool.target = pool.target < want ? pool.target : want;
	pthread_cond_broadcast(&pool.work);
	pthread_mutex_unlock(&pool.mutex);
	join_ended_workers();
	if (want > 0 && prepare_process() == 0) {
		sigfillset(&all);
		pthread_sigmask(SIG_SETMASK, &all, &were);
		start_missing_workers(want);
		pthread_sigmask(SIG_SETMASK, &were, NULL);
	}
	return pool_size();
}

unsigned int
pool_size(void)
{
	unsigned int n;

	pthread_mutex_lock(&pool.mutex);
	n = pool.size;
	pthread_mutex_unlock(&pool.mutex);
	return n;
}

/*
 * Jobs
 */

void
pool_submit(struct pool_job *job)
{
	job->next = NULL;
	NO_RACE_IN(&job->state);
	atomic_store_explicit(&job->state, JOB_SUBMITTED, memory_order_relaxed);
	pthread_mutex_lock(&pool.mutex);
	*pool.last = job;
	pool.last = &job->next;
	atomic_fetch_add_explicit(&pool.queued, 1, memory_order_relaxed);
	if (pool.idle > 0)
		pthread_cond_signal(&pool.work);
	pthread_mutex_unlock(&pool.mutex);
}

unsigned int
pool_count_queued(void)
{
	return (unsigned int)atomic_load_explicit(&pool.queued,
	    memory_order_relaxed);
}

int
pool_is_done(struct pool_job *job)
{
	if (atomic_load_explicit(&job->state, memory_order_acquire) != JOB_DONE)
		return 0;
	SEES(&job->state);
	return 1;
}

int
pool_is_started(struct pool_job *job)
{
	return atomic_load_explicit(&job->state, memory_order_relaxed) ==
	    JOB_STARTED;
}

/*
 * Takes this job out of the list; returns 0 if somebody has begun it. The mutex
 * is held.
 */
static int
start_this(struct pool_job *job)
{
	struct pool_job **p;

	for (p = &pool.first; *p != NULL; p = &(*p)->next) {
		if (*p != job)
			continue;
		if ((*p = job->next) == NULL)
			pool.last = p;
		mark_started(job);
		return 1;
	}
	return 0;
}

void
pool_wait(struct pool_job *job)
{
	struct pool_job *other = NULL;
	uint64_t since;

	/* While a thread runs this job, the owner runs others. */
	while (!pool_is_done(job)) {
		pthread_mutex_lock(&pool.mutex);
		other = start_this(job) ? job : start_first();
		pthread_mutex_unlock(&pool.mutex);
		if (other == NULL)
			break;
		run_pool_job(other, 0);
	}
	since = clock_us();
	while (!pool_is_done(job) && spin_once(since))
		continue;
	if (pool_is_done(job))
		return;
	pthread_mutex_lock(&pool.mutex);
	pool.wanted = job;
	while (!pool_is_done(job))
		pthread_cond_wait(&pool.done, &pool.mutex);
	pool.wanted = NULL;
	pthread_mutex_unlock(&pool.mutex);
}
