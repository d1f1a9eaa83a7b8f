/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * The smaller and the larger of two numbers, for core files. Upstream's
 * MINIMUM() and MAXIMUM() are for hooks. Arguments are converted to uint64_t,
 * so a negative number counts as a large one.
 */

#ifndef HAYATE_MINMAX_H
#define HAYATE_MINMAX_H

#include <stdint.h>

static inline uint64_t
min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint64_t
max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

#endif /* HAYATE_MINMAX_H */
