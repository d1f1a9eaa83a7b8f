/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * clock: the clock with which the hooks measure time. Most cores read no clock;
 * they get the time as an argument, so that the unit tests can choose it.
 */

#ifndef HAYATE_CLOCK_H
#define HAYATE_CLOCK_H

#include <stdint.h>
#include <time.h>

/*
 * Returns microseconds since an arbitrary moment, the same for all processes of
 * the machine. Setting the time of day does not change it; on Linux it stands
 * still during a suspend. Upstream's monotime() is coarser.
 */
static inline uint64_t
clock_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

#endif /* HAYATE_CLOCK_H */
