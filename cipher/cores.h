/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * cores: how many cores this process may use, and how many of them are idle.
 *
 * For autoscale.h. Not thread safe; no upstream header.
 */

#ifndef HAYATE_CORES_H
#define HAYATE_CORES_H

#include <stdint.h>

/* Returns how many cores this process may run on. */
unsigned int cores_count(void);

/*
 * Returns how many cores of the machine were idle on average between the last
 * call and this one, at "now_us"; < 0 if that is unknown, as in the first call.
 * Reads /proc/stat.
 */
double	cores_idle(uint64_t now_us);

/* Returns the CPU time of the calling thread, microseconds; 0: unknown. */
uint64_t cores_thread_cpu_us(void);

#endif /* HAYATE_CORES_H */
