/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * cores: how many cores this machine has, and how much of them is in use.
 *
 * For autoscale.h. Not thread safe; no upstream header.
 */

#ifndef HAYATE_CORES_H
#define HAYATE_CORES_H

#include <stdint.h>

/* Returns how many cores this process may run on. */
unsigned int cores_count(void);

/*
 * Returns how many cores of the machine were idle on average since the last
 * call, at the time "now_us"; < 0 if that is unknown, as in the first call.
 * From /proc/stat.
 */
double	cores_idle(uint64_t now_us);

/* Returns the caller's CPU time, of this thread alone; 0 if unknown. */
uint64_t cores_thread_cpu_us(void);

#endif /* HAYATE_CORES_H */
