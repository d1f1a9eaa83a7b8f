/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 *   happy-eyes-replay order FAMILY...          prints the indices in the order
 *                                              in which they are tried
 *   happy-eyes-replay delay MS                 prints the ms
 *   happy-eyes-replay wait NOW NEXT [DEADLINE]...   prints the ms, or -1; a
 *                                              time may be "never"
 */

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "happy-eyes.h"

#define WORDS_MAX	32

static int64_t
read_time(const char *word)
{
	return strcmp(word, "never") == 0 ? HAPPY_EYES_NEVER :
	    strtoll(word, NULL, 10);
}

static void
print_order(char **word, size_t n)
{
	int family[WORDS_MAX];
	size_t order[WORDS_MAX], i;

	for (i = 0; i < n; i++)
		family[i] = atoi(word[i]);
	happy_eyes_order(family, n, order);
	for (i = 0; i < n; i++)
		printf("%s%zu", i > 0 ? " " : "", order[i]);
	putchar('\n');
}

int
main(int argc, char **argv)
{
	int64_t deadline[WORDS_MAX];
	int i;

	if (argc < 3 || argc > WORDS_MAX)
		errx(2, "usage");
	if (strcmp(argv[1], "order") == 0)
		print_order(argv + 2, (size_t)argc - 2);
	else if (strcmp(argv[1], "delay") == 0)
		printf("%d\n", happy_eyes_delay(strtoull(argv[2], NULL, 10)));
	else if (strcmp(argv[1], "wait") == 0 && argc >= 4) {
		for (i = 4; i < argc; i++)
			deadline[i - 4] = read_time(argv[i]);
		printf("%d\n", happy_eyes_wait(read_time(argv[2]),
		    read_time(argv[3]), deadline, (size_t)argc - 4));
	} else
		errx(2, "usage");
	return 0;
}
