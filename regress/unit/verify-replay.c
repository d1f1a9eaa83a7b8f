/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * verify-replay: a copy that goes on, with files and a server made of text.
 *
 * Each line is one copy, in words KEY=VALUE; what is not named is 0:
 *
 *   source, target   sizes in bytes; a trailing K or M multiplies
 *   differs          the files differ at this byte; without it they do not
 *   hashes           the server hashes files
 *   answers          it refuses after so many answers; without it, never
 *   short            each answer lacks so many hashes
 *   same_time        both have the same time, which is believed
 *
 * The answer has the ranges that were hashed and read, as OFFSET+LENGTH, and
 * what is to be done:
 *
 *   hash=0+8388608 copy=8388608
 */

#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verify.h"

#define NEVER	UINT64_MAX
#define STEPS	100000			/* more is a loop without end */

static struct {
	struct verify_conf conf;
	uint64_t differs, answers, lacking;
} s;

static const struct {
	const char *name;
	uint64_t *value;
	int	*flag;
} keys[] = {
	{ "source", &s.conf.source, NULL },
	{ "target", &s.conf.target, NULL },
	{ "differs", &s.differs, NULL },
	{ "answers", &s.answers, NULL },
	{ "short", &s.lacking, NULL },
	{ "hashes", NULL, &s.conf.hashes },
	{ "same_time", NULL, &s.conf.same_time },
};
#define KEYS	(sizeof(keys) / sizeof(*keys))

static uint64_t
number(const char *text)
{
	char *end;
	uint64_t n = strtoull(text, &end, 10);

	if (*end == 'K')
		n *= 1024;
	else if (*end == 'M')
		n *= 1024 * 1024;
	return n;
}

static void
set(char *word)
{
	char *value = strchr(word, '=');
	size_t i;

	if (value == NULL)
		errx(1, "%s has no value", word);
	*value++ = '\0';
	for (i = 0; i < KEYS; i++) {
		if (strcmp(word, keys[i].name) != 0)
			continue;
		if (keys[i].flag != NULL)
			*keys[i].flag = (int)number(value);
		else
			*keys[i].value = number(value);
		return;
	}
	errx(1, "%s is no key", word);
}

/* Whether both files have the same bytes in this range */
static int
is_equal(uint64_t off, uint64_t len)
{
	return s.differs < off || s.differs - off >= len;
}

static void
hash(struct verify *x, const struct verify_action *a)
{
	unsigned char ours[8 * VERIFY_HASH_LEN], theirs[8 * VERIFY_HASH_LEN];
	uint64_t at, len;
	size_t n = 0, given;

	if (s.answers == 0) {
		verify_refused(x);
		return;
	}
	if (s.answers != NEVER)
		s.answers--;
	for (at = 0; at < a->len; at += VERIFY_BLOCK, n++) {
		if (n == 8)
			errx(1, "a range of more than 8 blocks");
		len = a->len - at < VERIFY_BLOCK ? a->len - at :
		    VERIFY_BLOCK;
		memset(ours + n * VERIFY_HASH_LEN, 1, VERIFY_HASH_LEN);
		memset(theirs + n * VERIFY_HASH_LEN, 1, VERIFY_HASH_LEN);
		if (!is_equal(a->off + at, len))
			theirs[(n + 1) * VERIFY_HASH_LEN - 1] = 2;
	}
	given = s.lacking < n ? n - s.lacking : 0;
	verify_hashed(x, ours, n, theirs, given);
}

static void
run(void)
{
	struct verify x;
	struct verify_action a;
	int i;

	verify_begin(&x, &s.conf);
	for (i = 0; i < STEPS; i++) {
		verify_next(&x, &a);
		if (a.op == VERIFY_HASH) {
			printf("hash=%" PRIu64 "+%" PRIu64 " ", a.off, a.len);
			hash(&x, &a);
		} else if (a.op == VERIFY_READ) {
			printf("read=%" PRIu64 "+%" PRIu64 " ", a.off, a.len);
			verify_compared(&x, is_equal(a.off, a.len) ? a.len :
			    s.differs - a.off);
		} else
			break;
	}
	if (i == STEPS)
		errx(1, "no end");
	printf("%s=%" PRIu64 "\n", a.op == VERIFY_DONE ? "done" : "copy",
	    a.off);
}

int
main(void)
{
	char line[1024], *p, *word;

	while (fgets(line, sizeof(line), stdin) != NULL) {
		memset(&s, 0, sizeof(s));
		s.differs = s.answers = NEVER;
		p = line;
		while ((word = strsep(&p, " \n")) != NULL) {
			if (*word != '\0')
				set(word);
		}
		run();
	}
	return 0;
}
