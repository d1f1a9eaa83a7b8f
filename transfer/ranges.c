/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See ranges.h for the idea. */

#include <stdlib.h>
#include <string.h>

#include "minmax.h"
#include "ranges.h"

void
ranges_begin(struct ranges *rs, uint64_t off)
{
	*rs = (struct ranges){ .cursor = off, .high = off,
	    .end = UINT64_MAX };
}

/* Adds the range to the sums, or with -1 takes it out. */
static void
count(struct ranges *rs, const struct range *r, int sign)
{
	rs->naway += r->state == RANGE_AWAY ? sign : 0;
	rs->nloose += r->state == RANGE_LOOSE ? sign : 0;
	if (r->state != RANGE_KEPT)
		return;
	rs->nkept += sign;
	rs->kept += (uint64_t)sign * r->len;
}

static void
set_state(struct ranges *rs, struct range *r, enum range_state state)
{
	count(rs, r, -1);
	r->state = state;
	count(rs, r, 1);
	if (state == RANGE_LOOSE &&
	    (rs->loose == NULL || r->off < rs->loose->off))
		rs->loose = r;
}

static void
drop(struct ranges *rs, struct range *r)
{
	*(r->prev == NULL ? &rs->first : &r->prev->next) = r->next;
	*(r->next == NULL ? &rs->last : &r->next->prev) = r->prev;
	set_state(rs, r, RANGE_UNUSED);
	if (rs->loose == r)
		rs->loose = r->next;
	rs->n--;
	free(r->data);
	if (r != &rs->own)
		free(r);
}

void
ranges_clear(struct ranges *rs)
{
	while (rs->first != NULL)
		drop(rs, rs->first);
}

/* Returns a new range that is loose, behind "prev", or NULL. */
static struct range *
insert(struct ranges *rs, struct range *prev, uint64_t off, uint32_t len)
{
	struct range *r = rs->own.state == RANGE_UNUSED ? &rs->own :
	    malloc(sizeof(*r));
	struct range *next = prev == NULL ? rs->first : prev->next;

	if (r == NULL)
		return NULL;
	*r = (struct range){ .prev = prev, .next = next, .off = off,
	    .len = len };
	*(prev == NULL ? &rs->first : &prev->next) = r;
	*(next == NULL ? &rs->last : &next->prev) = r;
	set_state(rs, r, RANGE_LOOSE);
	rs->n++;
	return r;
}

struct range *
ranges_deal(struct ranges *rs, unsigned int link, uint32_t len)
{
	struct range *r = rs->loose;

	if (rs->nloose > 0) {
		while (r->state != RANGE_LOOSE)
			r = r->next;
		rs->loose = r;
	} else if ((r = insert(rs, rs->last, rs->cursor, len)) != NULL)
		rs->cursor += len;
	if (r == NULL)
		return NULL;
	r->link = link;
	set_state(rs, r, RANGE_AWAY);
	return r;
}

void
ranges_sent(struct ranges *rs, struct range *r, uint64_t off, uint32_t len)
{
	int is_last = r->off + r->len == rs->cursor, is_short = len < r->len;

	r->off = off;
	r->len = len;
	if (is_last)
		rs->cursor = off + len;
	else if (is_short)
		ranges_end(rs, off + len);
	if (len > 0)
		return;
	if (is_last)
		rs->high = max_u64(rs->high, off);
	drop(rs, r);
}

void
ranges_done(struct ranges *rs, struct range *r, uint32_t len)
{
	rs->high = max_u64(rs->high, r->off + len);
	if (len == r->len) {
		drop(rs, r);
		return;
	}
	r->off += len;
	r->len -= len;
	set_state(rs, r, RANGE_LOOSE);
}

int
ranges_keep(struct ranges *rs, struct range *r, unsigned char *data,
    uint32_t len)
{
	if (len < r->len && insert(rs, r, r->off + len, r->len - len) == NULL)
		return -1;
	rs->high = max_u64(rs->high, r->off + len);
	r->data = data;
	/* The sums have its old length. */
	set_state(rs, r, RANGE_UNUSED);
	r->len = len;
	set_state(rs, r, RANGE_KEPT);
	return 0;
}

int
ranges_join(struct ranges *rs, struct range *r, const unsigned char *data,
    uint32_t len)
{
	struct range *prev = r->prev;
	unsigned char *all = realloc(prev->data, prev->len + len);

	if (all == NULL)
		return -1;
	memcpy(all + prev->len, data, len);
	prev->data = all;
	set_state(rs, prev, RANGE_UNUSED);
	prev->len += len;
	set_state(rs, prev, RANGE_KEPT);
	ranges_done(rs, r, len);
	return 0;
}

void
ranges_miss(struct ranges *rs, struct range *r)
{
	uint64_t off = r->off;

	drop(rs, r);
	ranges_end(rs, off);
}

void
ranges_end(struct ranges *rs, uint64_t off)
{
	struct range *r, *prev;

	rs->end = min_u64(rs->end, off);
	for (r = rs->last; r != NULL && r->off >= rs->end; r = prev) {
		prev = r->prev;
		if (r->state != RANGE_AWAY)
			drop(rs, r);
	}
}

void
ranges_loosen(struct ranges *rs, unsigned int link)
{
	struct range *r;

	for (r = rs->first; r != NULL; r = r->next) {
		if (r->state == RANGE_AWAY && r->link == link)
			set_state(rs, r, RANGE_LOOSE);
	}
	ranges_end(rs, rs->end);
}

uint64_t
ranges_frontier(const struct ranges *rs)
{
	return min_u64(min_u64(rs->high, rs->end),
	    rs->first == NULL ? rs->cursor : rs->first->off);
}
