/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * extents-replay: one file of few bytes, whose ranges come back as chance
 * wants.
 *
 * Each line is one file, in words KEY=VALUE:
 *
 *   put      1: it is sent, in no order; 0: it is got, and written in order
 *   size     bytes that are expected
 *   ends     bytes that it really has; as "size"
 *   off      where the copy goes on
 *   unit     bytes of one request
 *   links    connections
 *   most     requests under way
 *   short    1 of so many replies is short; 0: none
 *   hole     1 of so many ranges that are sent begins with a hole; 0: none
 *   lose     after 1 of so many replies a link is lost; 0: never
 *   bad      a request for this byte fails
 *   full     this byte cannot be written
 *   seed     of chance
 *
 * A map of the bytes is kept beside the ranges, and the two are compared after
 * each event. A promise of extents.h or tempfile.h that is broken ends the run
 * with its name. The report: the frontier, the bytes behind it that were moved,
 * the requests that were dealt, and the most bytes that waited in memory, and
 * the most pieces of them.
 */

#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "extents.h"
#include "tempfile.h"
#include "words.h"

#define BYTES	100000
#define LINKS	8

static struct {
	long put, size, ends, off, unit, links, most, shortness, hole, lose;
	long bad, full, seed;
} conf;

static const struct word keys[] = {
	{ "put", &conf.put, 0 }, { "size", &conf.size, 5000 },
	{ "ends", &conf.ends, -1 }, { "off", &conf.off, 0 },
	{ "unit", &conf.unit, 100 }, { "links", &conf.links, 3 },
	{ "most", &conf.most, 20 }, { "short", &conf.shortness, 0 },
	{ "hole", &conf.hole, 0 }, { "lose", &conf.lose, 0 },
	{ "bad", &conf.bad, -1 }, { "full", &conf.full, -1 },
	{ "seed", &conf.seed, 1 },
};

static struct extents rs;
static unsigned char map[2 * BYTES];	/* 1: this byte is done */
static uint64_t written, most_kept;
static unsigned int dealt, most_pieces;
static int is_over;

static void
must(int holds, const char *promise)
{
	if (!holds)
		errx(1, "broken: %s, at %" PRIu64, promise, written);
}

static int
one_of(long n)
{
	return n > 0 && rand() % n == 0;
}

static unsigned char
byte_at(uint64_t off)
{
	return (unsigned char)(off * 7 + (off >> 8));
}

/* The list has each byte below the cursor that is not done, and once. */
static void
check(void)
{
	const struct extent *r;
	uint64_t at = (uint64_t)conf.off, kept = 0, frontier;
	unsigned int n = 0, naway = 0;

	for (r = rs.first; r != NULL; r = r->next, n++) {
		must(r->off >= at && r->len > 0, "ranges are in order");
		must(r->prev == NULL ? r == rs.first : r->prev->next == r,
		    "ranges know their neighbours");
		for (; at < r->off; at++)
			must(map[at] || at >= rs.end, "no byte is forgotten");
		for (; at < r->off + r->len; at++)
			must(!map[at], "no byte is moved twice");
		naway += r->state == EXTENT_IN_FLIGHT;
		kept += r->state == EXTENT_BUFFERED ? r->len : 0;
		must(r->off < rs.end || r->state == EXTENT_IN_FLIGHT,
		    "what lies behind the end is forgotten");
	}
	for (; at < rs.cursor; at++)
		must(map[at] || at >= rs.end, "no byte is forgotten");
	must(n == rs.n && naway == rs.nin_flight && kept == rs.buffered &&
	    n == rs.nin_flight + rs.npending + rs.nbuffered, "all are counted");
	frontier = extents_contiguous_end(&rs);
	for (at = (uint64_t)conf.off; at < rs.cursor && map[at]; at++)
		;
	must(frontier <= at && frontier <= rs.end,
	    "all before the frontier is done");
	must(conf.put || (frontier == written && written == at),
	    "what is got is written in order");
	if (kept > most_kept)
		most_kept = kept;
	if (rs.nbuffered > most_pieces)
		most_pieces = rs.nbuffered;
}

static void
mark(uint64_t off, uint64_t len)
{
	memset(map + off, 1, len);
}

static void
write_some(const struct extent *r, const unsigned char *p)
{
	const long full = conf.full;
	uint32_t i;

	must(r->off == written, "what is got is written in order");
	for (i = 0; i < r->len; i++)
		must(p[i] == byte_at(r->off + i), "bytes are the file's");
	if (full >= 0 && (uint64_t)full < r->off + r->len) {
		is_over = 1;
		inorder_written(&rs, 0);
		return;
	}
	mark(r->off, r->len);
	written += r->len;
	inorder_written(&rs, 1);
}

static void
take_data(struct extent *r, uint32_t len)
{
	unsigned char data[BYTES];
	uint32_t i;
	int now;

	for (i = 0; i < len; i++)
		data[i] = byte_at(r->off + i);
	now = inorder_data(&rs, r, data, len);
	must(now != -1, "memory");
	if (now == 1)
		write_some(r, data);
	while ((r = inorder_next(&rs)) != NULL)
		write_some(r, r->data);
}

static void
deal(void)
{
	uint64_t off, ends = (uint64_t)conf.ends, left, next = rs.cursor;
	struct extent *r = extents_assign(&rs,
	    (unsigned int)(rand() % conf.links), (uint32_t)conf.unit);

	must(r != NULL, "memory");
	must(dealt > 0 || r == &rs.inline_extent,
	    "the first range needs no memory");
	dealt++;
	if (!conf.put)
		return;
	off = r->off;
	if (off == next && off < ends && one_of(conf.hole)) {
		left = (uint64_t)(rand() % 300);
		off += left < ends - off ? left : ends - off;
		mark(r->off, off - r->off);
	}
	left = off < ends ? ends - off : 0;
	is_over |= left < r->len;
	extents_sent(&rs, r, off, left < r->len ? (uint32_t)left : r->len);
}

static void
answer(void)
{
	struct extent *r = rs.first;
	unsigned int n = rs.nin_flight == 0 ? 0 : (unsigned int)rand() %
	    rs.nin_flight;
	uint64_t bad = (uint64_t)conf.bad, ends = (uint64_t)conf.ends;
	uint32_t len;

	for (; r != NULL && (r->state != EXTENT_IN_FLIGHT || n-- > 0); r =
	    r->next)
		;
	if (r == NULL)
		return;
	len = r->len;
	if ((conf.bad >= 0 && r->off <= bad && bad < r->off + len) ||
	    r->off >= ends) {
		is_over = 1;
		extents_fail(&rs, r);
		return;
	}
	if (!conf.put && r->off + len > ends)
		len = (uint32_t)(ends - r->off);
	if (one_of(conf.shortness))
		len = 1 + (uint32_t)rand() % len;
	if (!conf.put)
		take_data(r, len);
	else {
		mark(r->off, len);
		extents_done(&rs, r, len);
	}
}

static int
may_deal(void)
{
	if (rs.nin_flight >= (unsigned int)conf.most)
		return 0;
	return rs.npending > 0 || (!is_over && rs.cursor < BYTES);
}

static void
copy(void)
{
	uint64_t at, behind;

	if (conf.ends == -1)
		conf.ends = conf.size;
	if (conf.links > LINKS || conf.size >= BYTES - 1000)
		errx(1, "too much");
	memset(map, 0, sizeof(map));
	srand((unsigned int)conf.seed);
	written = (uint64_t)conf.off;
	most_kept = most_pieces = dealt = 0;
	is_over = 0;
	extents_begin(&rs, written);
	while (may_deal() || rs.nin_flight > 0) {
		if (may_deal() && (rs.nin_flight == 0 || rand() % 3 > 0))
			deal();
		else
			answer();
		if (one_of(conf.lose))
			extents_requeue(&rs, (unsigned int)(rand() %
			    conf.links));
		check();
	}
	must(rs.nbuffered == 0, "nothing waits for ever");
	for (behind = 0, at = extents_contiguous_end(&rs); at < sizeof(map);
	    at++)
		behind += map[at];
	must(behind == 0 || rs.moved_end > extents_contiguous_end(&rs),
	    "what was moved behind the frontier is known");
	printf("frontier=%" PRIu64 " behind=%" PRIu64 " dealt=%u kept=%"
	    PRIu64 " pieces=%u\n", extents_contiguous_end(&rs), behind, dealt,
	    most_kept, most_pieces);
	extents_clear(&rs);
	must(rs.n == 0 && rs.buffered == 0, "all is freed");
}

int
main(void)
{
	words_read(keys, sizeof(keys) / sizeof(*keys), copy);
	return 0;
}
