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

#include "minmax.h"
#include "ranges.h"
#include "stripe.h"
#include "window.h"

/*
 * Bytes under way on one channel: what is on the path, and as much that waits
 * for the window in ssh, so that none of it is lost while a reply returns.
 */
#define CREDIT		(2 * WINDOW_BYTES)

/* The server copies so many bytes at once, a few hundredths of a second. */
#define COPY_UNIT	(32 * 1024 * 1024)

/*
 * sftp-server tells no error of the last chunk of a copy-data request that has
 * a length (upstream's process_extended_copy_data()).
 */
#define COPY_CHUNK	(64 * 1024)

enum state { UNUSED, ASKED, UP, JOINING, READY, LEFT, GONE };

enum stage { OPENING, MOVING, LEAVING, COPYING, CUTTING, ENDING, SWEEPING,
    DONE };

/* Where data goes */
enum place { NAMED, HIDDEN, SECOND };

struct control {
	struct control *next;
	struct stripe_action a;
	uint64_t sent;			/* when */
};

struct chan {
	enum state state;
	uint64_t away;			/* bytes under way */
};

/* What is under a hidden name */
enum is { NOT_ASKED, ABSENT, PRESENT, WATCHED, AGAIN, DEAD };

struct beside {
	enum is	 is, found;		/* now, and by the reply */
	uint64_t size, mtime;
};

struct stripe {
	struct stripe_conf conf;
	struct beside beside[STRIPE_NAMES];
	unsigned int nfound;		/* replies to STRIPE_FIND */
	uint64_t found_at;		/* the last one of all names */
	unsigned int number;		/* of our hidden name */
	struct chan chan[STRIPE_CHANNELS];
	struct ranges ranges;
	struct control *controls;
	uint32_t id;
	uint64_t now, window;

	enum stage stage;
	unsigned int step;		/* of a stage */
	enum place place;
	int	 is_old, looked, is_opened;
	int	 never;			/* more than one channel */
	int	 has_space;
	enum { NOT, ASKING, MEASURING, DECIDING, DROPPING } converting;
	int	 eof, stopped, failed, revert, cut_failed, copy_failed;
	int	 is_lost;		/* the hidden name */
	int	 is_hidden, has_second;
	int	 has;			/* STRIPE_HAS_* */
	uint64_t old_size;

	uint64_t highest;		/* of what was sent */
	uint64_t acked;
	uint64_t base, copied;		/* of the second file */

	/* growth */
	struct window growth;
	unsigned int want;		/* channels */
	int	 refused;
};

struct stripe *
stripe_new(const struct stripe_conf *conf)
{
	struct stripe *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return NULL;
	s->conf = *conf;
	ranges_begin(&s->ranges, 0);
	s->id = conf->first_id;
	s->window = CREDIT;
	s->want = max_u64(1, conf->streams);
	s->never = !conf->may_stripe;
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
	while ((c = s->controls) != NULL) {
		s->controls = c->next;
		free(c);
	}
	free(s);
}

/* Bytes that are complete in the file itself */
static uint64_t
kept(const struct stripe *s)
{
	uint64_t frontier = ranges_frontier(&s->ranges);

	return s->place == SECOND && frontier >= s->base ? s->copied :
	    frontier;
}

/* Nothing more is dealt. */
static int
is_over(const struct stripe *s)
{
	return (s->eof && s->ranges.nloose == 0) || s->stopped || s->failed ||
	    s->revert;
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
	c->a.off = kept(s);
	c->a.number = s->number;
	c->sent = s->now;
	c->next = s->controls;
	s->controls = c;
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
drop(struct control **at)
{
	struct control *c = *at;

	*at = c->next;
	free(c);
}

/* Returns 1 if the range goes into the second file. */
static int
is_second(const struct stripe *s, const struct range *r)
{
	return s->place == SECOND && r->off >= s->base;
}

static void
set_write(const struct stripe *s, const struct range *r,
    struct stripe_action *a)
{
	int second = is_second(s, r);

	*a = (struct stripe_action){ .op = STRIPE_WRITE, .chan = r->link,
	    .id = r->id, .off = r->off, .len = r->len, .second = second,
	    .at = r->off - (second ? s->base : 0) };
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
	return s->place == NAMED ? s->window : CREDIT;
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
	if (s->never)
		return;
	window_count(&s->growth, len, s->now - sent, s->now,
	    stripe_channels(s));
	if (s->conf.streams > 0)
		return;
	s->want = max_u64(s->want, s->growth.want);
	s->never = s->growth.never;
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

	if (s->never || s->refused || rest(s) < least_rest(s))
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

/* Hidden names */

static int
ask_name(struct stripe *s, enum stripe_op op, unsigned int number,
    struct stripe_action *a)
{
	if (ask(s, op, 0, a) == -1)
		return -1;
	a->number = s->controls->a.number = number;
	return 1;
}

static int
find_names(struct stripe *s, struct stripe_action *a)
{
	unsigned int i;

	for (i = 0; i < STRIPE_NAMES; i++) {
		if (s->beside[i].is != NOT_ASKED)
			continue;
		s->beside[i].is = PRESENT;
		return ask_name(s, STRIPE_FIND, i, a);
	}
	return 0;
}

/* Looks again, and removes what nobody has written to. */
static int
sweep(struct stripe *s, struct stripe_action *a)
{
	unsigned int i;

	if (s->nfound < STRIPE_NAMES || s->now - s->found_at < STRIPE_WATCH_US)
		return 0;
	for (i = 0; i < STRIPE_NAMES; i++) {
		if (s->beside[i].is == WATCHED) {
			s->beside[i].is = AGAIN;
			return ask_name(s, STRIPE_FIND, i, a);
		}
		if (s->beside[i].is == DEAD) {
			s->beside[i].is = PRESENT;
			return ask_name(s, STRIPE_SWEEP, i, a);
		}
	}
	return 0;
}

/* Returns 0, or -1 if no name is free. */
static int
choose_name(struct stripe *s)
{
	const unsigned int n = s->is_old ? STRIPE_NAMES - STRIPE_SECOND :
	    STRIPE_SECOND;
	unsigned int i, number;

	for (i = 0; i < n; i++) {
		number = (s->conf.number + i) % n + (s->is_old ? STRIPE_SECOND :
		    0);
		if (s->beside[number].is == ABSENT) {
			s->number = number;
			return 0;
		}
	}
	return -1;
}

/* One more channel is there: where may its data go? */
static int
convert(struct stripe *s, struct stripe_action *a)
{
	if (s->never || s->converting || s->place != NAMED ||
	    (!s->growth.limited && s->conf.streams == 0) ||
	    (s->is_old && !s->looked) || s->nfound < STRIPE_NAMES ||
	    rest(s) < least_rest(s) || chan_in(s, UP) == -1)
		return 0;
	if ((s->has & (s->is_old ? STRIPE_HAS_COPY : STRIPE_HAS_RENAME)) == 0 ||
	    choose_name(s) == -1) {
		s->never = 1;
		return 0;
	}
	s->converting = ASKING;
	return ask(s, s->is_old ? STRIPE_OPEN_SECOND : STRIPE_HIDE, 0, a);
}

/* The second file is open. It is used if there is space for what comes. */
static int
prepare(struct stripe *s, struct stripe_action *a)
{
	switch (s->converting) {
	case MEASURING:
		if (is_over(s))
			break;
		s->converting = DECIDING;
		return ask(s, STRIPE_SPACE, 0, a);
	case DECIDING:
		if (s->controls != NULL)
			return 0;
		if (is_over(s) || !s->has_space)
			break;
		s->converting = NOT;
		s->place = SECOND;
		s->base = s->copied = s->ranges.cursor;
		return 0;
	case DROPPING:
		s->converting = NOT;
		return ask(s, STRIPE_REMOVE_SECOND, 0, a);
	default:
		return 0;
	}
	s->never = 1;
	s->converting = DROPPING;
	return ask(s, STRIPE_CLOSE_SECOND, 0, a);
}

static int
join_one(struct stripe *s, struct stripe_action *a)
{
	int i;

	if (s->place == NAMED || (i = chan_in(s, UP)) == -1)
		return 0;
	s->chan[i].state = JOINING;
	return ask(s, STRIPE_JOIN, i, a);
}

/*
 * Returns the bytes of the next COPY; 0: up to the end of the second file, of
 * which errors are told.
 */
static uint32_t
copy_len(const struct stripe *s)
{
	uint64_t frontier = ranges_frontier(&s->ranges);
	uint64_t len = frontier - s->copied;

	if (s->stage == COPYING && frontier == s->highest &&
	    len <= COPY_UNIT)
		return 0;
	return min_u64(len, COPY_UNIT);
}

static int
copy_some(struct stripe *s, uint64_t least, struct stripe_action *a)
{
	uint64_t frontier = ranges_frontier(&s->ranges);
	struct control *c;

	for (c = s->controls; c != NULL && c->a.op != STRIPE_COPY; c = c->next)
		;
	if (s->place != SECOND || s->copy_failed || c != NULL ||
	    frontier < s->base || frontier - s->copied < least)
		return 0;
	if (ask(s, STRIPE_COPY, 0, a) == -1)
		return -1;
	s->controls->a.off = s->copied;
	s->controls->a.at = s->copied - s->base;
	s->controls->a.len = copy_len(s);
	*a = s->controls->a;
	return 1;
}

/* Stages */

static int
open_file(struct stripe *s, struct stripe_action *a)
{
	if (s->controls != NULL)
		return 0;
	return ask(s, s->is_old ? STRIPE_OPEN_OLD : STRIPE_OPEN_NEW, 0, a);
}

static void
begin_stage(struct stripe *s, enum stage stage)
{
	s->stage = stage;
	s->step = 0;
}

static int
move(struct stripe *s, unsigned int ready, struct stripe_action *a)
{
	int r;

	if ((r = prepare(s, a)) != 0)
		return r;
	if (is_over(s)) {
		if (s->ranges.naway == 0 && s->controls == NULL)
			begin_stage(s, LEAVING);
		return 0;
	}
	if (s->is_old && s->step == 0) {
		s->step = 1;
		return ask(s, STRIPE_LOOK, 0, a);
	}
	if ((r = find_names(s, a)) != 0 || (r = sweep(s, a)) != 0 ||
	    (r = connect_one(s, a)) != 0 || (r = convert(s, a)) != 0 ||
	    (r = join_one(s, a)) != 0 ||
	    (r = copy_some(s, COPY_UNIT, a)) != 0)
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
		begin_stage(s, s->place == SECOND ? COPYING : CUTTING);
	return 0;
}

/* The second file could not be written: the file goes on as it began. */
static void
revert(struct stripe *s)
{
	s->acked = kept(s);
	ranges_clear(&s->ranges);
	ranges_begin(&s->ranges, s->acked);
	s->place = NAMED;
	s->never = 1;
	s->revert = s->eof = 0;
	begin_stage(s, MOVING);
	s->step = 1;
}

/* Before a hole the last chunk is left out: its errors would not be told. */
static int
copy_rest(struct stripe *s, struct stripe_action *a)
{
	int r;

	if (s->step == 0) {
		if ((r = copy_some(s, ranges_frontier(&s->ranges) ==
		    s->highest ? 1 : COPY_CHUNK + 1, a)) != 0)
			return r;
		if (s->controls != NULL)
			return 0;
	}
	switch (s->step++) {
	case 0:
		return ask(s, STRIPE_CLOSE_SECOND, 0, a);
	case 1:
		return ask(s, STRIPE_REMOVE_SECOND, 0, a);
	default:
		if (s->controls != NULL)
			return 0;
		if (s->revert && !s->failed && !s->stopped)
			revert(s);
		else
			begin_stage(s, CUTTING);
		return 0;
	}
}

/*
 * Only a file that is known to be cut gets its name back. One that has lost its
 * hidden name belongs to another copy, and is left as it is. An old file into
 * which nothing was written stays as well.
 */
static int
cut(struct stripe *s, struct stripe_action *a)
{
	int has_hole = s->failed || kept(s) < s->highest;
	int is_touched = !s->stopped || s->highest > 0;
	int is_hidden = s->place == HIDDEN;

	if (!has_hole && (!s->conf.in_place || !is_touched || is_hidden)) {
		begin_stage(s, ENDING);
		return 0;
	}
	if (s->step == 0 && is_hidden) {
		s->step = 1;
		return ask(s, STRIPE_OWN, 0, a);
	}
	if (is_hidden && s->controls != NULL)
		return 0;
	if (s->step < 2 && !s->is_lost) {
		s->step = 2;
		return ask(s, STRIPE_TRUNCATE, 0, a);
	}
	begin_stage(s, ENDING);
	return 0;
}

static int
end(struct stripe *s, struct stripe_action *a)
{
	for (;;) {
		switch (s->step++) {
		case 0:
			if (s->conf.preserve && !s->is_lost)
				return ask(s, STRIPE_ATTRS, 0, a);
			break;
		case 1:
			if (s->place == HIDDEN && !s->cut_failed)
				return ask(s, STRIPE_SHOW, 0, a);
			break;
		case 2:
			return ask(s, STRIPE_CLOSE, 0, a);
		default:
			if (s->controls == NULL)
				begin_stage(s, SWEEPING);
			return 0;
		}
	}
}

/* What was left over is not needed: the file is whole. */
static int
sweep_last(struct stripe *s, struct stripe_action *a)
{
	unsigned int i;
	int r;

	if (!s->stopped && !s->failed && !s->cut_failed) {
		if ((r = sweep(s, a)) != 0)
			return r;
		for (i = 0; i < STRIPE_NAMES; i++) {
			if (s->beside[i].is >= WATCHED)
				return 0;
		}
	}
	if (s->controls == NULL)
		begin_stage(s, DONE);
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
	case COPYING:
		return copy_rest(s, a);
	case CUTTING:
		return cut(s, a);
	case ENDING:
		return end(s, a);
	case SWEEPING:
		return sweep_last(s, a);
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

static void
note_name(struct stripe *s, unsigned int number, enum is is)
{
	s->beside[number].is = is;
	if (++s->nfound == STRIPE_NAMES)
		s->found_at = s->now;
}

/* Returns 1 if the error is to be told. */
static int
fail(struct stripe *s, const struct control *r)
{
	switch (r->a.op) {
	case STRIPE_OPEN_NEW:
		s->is_old = 1;
		return 0;
	case STRIPE_OPEN_OLD:
		begin_stage(s, DONE);
		break;
	case STRIPE_LOOK:
	case STRIPE_HIDE:
	case STRIPE_OPEN_SECOND:
		s->never = 1;
		s->converting = NOT;
		return 0;
	case STRIPE_SPACE:
		return 0;		/* stripe_space() was not called */
	case STRIPE_FIND:
		note_name(s, r->a.number, ABSENT);
		return 0;
	case STRIPE_SWEEP:
		return 0;
	case STRIPE_OWN:
		s->cut_failed = s->is_lost = 1;
		s->is_hidden = 0;
		return 1;
	case STRIPE_JOIN:
		s->chan[r->a.chan].state = LEFT;
		return 0;
	case STRIPE_CLOSE_SECOND:
		return 0;
	case STRIPE_COPY:
		/* The second file took the space: the file goes on alone. */
		s->copy_failed = s->revert = 1;
		return 0;
	case STRIPE_TRUNCATE:
		/* Of a device, for instance, which had no need of it */
		s->cut_failed = s->failed || kept(s) < s->highest;
		return 1;
	case STRIPE_ATTRS:
	case STRIPE_REMOVE_SECOND:
		return 1;
	default:
		break;
	}
	s->failed = 1;
	return 1;
}

static void
succeed(struct stripe *s, const struct control *r)
{
	switch (r->a.op) {
	case STRIPE_OPEN_NEW:
	case STRIPE_OPEN_OLD:
		s->is_opened = 1;
		begin_stage(s, MOVING);
		break;
	case STRIPE_FIND:
		note_name(s, r->a.number, s->beside[r->a.number].found);
		break;
	case STRIPE_OPEN_SECOND:
		s->converting = MEASURING;
		s->has_second = 1;
		break;
	case STRIPE_REMOVE_SECOND:
		s->has_second = 0;
		break;
	case STRIPE_HIDE:
		s->converting = NOT;
		s->place = HIDDEN;
		s->is_hidden = 1;
		break;
	case STRIPE_JOIN:
		s->chan[r->a.chan].state = READY;
		break;
	case STRIPE_COPY:
		s->copied = r->a.len == 0 ? ranges_frontier(&s->ranges) :
		    r->a.off + r->a.len - COPY_CHUNK;
		break;
	case STRIPE_SHOW:
		s->is_hidden = 0;
		break;
	default:
		break;
	}
}

static int
reply_data(struct stripe *s, struct range *r, int ok)
{
	int second = is_second(s, r);

	s->chan[r->link].away -= r->len;
	if (ok) {
		s->acked += r->len;
		ranges_done(&s->ranges, r, r->len);
		return 0;
	}
	ranges_miss(&s->ranges, r);
	if (second)
		s->revert = 1;
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
	drop(at);
	if (!ok)
		return fail(s, &c);
	succeed(s, &c);
	return 0;
}

void
stripe_looked(struct stripe *s, int is_regular, uint64_t size)
{
	s->looked = 1;
	s->old_size = size;
	if (!is_regular)
		s->never = 1;
}

void
stripe_found(struct stripe *s, unsigned int number, int is_regular,
    uint64_t size, uint64_t mtime)
{
	struct beside *b = &s->beside[number];

	b->found = !is_regular ? PRESENT : b->is != AGAIN ? WATCHED :
	    b->size == size && b->mtime == mtime ? DEAD : PRESENT;
	b->size = size;
	b->mtime = mtime;
}

/* The rest goes into the second file, and what is new of it into the file. */
void
stripe_space(struct stripe *s, uint64_t available)
{
	uint64_t need = rest(s);

	if (s->conf.size > s->old_size)
		need += s->conf.size - s->old_size;
	s->has_space = available >= need;
}

void
stripe_up(struct stripe *s, unsigned int chan, int has)
{
	s->chan[chan].state = UP;
	s->has = has;
}

/* What the channel had is dealt again. */
static void
loosen(struct stripe *s, unsigned int chan)
{
	struct control **at;

	ranges_loosen(&s->ranges, chan);
	for (at = &s->controls; *at != NULL;) {
		if ((*at)->a.chan == chan)
			drop(at);
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
	return kept(s);
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

enum stripe_left
stripe_left(const struct stripe *s)
{
	if (s->is_hidden)
		return STRIPE_LEFT_HIDDEN;
	if (s->has_second)
		return STRIPE_LEFT_SECOND;
	return s->converting == ASKING && !s->is_old ? STRIPE_LEFT_PERHAPS :
	    STRIPE_LEFT_NOTHING;
}

int
stripe_has_failed(const struct stripe *s)
{
	return s->failed || s->cut_failed;
}
