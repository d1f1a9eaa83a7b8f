/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * reserve-marked: what sshbuf_reserve() returns is undefined to valgrind, so it
 * names who sends or decides on bytes that were reserved and not filled, also
 * where the memory held something before. The linker puts it before the
 * function in programs that are called marked-*.
 *
 * Who reserves the same room twice has filled it meanwhile, or not: it is
 * marked the first time alone.
 */

#include "includes.h"

#include <sys/types.h>

#include <valgrind/memcheck.h>

#define SSHBUF_INTERNAL
#include "sshbuf.h"

int __real_sshbuf_reserve(struct sshbuf *, size_t, u_char **);
int __wrap_sshbuf_reserve(struct sshbuf *, size_t, u_char **);

int
__wrap_sshbuf_reserve(struct sshbuf *buf, size_t len, u_char **dpp)
{
	static const u_char *last, *end;
	u_char *p;
	int r = __real_sshbuf_reserve(buf, len, &p);

	if (r == 0 && (p != last || p + len > end)) {
		(void)VALGRIND_MAKE_MEM_UNDEFINED(p, len);
		last = p;
		end = p + len;
	}
	if (dpp != NULL)
		*dpp = p;
	return r;
}
