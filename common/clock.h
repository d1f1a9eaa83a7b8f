/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * clock: the one clock of the hooks. What they call measures nothing itself,
 * so that the unit tests can be the clock.
 */

#ifndef HAYATE_CLOCK_H
#define HAYATE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Microseconds of a monotonic clock, finer than upstream's monotime(). */
static inline uint64_t
clock_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

#endif /* HAYATE_CLOCK_H */
