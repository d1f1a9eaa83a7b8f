/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

#include "includes.h"

#include <sys/types.h>

#include <stdint.h>
#include <unistd.h>

#include "hayopt.h"
#include "machine-hook.h"
#include "memlimit.h"
#include "minmax.h"

/* Returns bytes; 0 if the system does not tell. */
static uint64_t
physical_memory(void)
{
#ifdef _SC_PHYS_PAGES
	long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);

	return pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size : 0;
#else
	return 0;
#endif
}

static uint64_t memory_min = UINT64_MAX;	/* not read yet */

void
machine_read_memory(void)
{
	memory_min = min_u64(memory_min, physical_memory());
#ifdef __linux__
	memory_min = min_u64(memory_min, memlimit_read(""));
#endif
	hayopt_set_memory(memory_min);
}

const struct hayopt *
machine_options(void)
{
	if (memory_min == UINT64_MAX)
		machine_read_memory();
	return hayopt_get();
}
