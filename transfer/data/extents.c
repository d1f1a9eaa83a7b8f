/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See extents.h for the idea. */

#include <stdlib.h>
#include <string.h>

#include "extents.h"
#include "minmax.h"

/*
 * Data that waits is joined with what precedes it up to this size, in bytes. A
 * server that sends the shortest of replies leaves one piece for each range.
 */
#define APPEND_MAX	(64 * 1024)

void
extents_begin(struct extents *rs, uint64_t off)
{
	*rs = (struct extents){ .cursor = off, .moved_end = off,
	    .end = UINT64_MAX };
}

/* Adds the extent to the sums, or with -1 takes it out. */
static void
count_extent(struct extents *rs, const struct extent *r, int sign)
{
	rs->nin_flight += r->state == EXTENT_IN_FLIGHT ? sign : 0;
	rs->npending += r->state == EXTENT_PENDING ? sign : 0;
	if (r->state != EXTENT_BUFFERED)
		return;
	rs->nbuffered += sign;
	rs->buffered += (uint64_t)sign * r->len;
}

static void
set_extent_state(struct extents *rs, struct extent *r, enum extent_state state)
{
	count_extent(rs, r, -1);
	r->state = state;
	count_extent(rs, r, 1);
	if (state == EXTENT_PENDING &&
	    (rs->first_pending == NULL || r->off < rs->first_pending->off))
		rs->first_pending = r;
}

static void
drop_extent(struct extents *rs, struct extent *r)
{
	*(r->prev == NULL ? &rs->first : &r->prev->next) = r->next;
	*(r->next == NULL ? &rs->last : &r->next->prev) = r->prev;
	set_extent_state(rs, r, EXTENT_UNUSED);
	if (rs->first_pending == r)
		rs->first_pending = r->next;
	rs->n--;
	free(r->data);
	if (r != &rs->inline_extent)
		free(r);
}

void
extents_clear(struct extents *rs)
{
	while (rs->first != NULL)
		drop_extent(rs, rs->first);
}

/* Returns a new extent that is pending, behind "prev", or NULL. */
static struct extent *
insert_extent(struct extents *rs, struct extent *prev, uint64_t off,
    uint32_t len)
{
	struct extent *r = rs->inline_extent.state == EXTENT_UNUSED ?
	    &rs->inline_extent : malloc(sizeof(*r));
	struct extent *next = prev == NULL ? rs->first : prev->next;

	if (r == NULL)
		return NULL;
	*r = (struct extent){ .prev = prev, .next = next, .off = off,
	    .len = len };
	*(prev == NULL ? &rs->first : &prev->next) = r;
	*(next == NULL ? &rs->last : &next->prev) = r;
	set_extent_state(rs, r, EXTENT_PENDING);
	rs->n++;
	return r;
}

struct extent *
extents_assign(struct extents *rs, unsigned int conn, uint32_t len)
{
	struct extent *r = rs->first_pending;

	if (rs->npending > 0) {
		while (r->state != EXTENT_PENDING)
			r = r->next;
		rs->first_pending = r;
	} else if ((r = insert_extent(rs, rs->last, rs->cursor, len)) != NULL)
		rs->cursor += len;
	if (r == NULL)
		return NULL;
	r->conn = conn;
	set_extent_state(rs, r, EXTENT_IN_FLIGHT);
	return r;
}

void
extents_sent(struct extents *rs, struct extent *r, uint64_t off, uint32_t len)
{
	int is_last = r->off + r->len == rs->cursor, is_short = len < r->len;

	r->off = off;
	r->len = len;
	if (is_last)
		rs->cursor = off + len;
	else if (is_short)
		extents_end(rs, off + len);
	if (len > 0)
		return;
	if (is_last)
		rs->moved_end = max_u64(rs->moved_end, off);
	drop_extent(rs, r);
}

void
extents_done(struct extents *rs, struct extent *r, uint32_t len)
{
	rs->moved_end = max_u64(rs->moved_end, r->off + len);
	if (len == r->len) {
		drop_extent(rs, r);
		return;
	}
	r->off += len;
	r->len -= len;
	set_extent_state(rs, r, EXTENT_PENDING);
}

void
extents_fail(struct extents *rs, struct extent *r)
{
	uint64_t off = r->off;

	drop_extent(rs, r);
	extents_end(rs, off);
}

void
extents_end(struct extents *rs, uint64_t off)
{
	struct extent *r, *prev;

	rs->end = min_u64(rs->end, off);
	for (r = rs->last; r != NULL && r->off >= rs->end; r = prev) {
		prev = r->prev;
		if (r->state != EXTENT_IN_FLIGHT)
			drop_extent(rs, r);
	}
}

/* Joins "data" with that of the extent before it. */
static int
append_data(struct extents *rs, struct extent *r, const unsigned char *data,
    uint32_t len)
{
	struct extent *prev = r->prev;
	unsigned char *all = realloc(prev->data, prev->len + len);

	if (all == NULL)
		return -1;
	memcpy(all + prev->len, data, len);
	prev->data = all;
	set_extent_state(rs, prev, EXTENT_UNUSED);
	prev->len += len;
	set_extent_state(rs, prev, EXTENT_BUFFERED);
	extents_done(rs, r, len);
	return 0;
}

int
extents_data(struct extents *rs, struct extent *r, const unsigned char *data,
    uint32_t len)
{
	unsigned char *copy = NULL;
	int is_next = r == rs->first;

	rs->moved_end = max_u64(rs->moved_end, r->off + len);
	if (r->off >= rs->end) {
		extents_fail(rs, r);
		return 0;
	}
	if (!is_next && r->prev->state == EXTENT_BUFFERED &&
	    r->prev->off + r->prev->len == r->off && r->prev->len < APPEND_MAX)
		return append_data(rs, r, data, len);
	if (!is_next && (copy = malloc(len)) == NULL)
		return -1;
	if (len < r->len && insert_extent(rs, r, r->off + len, r->len - len) ==
	    NULL) {
		free(copy);
		return -1;
	}
	if (copy != NULL)
		memcpy(copy, data, len);
	r->data = copy;
	/* The sums have its old length. */
	set_extent_state(rs, r, EXTENT_UNUSED);
	r->len = len;
	set_extent_state(rs, r, EXTENT_BUFFERED);
	return is_next;
}

struct extent *
extents_next_buffered(const struct extents *rs)
{
	struct extent *r = rs->first;

	return r != NULL && r->state == EXTENT_BUFFERED ? r : NULL;
}

void
extents_written(struct extents *rs, int ok)
{
	if (ok)
		extents_done(rs, rs->first, rs->first->len);
	else
		extents_end(rs, rs->first->off);
}

void
extents_requeue(struct extents *rs, unsigned int conn)
{
	struct extent *r;

	for (r = rs->first; r != NULL; r = r->next) {
		if (r->state == EXTENT_IN_FLIGHT && r->conn == conn)
			set_extent_state(rs, r, EXTENT_PENDING);
	}
	extents_end(rs, rs->end);
}

uint64_t
extents_contiguous_end(const struct extents *rs)
{
	return min_u64(min_u64(rs->moved_end, rs->end),
	    rs->first == NULL ? rs->cursor : rs->first->off);
}
