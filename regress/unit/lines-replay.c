/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * lines-replay [-0] [BYTES]: prints what lines.c makes of the list on standard
 * input, which it gets BYTES at a time; all that fits, without it. A line of
 * output for each one: number, depth, and the name in brackets, cut after 40
 * bytes, or what is wrong with it before that.
 */

#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lines.h"

static void
print(const struct line *line)
{
	printf("%" PRIu64 " %u %s%s[%.40s]\n", line->number, line->depth,
	    line->why == NULL ? "" : line->why, line->why == NULL ? "" : " ",
	    line->name);
}

int
main(int argc, char **argv)
{
	int nul = argc > 1 && strcmp(argv[1], "-0") == 0;
	size_t most = argc > 1 + nul ? strtoul(argv[1 + nul], NULL, 10) : 0;
	struct lines *l = lines_new(nul ? '\0' : '\n');
	struct line line;
	size_t room;
	ssize_t n = 1;
	char *p;

	if (l == NULL)
		err(1, NULL);
	while (!lines_ended(l)) {
		p = lines_room(l, &room);
		if (most != 0 && room > most)
			room = most;
		if (n > 0 && (n = read(STDIN_FILENO, p, room)) == -1)
			err(1, "read");
		lines_filled(l, (size_t)n);
		while (lines_next(l, &line))
			print(&line);
	}
	lines_free(l);
	return 0;
}
