/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * verify-replay: one file that is copied and verified, with ends made of text.
 *
 * Each line is one file, in words KEY=VALUE; what is not named is 0:
 *
 *   source, target   sizes in bytes, trailing K or M; without it, not there
 *   differs          the files differ at this byte; without it they do not
 *   stime, ttime     seconds; without it, the server tells none
 *   tnsec            of the target
 *   put, resume, cuts, checksum, unsure, strict, preserve, now   as in verify.h
 *   device           the target is one
 *   old              a listing told the source; else nothing is known of it
 *   hashes           the server hashes files
 *   answers          it refuses after so many answers; without it, never
 *   short            each answer lacks so many hashes
 *   cut              the target is cut (0), is not (1), is emptied first, and
 *                    made as long (2), or is left for the end (3)
 *   seen, changed    bytes by which the source is longer when it is open, and
 *                    when it was copied
 *   longer           the source has bytes behind its size
 *   flip             the copy differs from its source
 *   taken            the target was adopted, and is equal up to this byte
 *
 * The answer has what was asked, and what is known at the end:
 *
 *   target source hash=0+40 copy=40 source end hashes=40
 */

#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verify.h"

#define NEVER	UINT64_MAX
#define STEPS	100			/* more is a loop without end */

static struct {
	struct verify_conf conf;
	uint64_t source, target, differs, stime, ttime, tnsec, now;
	uint64_t cut, seen, changed, taken, answers, lacking;
	int	 old, hashes, longer, flip, device;
} s;

static const struct {
	const char *name;
	uint64_t *value;
	int	*flag;
} keys[] = {
	{ "source", &s.source, NULL }, { "target", &s.target, NULL },
	{ "differs", &s.differs, NULL }, { "stime", &s.stime, NULL },
	{ "ttime", &s.ttime, NULL }, { "tnsec", &s.tnsec, NULL },
	{ "now", &s.now, NULL }, { "cut", &s.cut, NULL },
	{ "seen", &s.seen, NULL }, { "changed", &s.changed, NULL },
	{ "taken", &s.taken, NULL }, { "answers", &s.answers, NULL },
	{ "short", &s.lacking, NULL }, { "old", NULL, &s.old },
	{ "hashes", NULL, &s.hashes }, { "longer", NULL, &s.longer },
	{ "flip", NULL, &s.flip }, { "device", NULL, &s.device },
	{ "put", NULL, &s.conf.put }, { "resume", NULL, &s.conf.resume },
	{ "cuts", NULL, &s.conf.truncates },
	{ "checksum", NULL, &s.conf.checksum },
	{ "unsure", NULL, &s.conf.is_unsure },
	{ "strict", NULL, &s.conf.strict },
	{ "preserve", NULL, &s.conf.preserve },
};
#define KEYS	(sizeof(keys) / sizeof(*keys))

static void
set(char *word)
{
	char *value = strchr(word, '='), *end;
	uint64_t n;
	size_t i;

	if (value == NULL)
		errx(1, "%s has no value", word);
	*value++ = '\0';
	n = strtoull(value, &end, 10);
	n *= *end == 'K' ? 1024 : *end == 'M' ? 1024 * 1024 : 1;
	for (i = 0; i < KEYS && strcmp(word, keys[i].name) != 0; i++)
		;
	if (i == KEYS)
		errx(1, "%s is no key", word);
	if (keys[i].flag != NULL)
		*keys[i].flag = (int)n;
	else
		*keys[i].value = n;
}

static struct verify_end
end_of(uint64_t size, uint64_t time, uint64_t nsec)
{
	return (struct verify_end){ .is_there = size != NEVER, .size = size,
	    .has_time = time != NEVER, .mtime = (int64_t)time,
	    .nsec = (long)nsec };
}

static struct verify_end
target_end(void)
{
	return s.device ? (struct verify_end){ .is_not_regular = 1 } :
	    end_of(s.target, s.ttime, s.tnsec);
}

/* Bytes at the begin of the range that both files have */
static uint64_t
equal(const struct verify_action *a)
{
	uint64_t n = s.differs < a->off ? 0 : s.differs - a->off;

	return n < a->len ? n : a->len;
}

static void
hash(struct verify *v, const struct verify_action *a)
{
	unsigned char ours[8 * VERIFY_HASH_LEN] = { 0 };
	unsigned char theirs[8 * VERIFY_HASH_LEN] = { 0 };
	size_t n = (a->len + VERIFY_BLOCK - 1) / VERIFY_BLOCK;
	uint64_t same = equal(a);
	struct verify_answer answer = { .failed = s.answers == 0, .ours = ours,
	    .theirs = theirs, .nours = n,
	    .ntheirs = s.lacking < n ? n - s.lacking : 0 };

	printf("hash=%" PRIu64 "+%" PRIu64 " ", a->off, a->len);
	if (n > 8)
		errx(1, "a range of more than 8 blocks");
	if (same < a->len)
		theirs[(same / VERIFY_BLOCK + 1) * VERIFY_HASH_LEN - 1] = 1;
	if (s.answers != 0 && s.answers != NEVER)
		s.answers--;
	verify_answer(v, &answer);
}

/* Returns how the server has truncated the target. */
static struct verify_answer
cut(uint64_t size)
{
	printf("cut=%" PRIu64 " ", size);
	if (s.cut == 1 || s.cut == 3)
		return (struct verify_answer){ .failed = s.cut == 1,
		    .left = s.cut == 3 };
	s.target = size;
	if (s.cut == 2)
		s.differs = 0;
	else if (s.differs != NEVER && s.differs >= size)
		s.differs = NEVER;
	return (struct verify_answer){ 0 };
}

static void
copy(struct verify *v, uint64_t off)
{
	struct verify_end end;

	printf("copy=%" PRIu64 " ", off);
	s.source += s.seen;
	end = end_of(s.source, s.stime, 0);
	verify_source_opened(v, &end);
	s.target = s.source;
	s.source += s.changed;
	s.differs = s.flip ? off : NEVER;
}

/* Returns 0 at the end. */
static int
go_on(struct verify *v)
{
	static const char *const words[] = { [VERIFY_STAT_SOURCE] = "source ",
	    [VERIFY_STAT_TARGET] = "target ", [VERIFY_COMPLETE] = "complete ",
	    [VERIFY_TOO_LONG] = "longer ",
	    [VERIFY_SOURCE_CHANGED] = "changed ",
	    [VERIFY_MISMATCH] = "differs ",
	    [VERIFY_NOT_REGULAR] = "not_regular ", [VERIFY_END] = "end " };
	struct verify_answer answer = { 0 };
	struct verify_action a;

	verify_next(v, &a);
	if (words[a.op] != NULL)
		printf("%s", words[a.op]);
	if (a.op == VERIFY_STAT_SOURCE)
		answer.end = end_of(s.source, s.stime, 0);
	else if (a.op == VERIFY_STAT_TARGET)
		answer.end = target_end();
	else if (a.op == VERIFY_READ_BACK) {
		printf("back=%" PRIu64 "+%" PRIu64 " ", a.off, a.len);
		answer.bytes = equal(&a);
	} else if (a.op == VERIFY_TRUNCATE)
		answer = cut(a.off);
	else if (a.op == VERIFY_READ_PAST_END) {
		printf("more=%" PRIu64 " ", a.off);
		answer.bytes = (uint64_t)s.longer;
	} else if (a.op == VERIFY_COPY_FROM)
		copy(v, a.off);
	if (a.op == VERIFY_COMPARE_HASH)
		hash(v, &a);
	else
		verify_answer(v, &answer);
	return a.op <= VERIFY_COPY_FROM || a.op == VERIFY_SOURCE_CHANGED;
}

static void
run(void)
{
	static const char *const hows[] = { "nothing", "time", "hashes",
	    "bytes" };
	struct verify_end source = end_of(s.source, s.stime, 0);
	struct verify v, other;
	int i = 0;

	s.conf.now = (int64_t)s.now;
	verify_begin(&v, &s.conf, s.old || s.conf.put ? &source : NULL, s.old,
	    s.hashes);
	if (s.taken != NEVER) {
		memset(&other, 0, sizeof(other));
		other.off = s.taken;
		other.verified_by = VERIFIED_BY_HASHES;
		verify_adopt(&v, &other);
	}
	while (go_on(&v)) {
		if (++i == STEPS)
			errx(1, "no end");
	}
	printf("%s=%" PRIu64 "\n", hows[v.verified_by], v.verified);
}

int
main(void)
{
	char line[1024], *p, *word;

	while (fgets(line, sizeof(line), stdin) != NULL) {
		memset(&s, 0, sizeof(s));
		s.source = s.target = s.differs = s.stime = s.ttime = NEVER;
		s.taken = s.answers = NEVER;
		p = line;
		while ((word = strsep(&p, " \n")) != NULL) {
			if (*word != '\0')
				set(word);
		}
		run();
	}
	return 0;
}
