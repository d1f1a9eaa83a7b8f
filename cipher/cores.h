/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * cores: what of this machine's CPU time there is, and what is used of it.
 *
 * For autoscale.h. Not thread safe; no upstream header.
 */

#ifndef CORES_H
#define CORES_H

#include <stdint.h>

/* Cores that this process may use. */
unsigned int cores_count(void);

/*
 * Cores of the machine that were idle since the last call, which was before
 * "now_us", on average; < 0 if that cannot be known, as in the first call.
 */
double	cores_free(uint64_t now_us);

/* Microseconds of CPU time of the thread that calls; 0 if unknown. */
uint64_t cores_used_us(void);

#endif /* CORES_H */
