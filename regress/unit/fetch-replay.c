/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * fetch-replay: one file that is got from a server made of chance.
 *
 * Each line is one file, in words KEY=VALUE; sizes are in KiB:
 *
 *   size, actual   of the file, as expected and as it is; 100000 both
 *   off            where the copy goes on
 *   links          connections, with the first; they come one by one
 *   lose           this many of them are lost, one by one
 *   short          1 of so many replies is short; 0: none
 *   bytes          no reply has more bytes; 0: all that was asked for
 *   other          this link has another file
 *   error, full    reading, or writing, at this KiB fails
 *   bad            so does reading there alone
 *   stop           the user interrupts after so many steps
 *   slow           link 1 answers 1 time in so many
 *   seed           of chance
 *
 * Replies of one link come in order. What is written must come in order, with
 * the bytes of the file, and what waits must be within FETCH_SPREAD and about
 * FETCH_PIECES; otherwise the run ends with "broken" and the promise. The
 * report: KiB that are complete, the most links that took part, KiB that each
 * read, and KiB that waited.
 */

#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim.h"
#include "words.h"
#include "fetch.h"

#define KIB	1024
#define UNIT	(256 * KIB)
#define QUEUES	8192		/* that all links may have under way */
#define STEPS	4000000

static struct {
	long size, actual, off, links, lose, shortness, bytes, other, error;
	long bad, full, stop, slow, seed;
} conf;

static const struct word keys[] = {
	{ "size", &conf.size, 100000 }, { "actual", &conf.actual, -1 },
	{ "off", &conf.off, 0 }, { "links", &conf.links, 1 },
	{ "lose", &conf.lose, 0 }, { "short", &conf.shortness, 0 },
	{ "bytes", &conf.bytes, 0 },
	{ "other", &conf.other, -1 }, { "error", &conf.error, -1 },
	{ "bad", &conf.bad, -1 },
	{ "full", &conf.full, -1 }, { "stop", &conf.stop, -1 },
	{ "slow", &conf.slow, 1 }, { "seed", &conf.seed, 1 },
};

static struct sim sim;
static int	 is_there[FETCH_LINKS];
static long	 kib[FETCH_LINKS];	/* that each has read */

static struct fetch *s;
static uint64_t written, highest;
static unsigned int most;
static uint64_t waited;
static unsigned char data[UNIT];

static void
broken(const char *what)
{
	printf("broken: %s, at %" PRIu64 "\n", what, written);
	exit(1);
}

/* The byte of the file at an offset */
static unsigned char
byte_at(uint64_t off)
{
	return (unsigned char)((off >> 16) * 31 + off % 251);
}

static void
write_data(uint64_t off, const unsigned char *p, uint32_t len)
{
	uint32_t i;

	if (off != written || off != fetch_frontier(s))
		broken("not in order");
	for (i = 0; i < len; i += 509) {
		if (p[i] != byte_at(off + i))
			broken("other bytes");
	}
	if (conf.full >= 0 && off + len > (uint64_t)conf.full * KIB) {
		fetch_written(s, 0);
		return;
	}
	written += len;
	fetch_written(s, 1);
}

static void
reply_read(unsigned int link, const struct fetch_action *a)
{
	uint64_t end = (uint64_t)conf.actual * KIB;
	uint64_t error = (uint64_t)conf.error * KIB;
	uint64_t bad = (uint64_t)conf.bad * KIB;
	uint32_t len = a->len, i;
	int r;

	if ((conf.error >= 0 && a->off + len > error) ||
	    (conf.bad >= 0 && a->off <= bad && bad < a->off + len)) {
		fetch_ended(s, a->id, 0);
		return;
	}
	if (a->off >= end) {
		fetch_ended(s, a->id, 1);
		return;
	}
	if (a->off + len > end)
		len = end - a->off;
	if (conf.bytes > 0 && len > conf.bytes)
		len = conf.bytes;
	if (conf.shortness > 0 && rand() % conf.shortness == 0)
		len = 1 + rand() % len;
	for (i = 0; i < len; i++)
		data[i] = byte_at(a->off + i);
	kib[link] += len / KIB;
	if (a->off + len > highest)
		highest = a->off + len;
	if (fetch_pieces(s) > FETCH_PIECES + QUEUES)
		broken("too many pieces");
	if (highest - fetch_frontier(s) > waited)
		waited = highest - fetch_frontier(s);
	r = fetch_data(s, a->id, data, len);
	if (r < 0)
		broken("data was refused");
	if (r == 1)
		write_data(a->off, data, len);
}

static void
reply(unsigned int link)
{
	struct fetch_action a, found;

	memcpy(&a, sim_pop(&sim, link)->body, sizeof(a));
	if (fetch_find(s, link, a.id, &found) != 0 || found.op != a.op ||
	    fetch_find(s, (link + 1) % FETCH_LINKS, a.id, &found) == 0)
		broken("a request is not known");
	if (a.op == FETCH_OPEN) {
		fetch_opened(s, a.id, 1);
		if (link == 0)
			fetch_start(s, (uint64_t)conf.off * KIB);
	} else if (a.op == FETCH_LOOK)
		fetch_looked(s, a.id, (long)link != conf.other);
	else if (a.op == FETCH_CLOSE)
		fetch_closed(s, a.id);
	else
		reply_read(link, &a);
}

static void
come_and_go(long step)
{
	unsigned int i;

	for (i = 1; i < (unsigned int)conf.links; i++) {
		if (!is_there[i] && step == 10L * i) {
			is_there[i] = 1;
			fetch_set_credit(s, i, 8 * UNIT);
			fetch_up(s, i);
			fetch_set_credit(s, i, 8 * UNIT);
		} else if (is_there[i] && (long)i <= conf.lose &&
		    step == 200 + 40L * i) {
			sim_lose(&sim, i);
			fetch_down(s, i);
		}
	}
	if (step == conf.stop)
		fetch_stop(s);
}

static void
act(void)
{
	struct fetch_action a;
	int r;

	while ((r = fetch_next(s, (1U << FETCH_LINKS) - 1, &a)) == 1) {
		if (a.op == FETCH_WRITE) {
			write_data(a.off, a.data, a.len);
			continue;
		}
		if (a.op == FETCH_READ &&
		    a.off >= (uint64_t)conf.size * KIB + UNIT &&
		    a.off > fetch_frontier(s) + 2 * UNIT)
			broken("read far behind the end");
		sim_push(&sim, a.link, &a, sizeof(a));
	}
	if (r == -1)
		broken("out of memory");
	if (fetch_links(s) > most)
		most = fetch_links(s);
}

static void
get(void)
{
	unsigned int i, link;
	long step;

	sim_reset(&sim);
	memset(is_there, 0, sizeof(is_there));
	memset(kib, 0, sizeof(kib));
	is_there[0] = 1;
	srand(conf.seed);
	if (conf.actual == -1)
		conf.actual = conf.size;
	written = highest = (uint64_t)conf.off * KIB;
	waited = most = 0;
	if ((s = fetch_new((uint64_t)conf.size * KIB, UNIT, 7)) == NULL)
		err(1, "fetch_new");
	fetch_set_credit(s, 0, 8 * UNIT);
	for (step = 0; step < STEPS; step++) {
		come_and_go(step);
		act();
		if (fetch_is_done(s))
			break;
		link = rand() % FETCH_LINKS;
		if (sim_waiting(&sim, link) > 0 && (link != 1 ||
		    rand() % conf.slow == 0))
			reply(link);
	}
	if (step == STEPS)
		broken("it never ends");
	if (written != fetch_frontier(s))
		broken("the frontier is another");
	if (waited > FETCH_SPREAD + 2 * UNIT)
		broken("too much waits");
	printf("moved=%" PRIu64 " links=%u waited=%" PRIu64 " read=",
	    written / KIB, most, waited / KIB);
	for (i = 0; i < FETCH_LINKS; i++)
		printf("%s%ld", i == 0 ? "" : ",", kib[i]);
	printf("\n");
	fetch_free(s);
}

int
main(void)
{
	words_read(keys, sizeof(keys) / sizeof(*keys), get);
	return 0;
}
