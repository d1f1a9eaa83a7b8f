/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * pool-test: the pool of cipher/pool.h.
 *
 *   pool-test orders            three jobs end in each order, and the caller
 *                               waits for them in each order
 *   pool-test random SEED MS    jobs, waits, resizes and forks drawn from SEED
 *   pool-test signals | idle | fork
 *
 * Each job must run once, before the wait for it returns. Its writes must be
 * visible then. Prints the first failure and exits with 1.
 */

#include <sys/types.h>
#include <sys/wait.h>

#include <dirent.h>
#include <err.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "pool.h"

#define JOBS	48

struct job {
	struct pool_job	pool;
	int	 was, times;	/* worker, runs: not atomic */
	sem_t	*until;
	unsigned int work;
};

static void
run(struct pool_job *p, unsigned int worker)
{
	struct job *j = (struct job *)p;
	volatile unsigned int i;

	if (j->until != NULL)
		sem_wait(j->until);
	for (i = 0; i < j->work; i++)
		continue;
	j->was = (int)worker;
	j->times++;
}

static void
give(struct job *j, sem_t *until, unsigned int work)
{
	memset(j, 0, sizeof(*j));
	j->pool.run = run;
	j->until = until;
	j->work = work;
	pool_submit(&j->pool);
}

static void
done_once(struct job *j)
{
	if (!pool_is_done(&j->pool))
		errx(1, "a job is not done after it was waited for");
	if (j->times != 1)
		errx(1, "a job was done %d times", j->times);
}

static uint64_t
now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static void
rest_ms(long ms)
{
	nanosleep(&(struct timespec){ ms / 1000, ms % 1000 * 1000000 }, NULL);
}

/*
 * Orders of ending and of waiting
 */

static sem_t until[3];
static const int order[6][3] = {
	{ 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 }, { 1, 2, 0 }, { 2, 0, 1 },
	{ 2, 1, 0 }
};

static void *
release(void *arg)
{
	const int *o = arg;
	int i;

	for (i = 0; i < 3; i++) {
		rest_ms(2);
		sem_post(&until[o[i]]);
	}
	return NULL;
}

/* Threads begin "begun" of the jobs; pool_wait() runs the others. */
static void
one_order(const int *ends, const int *waits, unsigned int begun)
{
	struct job job[3];
	pthread_t controller;
	int i;

	if (pool_resize(begun) != begun)
		errx(1, "no %u threads", begun);
	for (i = 0; i < 3; i++)
		give(&job[i], &until[i], 0);
	for (i = 0; i < (int)begun; i++) {
		while (!pool_is_started(&job[i].pool))
			rest_ms(1);
	}
	if (pthread_create(&controller, NULL, release, (void *)ends) != 0)
		errx(1, "no controller");
	for (i = 0; i < 3; i++) {
		pool_wait(&job[waits[i]].pool);
		done_once(&job[waits[i]]);
	}
	pthread_join(controller, NULL);
}

static void
orders(void)
{
	unsigned int begun;
	int i, k;

	for (i = 0; i < 3; i++)
		sem_init(&until[i], 0, 0);
	for (begun = 0; begun <= 3; begun++) {
		for (i = 0; i < 6; i++) {
			for (k = 0; k < 6; k++)
				one_order(order[i], order[k], begun);
		}
	}
}

/*
 * At random
 */

static void
in_a_child(struct job *job, int first, int last)
{
	pid_t pid;
	int status, i;

	if ((pid = fork()) == 0) {
		if (pool_size() != 0)
			_exit(2);
		for (i = first; i < last; i++) {
			pool_wait(&job[i].pool);
			if (job[i].times != 1)
				_exit(3);
		}
		_exit(pool_resize(1) == 1 ? 0 : 4);
	}
	if (pid == -1 || waitpid(pid, &status, 0) != pid || status != 0)
		errx(1, "a child ended with %d", status >> 8);
}

static void
at_random(unsigned int seed, uint64_t ms)
{
	static struct job job[JOBS];
	uint64_t end = now_ms() + ms, n = 0;
	int first, last, i;

	while (now_ms() < end) {
		pool_resize(rand_r(&seed) % 5);
		last = 1 + rand_r(&seed) % JOBS;
		for (i = 0; i < last; i++) {
			give(&job[i], NULL, rand_r(&seed) % 2000);
			if (rand_r(&seed) % 40 == 0)
				pool_resize(rand_r(&seed) % 5);
		}
		/* waits for some before the fork, for the others after it */
		first = rand_r(&seed) % last;
		for (i = 0; i < first; i++) {
			pool_wait(&job[i].pool);
			done_once(&job[i]);
		}
		if (rand_r(&seed) % 20 == 0)
			in_a_child(job, first, last);
		for (i = last - 1; i >= first; i--) {
			pool_wait(&job[i].pool);
			done_once(&job[i]);
		}
		n += (uint64_t)last;
	}
	printf("%llu jobs\n", (unsigned long long)n);
}

/*
 * Signals, idling, forks
 */

static pthread_t owner;
static volatile sig_atomic_t caught, strayed;

static void
note(int sig)
{
	(void)sig;
	caught++;
	if (!pthread_equal(pthread_self(), owner))
		strayed++;
}

static void
signals(void)
{
	struct job job;
	int i;

	owner = pthread_self();
	signal(SIGCHLD, note);
	pool_resize(4);
	for (i = 0; i < 500; i++) {
		give(&job, NULL, 1000);
		kill(getpid(), SIGCHLD);
		pool_wait(&job.pool);
	}
	if (caught != 500 || strayed != 0)
		errx(1, "%d signals came, %d of them to a thread", caught,
		    strayed);
}

static int
tasks(void)
{
	DIR *d = opendir("/proc/self/task");
	int n = -2;

	while (d != NULL && readdir(d) != NULL)
		n++;
	if (d != NULL)
		closedir(d);
	return n;
}

static void
idle(void)
{
	struct job job;
	int busy;

	if (pool_resize(3) != 3 || (busy = tasks()) < 4)
		errx(1, "no 3 threads");
	give(&job, NULL, 10);
	pool_wait(&job.pool);
	rest_ms(POOL_IDLE_MS + 800);
	if (pool_size() != 0 || tasks() != busy - 3)
		errx(1, "idle threads are still there");
	give(&job, NULL, 10);
	pool_wait(&job.pool);
	done_once(&job);
	if (pool_resize(2) != 2)
		errx(1, "they do not come back");
}

/* The process forks repeatedly while its threads are busy. */
static void
forks(void)
{
	static struct job job[JOBS];
	int i, k;

	pool_resize(3);
	for (k = 0; k < 60; k++) {
		for (i = 0; i < JOBS; i++)
			give(&job[i], NULL, 20000);
		in_a_child(job, 0, JOBS);
		for (i = 0; i < JOBS; i++) {
			pool_wait(&job[i].pool);
			done_once(&job[i]);
		}
	}
}

int
main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (strcmp(what, "orders") == 0)
		orders();
	else if (strcmp(what, "random") == 0 && argc == 4)
		at_random((unsigned int)atoi(argv[2]), (uint64_t)atoi(argv[3]));
	else if (strcmp(what, "signals") == 0)
		signals();
	else if (strcmp(what, "idle") == 0)
		idle();
	else if (strcmp(what, "fork") == 0)
		forks();
	else
		errx(2, "usage: pool-test orders|signals|idle|fork|"
		    "random SEED MS");
	return 0;
}
