/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * extents-replay: one file of few bytes, whose extents are answered in random
 * order.
 *
 * Each line is one file, in words KEY=VALUE:
 *
 *   put      1: upload, sent in any order; 0: download, written in order
 *   size     bytes that are expected
 *   ends     bytes that it really has; as "size"
 *   off      where the copy continues
 *   unit     bytes of one request
 *   conns    connections
 *   most     requests in flight
 *   short    1 of N replies is short; 0: none
 *   hole     1 of N extents that are sent begins with a hole; 0: none
 *   lose     after 1 of N replies a connection is lost; 0: never
 *   bad      a request for this byte fails
 *   full     this byte cannot be written
 *   seed     of the random numbers
 *
 * A map of the bytes is compared with the extents after each event. A promise
 * of extents.h that is broken ends the run with its name. The
 * report: the contiguous end, the bytes behind it that were transferred, the
 * requests that were assigned, and the most bytes that were buffered, and the
 * most buffers.
 */

#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "extents.h"
#include "words.h"

#define BYTES	100000
#define CONNS_MAX	8

static struct {
	long put, size, ends, off, unit, conns, most, shortness, hole, lose;
	long bad, full, seed;
} conf;

static const struct word keys[] = {
	{ "put", &conf.put, 0 }, { "size", &conf.size, 5000 },
	{ "ends", &conf.ends, -1 }, { "off", &conf.off, 0 },
	{ "unit", &conf.unit, 100 }, { "conns", &conf.conns, 3 },
	{ "most", &conf.most, 20 }, { "short", &conf.shortness, 0 },
	{ "hole", &conf.hole, 0 }, { "lose", &conf.lose, 0 },
	{ "bad", &conf.bad, -1 }, { "full", &conf.full, -1 },
	{ "seed", &conf.seed, 1 },
};

static struct extents rs;
static unsigned char map[2 * BYTES];	/* 1: this byte is done */
static uint64_t written, most_buffered;
static unsigned int nassigned, most_pieces;
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
check_extents(void)
{
	const struct extent *r;
	uint64_t at = (uint64_t)conf.off, nbytes = 0, contiguous;
	unsigned int n = 0, nin_flight = 0;

	for (r = rs.first; r != NULL; r = r->next, n++) {
		must(r->off >= at && r->len > 0, "extents are in order");
		must(r->prev == NULL ? r == rs.first : r->prev->next == r,
		    "extents know their neighbours");
		for (; at < r->off; at++)
			must(map[at] || at >= rs.end, "no byte is forgotten");
		for (; at < r->off + r->len; at++)
			must(!map[at], "no byte is transferred twice");
		nin_flight += r->state == EXTENT_IN_FLIGHT;
		nbytes += r->state == EXTENT_BUFFERED ? r->len : 0;
		must(r->off < rs.end || r->state == EXTENT_IN_FLIGHT,
		    "no extent behind the end remains");
	}
	for (; at < rs.cursor; at++)
		must(map[at] || at >= rs.end, "no byte is forgotten");
	must(n == rs.n && nin_flight == rs.nin_flight &&
	    nbytes == rs.buffered && n == rs.nin_flight + rs.npending +
	    rs.nbuffered, "all are counted");
	contiguous = extents_contiguous_end(&rs);
	for (at = (uint64_t)conf.off; at < rs.cursor && map[at]; at++)
		;
	must(contiguous <= at && contiguous <= rs.end,
	    "all before the contiguous end is done");
	must(conf.put || (contiguous == written && written == at),
	    "a download is written in order");
	if (nbytes > most_buffered)
		most_buffered = nbytes;
	if (rs.nbuffered > most_pieces)
		most_pieces = rs.nbuffered;
}

static void
mark_done(uint64_t off, uint64_t len)
{
	memset(map + off, 1, len);
}

static void
write_some(const struct extent *r, const unsigned char *p)
{
	const long full = conf.full;
	uint32_t i;

	must(r->off == written, "a download is written in order");
	for (i = 0; i < r->len; i++)
		must(p[i] == byte_at(r->off + i), "bytes are the file's");
	if (full >= 0 && (uint64_t)full < r->off + r->len) {
		is_over = 1;
		extents_written(&rs, 0);
		return;
	}
	mark_done(r->off, r->len);
	written += r->len;
	extents_written(&rs, 1);
}

static void
receive_data(struct extent *r, uint32_t len)
{
	unsigned char data[BYTES];
	uint32_t i;
	int now;

	for (i = 0; i < len; i++)
		data[i] = byte_at(r->off + i);
	now = extents_data(&rs, r, data, len);
	must(now != -1, "memory");
	if (now == 1)
		write_some(r, data);
	while ((r = extents_next_buffered(&rs)) != NULL)
		write_some(r, r->data);
}

static void
assign_extent(void)
{
	uint64_t off, ends = (uint64_t)conf.ends, left, next = rs.cursor;
	struct extent *r = extents_assign(&rs,
	    (unsigned int)(rand() % conf.conns), (uint32_t)conf.unit);

	must(r != NULL, "memory");
	must(nassigned > 0 || r == &rs.inline_extent,
	    "the first extent needs no memory");
	nassigned++;
	if (!conf.put)
		return;
	off = r->off;
	if (off == next && off < ends && one_of(conf.hole)) {
		left = (uint64_t)(rand() % 300);
		off += left < ends - off ? left : ends - off;
		mark_done(r->off, off - r->off);
	}
	left = off < ends ? ends - off : 0;
	is_over |= left < r->len;
	extents_sent(&rs, r, off, left < r->len ? (uint32_t)left : r->len);
}

static void
serve_one(void)
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
		receive_data(r, len);
	else {
		mark_done(r->off, len);
		extents_done(&rs, r, len);
	}
}

static int
may_assign(void)
{
	if (rs.nin_flight >= (unsigned int)conf.most)
		return 0;
	return rs.npending > 0 || (!is_over && rs.cursor < BYTES);
}

static void
run_copy(void)
{
	uint64_t at, behind;

	if (conf.ends == -1)
		conf.ends = conf.size;
	if (conf.conns > CONNS_MAX || conf.size >= BYTES - 1000)
		errx(1, "too much");
	memset(map, 0, sizeof(map));
	srand((unsigned int)conf.seed);
	written = (uint64_t)conf.off;
	most_buffered = most_pieces = nassigned = 0;
	is_over = 0;
	extents_begin(&rs, written);
	while (may_assign() || rs.nin_flight > 0) {
		if (may_assign() && (rs.nin_flight == 0 || rand() % 3 > 0))
			assign_extent();
		else
			serve_one();
		if (one_of(conf.lose))
			extents_requeue(&rs, (unsigned int)(rand() %
			    conf.conns));
		check_extents();
	}
	must(rs.nbuffered == 0, "no data remains buffered");
	for (behind = 0, at = extents_contiguous_end(&rs); at < sizeof(map);
	    at++)
		behind += map[at];
	must(behind == 0 || rs.moved_end > extents_contiguous_end(&rs),
	    "data behind the contiguous end is known");
	printf("contiguous=%" PRIu64 " behind=%" PRIu64 " assigned=%u "
	    "buffered=%" PRIu64 " pieces=%u\n", extents_contiguous_end(&rs),
	    behind, nassigned, most_buffered, most_pieces);
	extents_clear(&rs);
	must(rs.n == 0 && rs.buffered == 0, "all is freed");
}

int
main(void)
{
	words_read(keys, sizeof(keys) / sizeof(*keys), run_copy);
	return 0;
}
