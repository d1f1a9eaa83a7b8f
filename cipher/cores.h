/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * cores: how many cores this process may use, and how many of them are idle.
 *
 * For autoscale.h. One state per process. Not thread safe; no upstream header.
 */

#ifndef HAYATE_CORES_H
#define HAYATE_CORES_H

#include <stdint.h>

/*
 * Returns how many cores this process may run on, by its CPU affinity; all
 * cores that are online if that is not known. CPU quotas of control groups do
 * not count.
 */
unsigned int cores_count(void);

/*
 * Returns how many cores of the machine were idle on average between the last
 * call and this one, at "now_us" (microseconds of a monotonic clock, later than
 * in the last call); < 0 if that is unknown: in the first call, or if
 * /proc/stat, which it reads, is not there. The machine may have more cores
 * than this process may use.
 */
double	cores_idle(uint64_t now_us);

/*
 * Returns the CPU time of the calling thread since it began, microseconds; 0:
 * unknown.
 */
uint64_t cores_thread_cpu_us(void);

#endif /* HAYATE_CORES_H */
