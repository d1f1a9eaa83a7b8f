/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * blocksum-print FILE: reads "OFFSET LENGTH BLOCK STEP" from each line of
 * standard input and prints the checksums of that range of the file, which
 * blocksum_add() hashes STEP bytes at a time. It is not linked with libcrypto,
 * like scp. Exits with 1 if a read or libcrypto fails.
 */

#include "includes.h"

#include <sys/types.h>

#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "log.h"

#include "blocksum-hook.h"

static void
print_sums(const struct blocksum *x)
{
	const unsigned char *sums;
	size_t i, n = blocksum_get(x, &sums);

	for (i = 0; i < n * BLOCKSUM_LEN; i++)
		printf("%s%02x", i > 0 && i % BLOCKSUM_LEN == 0 ? " " : "",
		    sums[i]);
	putchar('\n');
}

int
main(int argc, char **argv)
{
	uint64_t off, len, step;
	uint32_t block;
	struct blocksum *x;
	int64_t n;
	int fd;

	log_init(argv[0], SYSLOG_LEVEL_VERBOSE, SYSLOG_FACILITY_USER, 1);
	if (argc != 2 || (fd = open(argv[1], O_RDONLY)) == -1)
		err(1, "no FILE");
	while (scanf("%" SCNu64 "%" SCNu64 "%" SCNu32 "%" SCNu64, &off, &len,
	    &block, &step) == 4) {
		x = blocksum_new(off, len, block);
		while ((n = blocksum_add(x, fd, step)) == (int64_t)step)
			;
		if (n == -1)
			err(1, "blocksum_add");
		if (blocksum_add(x, fd, step) != 0)
			errx(1, "a range that has ended goes on");
		print_sums(x);
		blocksum_free(x);
	}
	return 0;
}
