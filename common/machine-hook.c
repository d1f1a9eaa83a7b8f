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

/* Bytes; 0 where the system does not tell */
static uint64_t
memory_of_machine(void)
{
#ifdef _SC_PHYS_PAGES
	long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);

	return pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size : 0;
#else
	return 0;
#endif
}

static uint64_t least = UINT64_MAX;	/* not asked for yet */

void
machine_measure(void)
{
	least = min_u64(least, memory_of_machine());
#ifdef __linux__
	least = min_u64(least, memlimit_read(""));
#endif
	hayopt_set_memory(least);
}

const struct hayopt *
machine_options(void)
{
	if (least == UINT64_MAX)
		machine_measure();
	return hayopt_get();
}
