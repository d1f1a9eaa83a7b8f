/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See usage.h. */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE		/* for RUSAGE_THREAD */
#endif

#include <sys/types.h>
#include <sys/resource.h>
#include <sys/time.h>

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "usage.h"

#ifdef RUSAGE_THREAD
#define WHO	RUSAGE_THREAD
#else
#define WHO	RUSAGE_SELF
#endif

static uint64_t
to_us(const struct timeval *t)
{
	return (uint64_t)t->tv_sec * 1000000 + (uint64_t)t->tv_usec;
}

/*
 * Reads /proc's text: nanoseconds running, nanoseconds waiting, number of
 * slices.
 */
static int
read_schedstat(uint64_t *queue_us)
{
	static pid_t of;
	static int fd;
	uint64_t ran, waited;
	char text[80];
	ssize_t n;

	/*
	 * After a fork the descriptor is the parent's, is closed, or is another
	 * file.
	 */
	if (of != getpid()) {
		of = getpid();
		fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
	}
	if (fd == -1 || (n = pread(fd, text, sizeof(text) - 1, 0)) <= 0)
		return 0;
	text[n] = '\0';
	if (sscanf(text, "%" SCNu64 " %" SCNu64, &ran, &waited) != 2)
		return 0;
	*queue_us = waited / 1000;
	return 1;
}

int
usage_read(struct stall_stats *f)
{
	struct rusage u;

	f->n[STAT_CPU] = f->n[STAT_WAIT_CPU] = 0;
	if (getrusage(WHO, &u) == 0)
		f->n[STAT_CPU] = to_us(&u.ru_utime) + to_us(&u.ru_stime);
	return read_schedstat(&f->n[STAT_WAIT_CPU]);
}
