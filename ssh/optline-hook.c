/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * The line arrives as upstream's parsers have it after they took the keyword
 * off: one '=' is already gone, quotes and a trailing comment are not.
 */

#include "includes.h"

#include <sys/types.h>

#include <stdio.h>
#include <string.h>

#include "log.h"
#include "misc.h"

#include "optline-hook.h"

/* sshd's names for what its listener has read, and complained of, before */
static int
reread(const char *filename)
{
	return strcmp(filename, "rexec") == 0 ||
	    strcmp(filename, "reprocess config") == 0;
}

int
optline(int side, enum hayopt_layer layer, const char *keyword,
    const char *rest, const char *filename, int linenum, int active, int *ret)
{
	enum hayopt_verdict verdict;
	char **av = NULL, msg[256];
	int ac = 0;

	if (!hayopt_known(side, keyword))
		return 0;

	*ret = -1;
	if (argv_split(rest, &ac, &av, 1) != 0) {
		error("%s line %d: %s: quotes do not match", filename, linenum,
		    keyword);
		return 1;
	}
	verdict = hayopt_line(side, layer, keyword, ac, av, active, msg,
	    sizeof(msg));
	if (verdict != HAYOPT_BAD)
		*ret = 0;
	if (verdict == HAYOPT_BAD ||
	    (verdict == HAYOPT_REFUSED && !reread(filename)))
		error("%s line %d: %s", filename, linenum, msg);
	else if (*msg != '\0')
		debug("%s line %d: %s", filename, linenum, msg);
	argv_free(av, ac);
	return 1;
}

void
optline_dump(int side)
{
	char line[128];
	size_t i;

	for (i = 0; hayopt_dump(side, i, line, sizeof(line)) == 0; i++)
		printf("%s\n", line);
}
