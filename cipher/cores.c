/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE	/* CPU_COUNT */
#endif
#include <sched.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "cores.h"

unsigned int
cores_count(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) == 0)
		return (unsigned int)CPU_COUNT(&set);
	return (unsigned int)sysconf(_SC_NPROCESSORS_ONLN);
}

double
cores_idle(uint64_t now_us)
{
	static unsigned long long was;
	static uint64_t was_us;
	unsigned long long user, nice, sys, idle;
	double cores = -1;
	FILE *f;

	if ((f = fopen("/proc/stat", "re")) == NULL)
		return -1;
	if (fscanf(f, "cpu %llu %llu %llu %llu", &user, &nice, &sys,
	    &idle) == 4) {
		if (was_us != 0)
			cores = (double)(idle - was) * 1e6 /
			    sysconf(_SC_CLK_TCK) / (now_us - was_us);
		was = idle;
		was_us = now_us;
	}
	fclose(f);
	return cores;
}

uint64_t
cores_thread_cpu_us(void)
{
	struct timespec t;

	if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) != 0)
		return 0;
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}
