/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * See stripe.h for the idea. All requests but those of ranges are controls. A
 * stage ends when nothing of it is under way.
 */

#include <stdlib.h>
#include <string.h>

#include "landing.h"
#include "minmax.h"
#include "ranges.h"
#include "stripe.h"
#include "width.h"

/*
 * Bytes under way on one channel: what is on the path, and as much that waits
 * for the window in ssh, so that none of it is lost while a reply returns.
 */
#define CREDIT		(2 * WIDTH_WINDOW)

enum state { UNUSED, ASKED, UP, JOINING, READY, LEFT, GONE };

enum stage { OPENING, MOVING, LEAVING, ENDING, DONE };

struct control {
	struct control *next;
	struct stripe_action a;
	struct landing_ask ask;		/* of the landing; or "op" is 0 */
	uint64_t sent;			/* when */
};

struct chan {
	enum state state;
	uint64_t away;			/* bytes under way */
};

struct stripe {
	struct stripe_conf conf;
	struct chan chan[STRIPE_CHANNELS];
	struct ranges ranges;
	struct landing *landing;
	struct control *controls;
	unsigned int ncontrols;
	uint32_t id;
	uint64_t now, window;
	enum stage stage;
	int	 is_opened, eof, stopped, failed;
	int	 told;			/* LANDING_HAS_* */
	uint64_t highest;		/* of what was sent */
	uint64_t acked;

	/* growth */
	struct width growth;
	unsigned int want;		/* channels */
	int	 refused;
};

struct stripe *
stripe_new(const struct stripe_conf *conf)
{
	struct landing_conf land = { .size = conf->size,
	    .in_place = conf->in_place, .preserve = conf->preserve,
	    .number = conf->number, .never = !conf->may_stripe };
	struct stripe *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return NULL;
	if ((s->landing = landing_new(&land)) == NULL) {
		free(s);
		return NULL;
	}
	s->conf = *conf;
	ranges_begin(&s->ranges, 0);
	s->id = conf->first_id;
	s->window = CREDIT;
	s->want = max_u64(1, conf->streams);
	s->chan[0].state = READY;
	return s;
}

void
stripe_free(struct stripe *s)
{
	struct control *c;

	if (s == NULL)
		return;
	ranges_clear(&s->ranges);
	landing_free(s->landing);
	while ((c = s->controls) != NULL) {
		s->controls = c->next;
		free(c);
	}
	free(s);
}

/* Nothing more is dealt. */
static int
is_over(const struct stripe *s)
{
	return (s->eof && s->ranges.nloose == 0) || s->stopped || s->failed ||
	    landing_is_reverting(s->landing);
}

/* One channel is all there will be. */
static int
is_alone(const struct stripe *s)
{
	return landing_is_never(s->landing) ||
	    (s->conf.streams == 0 && s->growth.never);
}

static uint64_t
rest(const struct stripe *s)
{
	return s->conf.size - min_u64(s->conf.size, s->ranges.cursor);
}

/* Requests */

static int
ask(struct stripe *s, enum stripe_op op, unsigned int chan,
    struct stripe_action *a)
{
	struct control *c = calloc(1, sizeof(*c));

	if (c == NULL)
		return -1;
	c->a.op = op;
	c->a.chan = chan;
	c->a.id = s->id++;
	c->a.number = landing_number(s->landing);
	c->sent = s->now;
	c->next = s->controls;
	s->controls = c;
	s->ncontrols++;
	*a = c->a;
	return 1;
}

/* What the landing asks for goes over channel 0. */
static int
ask_for(struct stripe *s, const struct landing_ask *l, struct stripe_action *a)
{
	static const enum stripe_op ops[] = { [LANDING_LOOK] = STRIPE_LOOK,
	    [LANDING_FIND] = STRIPE_FIND, [LANDING_SWEEP] = STRIPE_SWEEP,
	    [LANDING_HIDE] = STRIPE_HIDE,
	    [LANDING_OPEN_SECOND] = STRIPE_OPEN_SECOND,
	    [LANDING_SPACE] = STRIPE_SPACE, [LANDING_COPY] = STRIPE_COPY,
	    [LANDING_OWN] = STRIPE_OWN, [LANDING_TRUNCATE] = STRIPE_TRUNCATE,
	    [LANDING_ATTRS] = STRIPE_ATTRS, [LANDING_SHOW] = STRIPE_SHOW,
	    [LANDING_CLOSE_SECOND] = STRIPE_CLOSE_SECOND,
	    [LANDING_REMOVE_SECOND] = STRIPE_REMOVE_SECOND,
	    [LANDING_CLOSE] = STRIPE_CLOSE };
	struct control *c;

	if (ask(s, ops[l->op], 0, a) == -1)
		return -1;
	c = s->controls;
	c->ask = *l;
	c->a.number = l->number;
	c->a.off = l->off;
	c->a.at = l->at;
	c->a.len = l->len;
	*a = c->a;
	return 1;
}

static struct control **
find(struct stripe *s, uint32_t id)
{
	struct control **at = &s->controls;

	while (*at != NULL && (*at)->a.id != id)
		at = &(*at)->next;
	return at;
}

static void
drop(struct stripe *s, struct control **at)
{
	struct control *c = *at;

	*at = c->next;
	s->ncontrols--;
	free(c);
}

static void
set_write(const struct stripe *s, const struct range *r,
    struct stripe_action *a)
{
	*a = (struct stripe_action){ .op = STRIPE_WRITE, .chan = r->link,
	    .id = r->id, .off = r->off, .len = r->len };
	a->second = landing_place(s->landing, r->off, &a->at);
}

int
stripe_find(const struct stripe *s, unsigned int chan, uint32_t id,
    struct stripe_action *a)
{
	const struct control *c = *find((struct stripe *)s, id);
	const struct range *r = ranges_find(&s->ranges, id);

	if (c != NULL)
		*a = c->a;
	else if (r != NULL)
		set_write(s, r, a);
	return (c != NULL || r != NULL) && a->chan == chan ? 0 : -1;
}

/* Data */

static uint64_t
credit(const struct stripe *s)
{
	if (s->conf.streams > 0)
		return max_u64(CREDIT, s->window / stripe_channels(s));
	return landing_is_wide(s->landing) ? CREDIT : s->window;
}

/* Returns the channel with the fewest bytes under way; -1: all have enough. */
static int
pick(const struct stripe *s, unsigned int ready)
{
	uint64_t least = UINT64_MAX;
	int i, best = -1;

	for (i = 0; i < STRIPE_CHANNELS; i++) {
		const struct chan *c = &s->chan[i];

		if (c->state != READY || (ready & (1U << i)) == 0 ||
		    c->away >= least)
			continue;
		if (c->away > 0 && c->away + s->conf.unit > credit(s))
			continue;
		least = c->away;
		best = i;
	}
	return best;
}

static int
deal(struct stripe *s, unsigned int ready, struct stripe_action *a)
{
	struct range *r;
	int c;

	if (is_over(s) || (c = pick(s, ready)) == -1)
		return 0;
	if ((r = ranges_deal(&s->ranges, c, s->conf.unit)) == NULL)
		return -1;
	r->id = s->id++;
	r->sent = s->now;
	s->chan[c].away += r->len;
	set_write(s, r, a);
	return 1;
}

void
stripe_sent(struct stripe *s, uint32_t id, uint32_t len)
{
	struct range *r = ranges_find(&s->ranges, id);

	if (r == NULL)
		return;
	s->eof |= len < r->len;
	s->chan[r->link].away -= r->len - len;
	s->highest = max_u64(s->highest, r->off + len);
	ranges_sent(&s->ranges, r, r->off, len);
}

/* How many channels */

static void
measure(struct stripe *s, uint64_t sent, uint32_t len)
{
	if (is_alone(s))
		return;
	width_acked(&s->growth, len, s->now - sent, s->now,
	    stripe_channels(s));
	if (s->conf.streams == 0)
		s->want = max_u64(s->want, s->growth.want);
}

/* Returns a channel in that state, or -1. */
static int
chan_in(const struct stripe *s, enum state state)
{
	int i;

	for (i = 1; i < STRIPE_CHANNELS; i++) {
		if (s->chan[i].state == state)
			return i;
	}
	return -1;
}

static uint64_t
least_rest(const struct stripe *s)
{
	return s->conf.streams > 0 ? STRIPE_REST : STRIPE_LEAST;
}

static int
connect_one(struct stripe *s, struct stripe_action *a)
{
	unsigned int i, n = 0;

	if (is_alone(s) || s->refused || rest(s) < least_rest(s))
		return 0;
	for (i = 0; i < STRIPE_CHANNELS && s->chan[i].state != UNUSED; i++)
		n += s->chan[i].state != GONE;
	if (i == STRIPE_CHANNELS || n >= s->want ||
	    (s->conf.streams > 0 && chan_in(s, ASKED) != -1))
		return 0;
	s->chan[i].state = ASKED;
	memset(a, 0, sizeof(*a));
	a->op = s->conf.streams > 0 ? STRIPE_LOGIN : STRIPE_CONNECT;
	a->chan = i;
	return 1;
}

static struct landing_now
now_of(const struct stripe *s)
{
	return (struct landing_now){ .us = s->now,
	    .frontier = ranges_frontier(&s->ranges),
	    .cursor = s->ranges.cursor, .sent = s->highest,
	    .controls = s->ncontrols, .is_over = is_over(s),
	    .stopped = s->stopped, .failed = s->failed, .told = s->told,
	    .may_widen = (s->growth.limited || s->conf.streams > 0) &&
	    !is_alone(s) && rest(s) >= least_rest(s) &&
	    chan_in(s, UP) != -1 };
}

static int
join_one(struct stripe *s, struct stripe_action *a)
{
	int i;

	if (!landing_is_wide(s->landing) || (i = chan_in(s, UP)) == -1)
		return 0;
	s->chan[i].state = JOINING;
	return ask(s, STRIPE_JOIN, i, a);
}

/* Stages */

static int
open_file(struct stripe *s, struct stripe_action *a)
{
	if (s->controls != NULL)
		return 0;
	return ask(s, landing_is_old(s->landing) ? STRIPE_OPEN_OLD :
	    STRIPE_OPEN_NEW, 0, a);
}

static int
move(struct stripe *s, unsigned int ready, struct stripe_action *a)
{
	struct landing_now now = now_of(s);
	struct landing_ask l;
	int r;

	if (landing_move(s->landing, &now, &l) == 1)
		return ask_for(s, &l, a);
	if (is_over(s)) {
		if (s->ranges.naway == 0 && s->controls == NULL)
			s->stage = LEAVING;
		return 0;
	}
	if ((r = connect_one(s, a)) != 0 || (r = join_one(s, a)) != 0)
		return r;
	return deal(s, ready, a);
}

static int
leave(struct stripe *s, struct stripe_action *a)
{
	int i = chan_in(s, READY);

	if (i != -1) {
		s->chan[i].state = LEFT;
		return ask(s, STRIPE_LEAVE, i, a);
	}
	if (s->controls == NULL)
		s->stage = ENDING;
	return 0;
}

/* The file goes on as it began. */
static void
revert(struct stripe *s, uint64_t kept)
{
	s->acked = kept;
	ranges_clear(&s->ranges);
	ranges_begin(&s->ranges, kept);
	s->eof = 0;
	s->stage = MOVING;
}

static int
end(struct stripe *s, struct stripe_action *a)
{
	struct landing_now now = now_of(s);
	uint64_t kept = landing_kept(s->landing, now.frontier);
	struct landing_ask l;

	if (landing_end(s->landing, &now, &l) == 1)
		return ask_for(s, &l, a);
	if (landing_reverts(s->landing, &now))
		revert(s, kept);
	else if (landing_has_ended(s->landing))
		s->stage = DONE;
	return 0;
}

static int
next_of_stage(struct stripe *s, unsigned int ready, struct stripe_action *a)
{
	switch (s->stage) {
	case OPENING:
		return open_file(s, a);
	case MOVING:
		return move(s, ready, a);
	case LEAVING:
		return leave(s, a);
	case ENDING:
		return end(s, a);
	default:
		return 0;
	}
}

int
stripe_next(struct stripe *s, unsigned int ready, struct stripe_action *a)
{
	enum stage was;
	int r;

	do {
		was = s->stage;
		r = next_of_stage(s, ready, a);
	} while (r == 0 && s->stage != was);
	return r;
}

/* Replies */

/* Returns 1 if the error is to be told. */
static int
reply_control(struct stripe *s, const struct control *c, int ok)
{
	struct landing_now now = now_of(s);

	if (c->ask.op != 0)
		return landing_reply(s->landing, &c->ask, ok, &now);
	if (c->a.op == STRIPE_JOIN) {
		s->chan[c->a.chan].state = ok ? READY : LEFT;
		return 0;
	}
	if (c->a.op == STRIPE_OPEN_NEW && !ok) {
		landing_set_old(s->landing);
		return 0;
	}
	s->failed |= !ok;
	if (c->a.op == STRIPE_LEAVE)
		return !ok;
	s->is_opened = ok;
	s->stage = ok ? MOVING : DONE;
	return !ok;
}

static int
reply_data(struct stripe *s, struct range *r, int ok)
{
	uint64_t at;
	int second = landing_place(s->landing, r->off, &at);

	s->chan[r->link].away -= r->len;
	if (ok) {
		s->acked += r->len;
		ranges_done(&s->ranges, r, r->len);
		return 0;
	}
	ranges_miss(&s->ranges, r);
	if (second)
		landing_lost_second(s->landing);
	else
		s->failed = 1;
	return !second;
}

int
stripe_reply(struct stripe *s, uint32_t id, int ok, uint64_t now)
{
	struct range *r = ranges_find(&s->ranges, id);
	struct control **at = find(s, id), c;

	s->now = now;
	if (r != NULL) {
		measure(s, r->sent, ok ? r->len : 0);
		return reply_data(s, r, ok);
	}
	if (*at == NULL)
		return 0;
	measure(s, (*at)->sent, 0);
	c = **at;
	drop(s, at);
	return reply_control(s, &c, ok);
}

void
stripe_looked(struct stripe *s, int is_regular, uint64_t size)
{
	landing_looked(s->landing, is_regular, size);
}

void
stripe_found(struct stripe *s, unsigned int number, int is_regular,
    uint64_t size, uint64_t mtime)
{
	landing_found(s->landing, number, is_regular, size, mtime);
}

void
stripe_space(struct stripe *s, uint64_t available)
{
	landing_space(s->landing, available, rest(s));
}

void
stripe_up(struct stripe *s, unsigned int chan, int has)
{
	s->chan[chan].state = UP;
	s->told = has;
}

/* What the channel had is dealt again. */
static void
loosen(struct stripe *s, unsigned int chan)
{
	struct control **at;

	ranges_loosen(&s->ranges, chan);
	for (at = &s->controls; *at != NULL;) {
		if ((*at)->a.chan == chan)
			drop(s, at);
		else
			at = &(*at)->next;
	}
}

/* No further connection can be had: without any there may be channels. */
static void
refuse_streams(struct stripe *s)
{
	int i;

	for (i = 1; i < STRIPE_CHANNELS; i++) {
		if (s->chan[i].state != UNUSED && s->chan[i].state != GONE) {
			s->refused = 1;
			return;
		}
	}
	s->conf.streams = 0;
	s->want = 1;
}

void
stripe_down(struct stripe *s, unsigned int chan)
{
	int was_asked = s->chan[chan].state == ASKED;

	s->chan[chan].state = GONE;
	s->chan[chan].away = 0;
	loosen(s, chan);
	if (was_asked && s->conf.streams > 0)
		refuse_streams(s);
	else if (was_asked)
		s->refused = 1;
}

void
stripe_clock(struct stripe *s, uint64_t now)
{
	s->now = now;
}

void
stripe_set_window(struct stripe *s, uint64_t bytes)
{
	s->window = bytes;
}

void
stripe_set_streams(struct stripe *s, unsigned int streams)
{
	if (s->conf.streams > 0)
		s->want = max_u64(s->want, streams);
}

void
stripe_stop(struct stripe *s)
{
	s->stopped = 1;
}

int
stripe_is_open(const struct stripe *s)
{
	return s->is_opened;
}

int
stripe_is_done(const struct stripe *s)
{
	return s->stage == DONE;
}

uint64_t
stripe_frontier(const struct stripe *s)
{
	return landing_kept(s->landing, ranges_frontier(&s->ranges));
}

uint64_t
stripe_acked(const struct stripe *s)
{
	return s->acked;
}

uint32_t
stripe_next_id(const struct stripe *s)
{
	return s->id;
}

unsigned int
stripe_channels(const struct stripe *s)
{
	unsigned int i, n = 0;

	for (i = 0; i < STRIPE_CHANNELS; i++)
		n += s->chan[i].state == READY;
	return n;
}

enum landing_left
stripe_left(const struct stripe *s)
{
	return landing_left(s->landing);
}

int
stripe_has_failed(const struct stripe *s)
{
	return s->failed || landing_has_failed(s->landing);
}
