/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * slow-conn-replay: copies over connections made of numbers.
 *
 * Each line is one copy. A word is a time in which one connection carries
 * data, "I:RATE@FROM-TO" or "I:RATE@FROM-TO/HOST", with RATE in KB per second
 * and times in ms; a connection may have several, in order. A reply comes every
 * 10 ms and answers what was sent 30 ms before, or at FROM. The copy lasts to
 * the last TO.
 *
 * The answer is the slow connection, its rate and that of the others in KB per
 * second, or "none".
 */

#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "minmax.h"
#include "slow-conn.h"

#define EACH_MS		10
#define AGE_MS		30

static struct slow_conn u;
static uint64_t end_ms;

static void
carry(const char *word)
{
	unsigned int i, host = 0;
	uint64_t rate, from, to, t;

	if (sscanf(word, "%u:%" SCNu64 "@%" SCNu64 "-%" SCNu64 "/%u", &i,
	    &rate, &from, &to, &host) < 4 || i >= SLOW_CONN_MAX)
		errx(1, "\"%s\" is no I:RATE@FROM-TO", word);
	for (t = from + EACH_MS; t <= to; t += EACH_MS)
		slow_conn_acked(&u, i, host, rate * EACH_MS, 1000 *
		    max_u64(from, t < AGE_MS ? 0 : t - AGE_MS), 1000 * t);
	end_ms = max_u64(end_ms, to);
}

static void
answer(void)
{
	uint64_t rate, others;
	int i = slow_conn_find(&u, 1000 * end_ms, &rate, &others);

	if (i == -1)
		puts("none");
	else
		printf("%d %" PRIu64 " %" PRIu64 "\n", i, rate / 1000,
		    others / 1000);
}

int
main(void)
{
	char line[4096], *word, *rest;

	while (fgets(line, sizeof(line), stdin) != NULL) {
		memset(&u, 0, sizeof(u));
		end_ms = 0;
		for (word = strtok_r(line, " \n", &rest); word != NULL;
		    word = strtok_r(NULL, " \n", &rest))
			carry(word);
		answer();
	}
	return 0;
}
