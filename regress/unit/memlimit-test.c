/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* memlimit-test ROOT: prints what common/memlimit.h reads there, or "none". */

#include <inttypes.h>
#include <stdio.h>

#include "memlimit.h"

int
main(int argc, char **argv)
{
	uint64_t bytes = memlimit_read(argc > 1 ? argv[1] : "");

	if (bytes == UINT64_MAX)
		puts("none");
	else
		printf("%" PRIu64 "\n", bytes);
	return 0;
}
