/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * One mutex guards the list of jobs that nobody has begun, and who is there.
 * A job's state alone is read without it: what its worker wrote before DONE is
 * seen by whoever reads DONE.
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

/* Valgrind's helgrind knows no C11 atomics: it is told what one of them orders. */
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

#define STACK	(256 * 1024)
#define SPIN_US	50		/* as long as the owner reads or writes */

enum { IDLE, GIVEN, BEGUN, DONE };	/* of a job */

enum presence { GONE, HERE, ENDED };	/* ENDED: to be joined */

static struct {
	pthread_mutex_t	 mutex;
	pthread_cond_t	 work;		/* for threads without any */
	pthread_cond_t	 done;		/* for the owner, and for fork() */
	struct pool_job	*first, **last;
	atomic_int	 given;		/* how many these are */
	unsigned int	 size, target;	/* threads HERE; those that may stay */
	unsigned int	 idle;		/* of them, waiting for work */
	unsigned int	 busy;		/* of them, in a job */
	struct pool_job	*wanted;	/* the owner sleeps until it is done */
	int		 forking, prepared;
	long		 cores;		/* of the machine */
	struct {
		pthread_t	thread;
		enum presence	presence;
	} worker[POOL_MOST + 1];
} pool = {
	.mutex = PTHREAD_MUTEX_INITIALIZER,
	.work = PTHREAD_COND_INITIALIZER,
	.done = PTHREAD_COND_INITIALIZER,
	.last = &pool.first,
};

/* The mutex is held. NULL if there is nothing to begin. */
static struct pool_job *
begin_first(void)
{
	struct pool_job *job = pool.first;

	if (job == NULL)
		return NULL;
	if ((pool.first = job->next) == NULL)
		pool.last = &pool.first;
	atomic_fetch_sub_explicit(&pool.given, 1, memory_order_relaxed);
	atomic_store_explicit(&job->state, BEGUN, memory_order_relaxed);
	return job;
}

static void
run(struct pool_job *job, unsigned int worker)
{
	job->run(job, worker);
	PUBLISHES(&job->state);
	atomic_store_explicit(&job->state, DONE, memory_order_release);
}

/*
 * Waits a moment. 0 if that is no longer worth it: to sleep and be woken costs
 * some microseconds of both, and in a stream of packets more work is near. On
 * one core it would only keep the other from it.
 */
static int
spin(uint64_t since_us)
{
#ifdef __x86_64__
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
	return pool.cores > 1 && clock_us() - since_us < SPIN_US;
}

/*
 * Threads
 */

/* The mutex is held. Returns 0 when this thread has idled long enough. */
static int
wait_for_work(unsigned int self)
{
	struct timespec until;
	uint64_t since = clock_us();
	int r = 0;

	if (pool.first == NULL && self <= pool.target && !pool.forking) {
		pthread_mutex_unlock(&pool.mutex);
		while (atomic_load_explicit(&pool.given,
		    memory_order_relaxed) == 0 && spin(since))
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
work(void *arg)
{
	unsigned int self = (unsigned int)(uintptr_t)arg;
	struct pool_job *job;

	pthread_mutex_lock(&pool.mutex);
	while (wait_for_work(self)) {
		job = begin_first();
		pool.busy++;
		pthread_mutex_unlock(&pool.mutex);
		run(job, self);
		pthread_mutex_lock(&pool.mutex);
		pool.busy--;
		if (pool.wanted == job || pool.forking)
			pthread_cond_broadcast(&pool.done);
	}
	pool.worker[self].presence = ENDED;
	pool.size--;
	pthread_mutex_unlock(&pool.mutex);
	return NULL;
}

static void
join_ended(void)
{
	unsigned int i;

	for (i = 1; i <= POOL_MOST; i++) {
		pthread_mutex_lock(&pool.mutex);
		if (pool.worker[i].presence == ENDED ||
		    (pool.worker[i].presence == HERE && i > pool.target)) {
			pthread_mutex_unlock(&pool.mutex);
			pthread_join(pool.worker[i].thread, NULL);
			pthread_mutex_lock(&pool.mutex);
			pool.worker[i].presence = GONE;
		}
		pthread_mutex_unlock(&pool.mutex);
	}
}

/* Before the fork: nobody is in a job, and nobody begins one. */
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

	for (i = 1; i <= POOL_MOST; i++)
		pool.worker[i].presence = GONE;
	pool.size = pool.target = pool.idle = 0;
	pool.forking = 0;
	/* Those who waited here are not in this process. */
	pthread_cond_init(&pool.work, NULL);
	pthread_cond_init(&pool.done, NULL);
	pthread_mutex_unlock(&pool.mutex);
}

/* libcrypto is taken down when the process exits. */
static void
stop(void)
{
	pool_resize(0);
}

/* Once. Returns 0, or -1 if a fork or an exit could not be survived. */
static int
prepare(void)
{
	if (pool.prepared)
		return 0;
	NO_RACE_IN(&pool.given);
	if (atexit(stop) != 0 ||
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
start(unsigned int self)
{
	pthread_attr_t attr;
	int r;

	if ((r = pthread_attr_init(&attr)) != 0)
		return r;
	pthread_attr_setstacksize(&attr, STACK);
	r = pthread_create(&pool.worker[self].thread, &attr, work,
	    (void *)(uintptr_t)self);
	pthread_attr_destroy(&attr);
	return r;
}

/* Whoever is not there: as far as the system gives threads. */
static void
start_missing(unsigned int want)
{
	unsigned int i;

	for (i = 1; i <= want; i++) {
		pthread_mutex_lock(&pool.mutex);
		if (pool.target < i)
			pool.target = i;
		if (pool.worker[i].presence == ENDED) {	/* just now */
			pthread_join(pool.worker[i].thread, NULL);
			pool.worker[i].presence = GONE;
		}
		if (pool.worker[i].presence == GONE && start(i) == 0) {
			pool.worker[i].presence = HERE;
			pool.size++;
		}
		if (pool.worker[i].presence != HERE)
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

	if (want > POOL_MOST)
		want = POOL_MOST;
	pthread_mutex_lock(&pool.mutex);
	pool.target = pool.target < want ? pool.target : want;
	pthread_cond_broadcast(&pool.work);
	pthread_mutex_unlock(&pool.mutex);
	join_ended();
	if (want > 0 && prepare() == 0) {
		sigfillset(&all);
		pthread_sigmask(SIG_SETMASK, &all, &were);
		start_missing(want);
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
pool_give(struct pool_job *job)
{
	job->next = NULL;
	NO_RACE_IN(&job->state);
	atomic_store_explicit(&job->state, GIVEN, memory_order_relaxed);
	pthread_mutex_lock(&pool.mutex);
	*pool.last = job;
	pool.last = &job->next;
	atomic_fetch_add_explicit(&pool.given, 1, memory_order_relaxed);
	if (pool.idle > 0)
		pthread_cond_signal(&pool.work);
	pthread_mutex_unlock(&pool.mutex);
}

unsigned int
pool_given(void)
{
	return (unsigned int)atomic_load_explicit(&pool.given,
	    memory_order_relaxed);
}

int
pool_done(struct pool_job *job)
{
	if (atomic_load_explicit(&job->state, memory_order_acquire) != DONE)
		return 0;
	SEES(&job->state);
	return 1;
}

int
pool_begun(struct pool_job *job)
{
	return atomic_load_explicit(&job->state, memory_order_relaxed) == BEGUN;
}

/* Takes a job that nobody has begun out of the list; 0 if somebody has. */
static int
take(struct pool_job *job)
{
	struct pool_job **p;

	for (p = &pool.first; *p != NULL; p = &(*p)->next) {
		if (*p != job)
			continue;
		if ((*p = job->next) == NULL)
			pool.last = p;
		atomic_fetch_sub_explicit(&pool.given, 1, memory_order_relaxed);
		atomic_store_explicit(&job->state, BEGUN, memory_order_relaxed);
		return 1;
	}
	return 0;
}

void
pool_finish(struct pool_job *job)
{
	struct pool_job *other = NULL;
	uint64_t since;

	/* While another has this one, there may be more to do. */
	while (!pool_done(job)) {
		pthread_mutex_lock(&pool.mutex);
		other = take(job) ? job : begin_first();
		pthread_mutex_unlock(&pool.mutex);
		if (other == NULL)
			break;
		run(other, 0);
	}
	since = clock_us();
	while (!pool_done(job) && spin(since))
		continue;
	if (pool_done(job))
		return;
	pthread_mutex_lock(&pool.mutex);
	pool.wanted = job;
	while (!pool_done(job))
		pthread_cond_wait(&pool.done, &pool.mutex);
	pool.wanted = NULL;
	pthread_mutex_unlock(&pool.mutex);
}
