/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See fetch.h for the idea. */

#include <stdlib.h>
#include <string.h>

#include "fetch.h"
#include "landing.h"
#include "minmax.h"
#include "ranges.h"

enum link_state { NONE, WANTED, OPENING, OPENED, LOOKING, READY, REJECTED,
    CLOSING };

struct link {
	enum link_state state;
	uint32_t id;			/* of the control under way */
	uint64_t away, credit;		/* bytes */
};

struct fetch {
	uint64_t size;			/* expected */
	uint32_t unit, id;
	struct link link[FETCH_LINKS];
	struct ranges ranges;
	int	 is_started, is_stopped;
};

struct fetch *
fetch_new(uint64_t size, uint32_t unit, uint32_t first_id)
{
	struct fetch *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return NULL;
	s->size = size;
	s->unit = unit;
	s->id = first_id;
	ranges_begin(&s->ranges, 0);
	s->link[0].state = WANTED;
	return s;
}

void
fetch_free(struct fetch *s)
{
	if (s != NULL)
		ranges_clear(&s->ranges);
	free(s);
}

void
fetch_up(struct fetch *s, unsigned int link)
{
	s->link[link].state = WANTED;
}

void
fetch_down(struct fetch *s, unsigned int link)
{
	memset(&s->link[link], 0, sizeof(s->link[link]));
	ranges_loosen(&s->ranges, link);
}

void
fetch_set_credit(struct fetch *s, unsigned int link, uint64_t bytes)
{
	s->link[link].credit = bytes;
}

/* Ranges */

/* Returns the link with the fewest bytes under way; -1: all have enough. */
static int
pick(const struct fetch *s, unsigned int ready)
{
	uint64_t least = UINT64_MAX;
	int i, best = -1;

	for (i = 0; i < FETCH_LINKS; i++) {
		const struct link *l = &s->link[i];

		if (l->state != READY || (ready & (1U << i)) == 0 ||
		    l->away >= least ||
		    (l->away > 0 && l->away + s->unit > l->credit))
			continue;
		least = l->away;
		best = i;
	}
	return best;
}

/* Returns 1 if the next range may be read. */
static int
may_deal(const struct fetch *s)
{
	const struct ranges *rs = &s->ranges;
	int is_full = rs->n >= FETCH_PIECES;

	if (rs->nloose > 0)
		return !is_full || rs->first->state == RANGE_LOOSE;
	if (rs->end != UINT64_MAX || is_full)
		return 0;
	if (rs->cursor >= s->size)
		return rs->naway == 0;
	return rs->cursor + s->unit - ranges_frontier(rs) <= FETCH_SPREAD;
}

static int
deal(struct fetch *s, unsigned int ready, struct fetch_action *a)
{
	struct range *r;
	int link;

	if (!s->is_started || s->is_stopped || !may_deal(s) ||
	    (link = pick(s, ready)) == -1)
		return 0;
	if ((r = ranges_deal(&s->ranges, link, s->unit)) == NULL)
		return -1;
	r->id = s->id++;
	s->link[link].away += r->len;
	*a = (struct fetch_action){ .op = FETCH_READ, .link = link, .id = r->id,
	    .off = r->off, .len = r->len };
	return 1;
}

/* Controls */

static int
ask(struct fetch *s, unsigned int link, enum fetch_op op, enum link_state state,
    struct fetch_action *a)
{
	s->link[link].state = state;
	s->link[link].id = s->id++;
	memset(a, 0, sizeof(*a));
	a->op = op;
	a->link = link;
	a->id = s->link[link].id;
	return 1;
}

/* All is read that is going to be. */
static int
is_read(const struct fetch *s)
{
	const struct ranges *rs = &s->ranges;

	return rs->naway == 0 && (s->is_stopped || (s->is_started &&
	    rs->end != UINT64_MAX && rs->first == NULL));
}

static int
control(struct fetch *s, struct fetch_action *a)
{
	unsigned int i;

	for (i = 0; i < FETCH_LINKS; i++) {
		struct link *l = &s->link[i];

		if (l->state == REJECTED || (is_read(s) &&
		    (l->state == READY || l->state == OPENED)))
			return ask(s, i, FETCH_CLOSE, CLOSING, a);
		if (l->state == WANTED && is_read(s))
			l->state = NONE;
		/* The others follow when link 0 has opened it. */
		if (l->state == WANTED && (i == 0 || s->is_started))
			return ask(s, i, FETCH_OPEN, OPENING, a);
		if (l->state == OPENED && i > 0)
			return ask(s, i, FETCH_LOOK, LOOKING, a);
	}
	return 0;
}

static int
write_first(struct fetch *s, struct fetch_action *a)
{
	const struct range *r = landing_next(&s->ranges);

	if (r == NULL)
		return 0;
	*a = (struct fetch_action){ .op = FETCH_WRITE, .off = r->off,
	    .len = r->len, .data = r->data };
	return 1;
}

int
fetch_next(struct fetch *s, unsigned int ready, struct fetch_action *a)
{
	if (write_first(s, a) == 1 || control(s, a) == 1)
		return 1;
	return deal(s, ready, a);
}

int
fetch_find(const struct fetch *s, unsigned int link, uint32_t id,
    struct fetch_action *a)
{
	static const enum fetch_op ops[] = { [OPENING] = FETCH_OPEN,
	    [LOOKING] = FETCH_LOOK, [CLOSING] = FETCH_CLOSE };
	const struct link *l = &s->link[link];
	const struct range *r;

	memset(a, 0, sizeof(*a));
	a->link = link;
	a->id = id;
	if (l->id == id && (l->state == OPENING || l->state == LOOKING ||
	    l->state == CLOSING)) {
		a->op = ops[l->state];
		return 0;
	}
	r = ranges_find(&s->ranges, id);
	if (r == NULL || r->link != link)
		return -1;
	a->op = FETCH_READ;
	a->off = r->off;
	a->len = r->len;
	return 0;
}

/* Replies */

static struct link *
link_of(struct fetch *s, uint32_t id)
{
	unsigned int i;

	for (i = 0; i < FETCH_LINKS; i++) {
		if (s->link[i].state != NONE && s->link[i].id == id)
			break;
	}
	return &s->link[i % FETCH_LINKS];
}

void
fetch_opened(struct fetch *s, uint32_t id, int ok)
{
	struct link *l = link_of(s, id);

	l->state = ok ? OPENED : NONE;
	if (!ok && l == &s->link[0])
		s->is_stopped = 1;
}

void
fetch_looked(struct fetch *s, uint32_t id, int ok)
{
	link_of(s, id)->state = ok ? READY : REJECTED;
}

void
fetch_closed(struct fetch *s, uint32_t id)
{
	link_of(s, id)->state = NONE;
}

void
fetch_start(struct fetch *s, uint64_t off)
{
	s->is_started = 1;
	ranges_begin(&s->ranges, off);
	s->link[0].state = READY;
}

int
fetch_data(struct fetch *s, uint32_t id, const unsigned char *data,
    uint32_t len)
{
	struct range *r = ranges_find(&s->ranges, id);

	if (r == NULL || len == 0 || len > r->len)
		return -2;
	s->link[r->link].away -= r->len;
	return landing_data(&s->ranges, r, data, len);
}

void
fetch_ended(struct fetch *s, uint32_t id, int is_eof)
{
	struct range *r = ranges_find(&s->ranges, id);

	if (r == NULL)
		return;
	s->link[r->link].away -= r->len;
	/* What is behind an error cannot be written either. */
	if (!is_eof)
		s->is_stopped = 1;
	ranges_miss(&s->ranges, r);
}

void
fetch_written(struct fetch *s, int ok)
{
	landing_written(&s->ranges, ok);
	s->is_stopped |= !ok;
}

void
fetch_stop(struct fetch *s)
{
	s->is_stopped = 1;
}

int
fetch_is_done(const struct fetch *s)
{
	unsigned int i;

	for (i = 0; i < FETCH_LINKS; i++) {
		if (s->link[i].state != NONE)
			return 0;
	}
	return is_read(s);
}

uint64_t
fetch_frontier(const struct fetch *s)
{
	return ranges_frontier(&s->ranges);
}

unsigned int
fetch_pieces(const struct fetch *s)
{
	return s->ranges.n;
}

uint32_t
fetch_next_id(const struct fetch *s)
{
	return s->id;
}

unsigned int
fetch_links(const struct fetch *s)
{
	unsigned int i, n = 0;

	for (i = 0; i < FETCH_LINKS; i++)
		n += s->link[i].state == READY;
	return n;
}
