/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * A client knows one layer. ssh may read its files twice (Match final, host
 * name canonicalisation); the first value of the first reading stays, as it
 * does for upstream's options.
 */

#include "includes.h"

#include "cliopt-hook.h"
#include "optline-hook.h"

int
cliopt_line(const char *keyword, const char *rest, const char *filename,
    int linenum, int active, int *ret)
{
	return optline(HAYOPT_CLIENT, HAYOPT_GLOBAL, keyword, rest, filename,
	    linenum, active, ret);
}

void
cliopt_dump(void)
{
	optline_dump(HAYOPT_CLIENT);
}
