/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * marked-hole FILLED: reserves 64 bytes where zeros were before, fills as many,
 * and writes all. With less than 64 valgrind has to name that.
 */

#include "includes.h"

#include <sys/types.h>

#include <err.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SSHBUF_INTERNAL
#include "sshbuf.h"

#define LEN	64

int
main(int argc, char **argv)
{
	struct sshbuf *buf = sshbuf_new();
	u_char *p;

	if (argc != 2 || buf == NULL || sshbuf_reserve(buf, LEN, &p) != 0)
		errx(2, "usage: marked-hole FILLED");
	memset(p, 1, atoi(argv[1]));
	if (write(STDOUT_FILENO, sshbuf_ptr(buf), LEN) != LEN)
		err(1, "write");
	sshbuf_free(buf);
	return 0;
}
