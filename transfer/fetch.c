/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * See fetch.h for the idea. Ranges are kept in the order of their offsets,
 * from the first that is not written, without a gap, up to the cursor.
 */

#include <stdlib.h>
#include <string.h>

#include "fetch.h"
#include "minmax.h"

enum range_state { AWAY, LOOSE, HELD };

struct range {
	struct range *next;
	uint64_t off;
	uint32_t len, id;
	unsigned int link;
	enum range_state state;
	unsigned char *data;		/* of one that is HELD */
};

enum link_state { NONE, WANTED, OPENING, OPENED, LOOKING, READY, REJECTED,
    CLOSING };

struct link {
	enum link_state state;
	uint32_t id;			/* of the control under way */
	uint64_t away, credit;		/* bytes */
};

struct fetch {
	uint64_t size, end;		/* expected, and as the server says */
	uint32_t unit, id;
	struct link link[FETCH_LINKS];
	struct range *first, **last;
	unsigned int naway, nloose, npieces;	/* ranges: all */
	uint64_t frontier, cursor;
	int	 is_started, is_stopped, is_broken;
	int	 is_writing;		/* the first range */
};

struct fetch *
fetch_new(uint64_t size, uint32_t unit, uint32_t first_id)
{
	struct fetch *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return NULL;
	s->size = size;
	s->end = UINT64_MAX;
	s->unit = unit;
	s->id = first_id;
	s->last = &s->first;
	s->link[0].state = WANTED;
	return s;
}

void
fetch_free(struct fetch *s)
{
	struct range *r;

	while (s != NULL && (r = s->first) != NULL) {
		s->first = r->next;
		free(r->data);
		free(r);
	}
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
	struct range *r;

	memset(&s->link[link], 0, sizeof(s->link[link]));
	for (r = s->first; r != NULL; r = r->next) {
		if (r->state != AWAY || r->link != link)
			continue;
		r->state = LOOSE;
		s->naway--;
		s->nloose++;
	}
}

void
fetch_set_credit(struct fetch *s, unsigned int link, uint64_t bytes)
{
	s->link[link].credit = bytes;
}

/* Ranges */

static struct range **
find_range(struct fetch *s, uint32_t id)
{
	struct range **at;

	for (at = &s->first; *at != NULL; at = &(*at)->next) {
		if ((*at)->state == AWAY && (*at)->id == id)
			return at;
	}
	return NULL;
}

static void
drop(struct fetch *s, struct range **at)
{
	struct range *r = *at;

	*at = r->next;
	s->npieces--;
	if (s->last == &r->next)
		s->last = at;
	free(r->data);
	free(r);
}

/* Puts a new range behind "at". */
static struct range *
insert(struct fetch *s, struct range **at, uint64_t off, uint32_t len)
{
	struct range *r = calloc(1, sizeof(*r));

	if (r == NULL)
		return NULL;
	r->off = off;
	r->len = len;
	r->state = LOOSE;
	s->nloose++;
	s->npieces++;
	r->next = *at;
	*at = r;
	if (s->last == at)
		s->last = &r->next;
	return r;
}

/* What nobody is going to read lies behind the end. */
static void
drop_behind_end(struct fetch *s)
{
	struct range **at = &s->first;

	while (*at != NULL) {
		if ((*at)->off < s->end || (*at)->state == AWAY ||
		    (s->is_writing && at == &s->first)) {
			at = &(*at)->next;
			continue;
		}
		s->nloose -= (*at)->state == LOOSE;
		drop(s, at);
	}
}

static int
is_over(const struct fetch *s)
{
	return s->is_stopped || s->is_broken;
}

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

/* Returns 1 if a new range may be read. */
static int
may_extend(const struct fetch *s)
{
	if (s->end != UINT64_MAX || s->npieces >= FETCH_PIECES)
		return 0;
	if (s->cursor >= s->size)
		return s->naway == 0;
	return s->cursor + s->unit - s->frontier <= FETCH_SPREAD;
}

static int
deal(struct fetch *s, unsigned int ready, struct fetch_action *a)
{
	struct range *r = s->first;
	int link;

	if (!s->is_started || is_over(s) || (link = pick(s, ready)) == -1)
		return 0;
	if (s->nloose > 0) {
		while (r->state != LOOSE)
			r = r->next;
		if (r != s->first && s->npieces >= FETCH_PIECES)
			return 0;
	} else if (!may_extend(s))
		return 0;
	else if ((r = insert(s, s->last, s->cursor, s->unit)) == NULL)
		return -1;
	else
		s->cursor += s->unit;
	r->state = AWAY;
	r->link = link;
	r->id = s->id++;
	s->nloose--;
	s->naway++;
	s->link[link].away += r->len;
	memset(a, 0, sizeof(*a));
	a->op = FETCH_READ;
	a->link = link;
	a->id = r->id;
	a->off = r->off;
	a->len = r->len;
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
	if (s->naway > 0 || s->is_writing)
		return 0;
	return is_over(s) || (s->is_started && s->end != UINT64_MAX &&
	    s->first == NULL);
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
	const struct range *r = s->first;

	if (r == NULL || r->state != HELD || r->off != s->frontier ||
	    s->is_broken || s->is_writing)
		return 0;
	s->is_writing = 1;
	memset(a, 0, sizeof(*a));
	a->op = FETCH_WRITE;
	a->off = r->off;
	a->len = r->len;
	a->data = r->data;
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
	for (r = s->first; r != NULL; r = r->next) {
		if (r->state == AWAY && r->link == link && r->id == id) {
			a->op = FETCH_READ;
			a->off = r->off;
			a->len = r->len;
			return 0;
		}
	}
	return -1;
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
	s->frontier = s->cursor = off;
	s->link[0].state = READY;
}

/* A range is no longer under way. */
static void
come_back(struct fetch *s, struct range *r)
{
	s->naway--;
	s->link[r->link].away -= r->len;
}

int
fetch_data(struct fetch *s, uint32_t id, const unsigned char *data,
    uint32_t len)
{
	struct range **at = find_range(s, id), *r;

	if (at == NULL || len == 0 || len > (*at)->len)
		return -2;
	r = *at;
	come_back(s, r);
	r->state = HELD;
	if (len < r->len && insert(s, &r->next, r->off + len, r->len - len) ==
	    NULL)
		return -1;
	r->len = len;
	if (r->off >= s->end || s->is_broken) {
		drop(s, at);
		return 0;
	}
	if (r == s->first && r->off == s->frontier && !s->is_writing) {
		s->is_writing = 1;
		return 1;
	}
	if ((r->data = malloc(len)) == NULL)
		return -1;
	memcpy(r->data, data, len);
	return 0;
}

void
fetch_ended(struct fetch *s, uint32_t id, int is_eof)
{
	struct range **at = find_range(s, id);

	if (at == NULL)
		return;
	come_back(s, *at);
	/* What is behind an error cannot be written either. */
	if (!is_eof)
		s->is_stopped = 1;
	s->end = min_u64(s->end, (*at)->off);
	(*at)->state = LOOSE;
	s->nloose++;
	drop_behind_end(s);
}

void
fetch_written(struct fetch *s, int ok)
{
	s->is_writing = 0;
	if (!ok) {
		s->is_broken = 1;
		return;
	}
	s->frontier += s->first->len;
	drop(s, &s->first);
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
	return s->frontier;
}

unsigned int
fetch_pieces(const struct fetch *s)
{
	return s->npieces;
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
