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

const struct hayopt *
machine_options(void)
{
	static int is_told;

	if (!is_told)
		hayopt_set_memory(min_u64(memory_of_machine(),
		    memlimit_read("")));
	is_told = 1;
	return hayopt_get();
}
