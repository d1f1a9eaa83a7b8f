/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See landing.h for the idea. */

#include <stdlib.h>
#include <string.h>

#include "landing.h"
#include "left.h"
#include "minmax.h"
#include "ranges.h"

/*
 * A piece that waits is joined with the next one up to this size, in bytes. A
 * server that sends the shortest of replies leaves one piece for each range.
 */
#define PIECE	(64 * 1024)

int
landing_data(struct ranges *rs, struct range *r, const unsigned char *data,
    uint32_t len)
{
	unsigned char *copy = NULL;
	int is_next = r == rs->first;

	if (r->off >= rs->end) {
		rs->high = max_u64(rs->high, r->off + len);
		ranges_miss(rs, r);
		return 0;
	}
	if (!is_next && r->prev->state == RANGE_KEPT &&
	    r->prev->off + r->prev->len == r->off && r->prev->len < PIECE)
		return ranges_join(rs, r, data, len);
	if (!is_next) {
		if ((copy = malloc(len)) == NULL)
			return -1;
		memcpy(copy, data, len);
	}
	if (ranges_keep(rs, r, copy, len) == 0)
		return is_next;
	free(copy);
	return -1;
}

struct range *
landing_next(const struct ranges *rs)
{
	struct range *r = rs->first;

	return r != NULL && r->state == RANGE_KEPT ? r : NULL;
}

void
landing_written(struct ranges *rs, int ok)
{
	if (ok)
		ranges_done(rs, rs->first, rs->first->len);
	else
		ranges_end(rs, rs->first->off);
}

/* A file that is put */

/* The server copies so many bytes at once, a few hundredths of a second. */
#define COPY_UNIT	(32 * 1024 * 1024)

/*
 * sftp-server tells no error of the last chunk of a copy-data request that has
 * a length (upstream's process_extended_copy_data()).
 */
#define COPY_CHUNK	(64 * 1024)

/* Where data goes */
enum place { NAMED, HIDDEN, SECOND };

/* How far the end is */
enum stage { COPYING, CUTTING, ENDING, PROVING, SWEEPING, ENDED };

/* What was seen under a name */
enum seen { UNSEEN, ABSENT, OTHER, SAME };

struct landing {
	struct landing_conf conf;
	struct left left;		/* what is under hidden names */
	int	 has_looked;		/* at all of them */
	int	 cleans, is_clean;	/* nothing of others is left over */
	unsigned int number;		/* of our hidden name */
	unsigned int questions;		/* before it is open */
	int	 is_there, is_safe;	/* the file, the directory, then */
	enum landing_way way;
	enum place place;
	int	 is_old, is_special, looks, looked;
	int	 never;			/* more than one link */
	unsigned int marks;		/* requests that tell the hidden file */
	int	 is_known;		/* it has the time */
	int	 has_space;
	enum { NOT, ASKING, MEASURING, DECIDING, DROPPING } converting;
	int	 is_copying;
	enum stage stage;
	unsigned int step;		/* of the stage */
	int	 revert, failed, cut_failed, copy_failed, uncut, again;
	int	 is_lost;		/* the hidden name */
	int	 is_hidden, has_second;
	int	 shows, is_shown;	/* it gets its name, has it */
	enum seen own, shown;		/* under both */
	unsigned int looks_shown;
	uint64_t old_size;
	uint64_t base, copied;		/* of the second file */
};

struct landing *
landing_new(const struct landing_conf *conf)
{
	struct landing *l = calloc(1, sizeof(*l));

	if (l == NULL)
		return NULL;
	l->conf = *conf;
	left_begin(&l->left);
	if (conf->only_sweeps) {
		l->way = LANDING_IS_OLD;
		l->never = 1;
		l->is_old = 1;		/* It may be. */
		l->stage = SWEEPING;
	}
	return l;
}

void
landing_free(struct landing *l)
{
	free(l);
}

uint64_t
landing_kept(const struct landing *l, uint64_t frontier)
{
	return l->place == SECOND && frontier >= l->base ? l->copied :
	    frontier;
}

int
landing_place(const struct landing *l, uint64_t off, uint64_t *at)
{
	int second = l->place == SECOND && off >= l->base;

	*at = off - (second ? l->base : 0);
	return second;
}

void
landing_lost_second(struct landing *l)
{
	l->revert = 1;
}

static int
ask(const struct landing *l, enum landing_op op, const struct landing_now *now,
    struct landing_ask *a)
{
	*a = (struct landing_ask){ .op = op, .number = l->number,
	    .off = landing_kept(l, now->frontier) };
	return 1;
}

/* Hidden names */

/* Looks at all names, and later removes what nobody has written to. */
static int
look_beside(struct landing *l, const struct landing_now *now,
    struct landing_ask *a)
{
	struct left_action next;

	left_next(&l->left, now->us, &next);
	l->has_looked |= next.op == LEFT_END;
	if (next.op == LEFT_END && l->left.has_owner && !l->cleans) {
		l->cleans = 1;
		left_clean(&l->left);
		left_next(&l->left, now->us, &next);
	}
	l->is_clean = next.op == LEFT_END;
	*a = (struct landing_ask){ .op = next.op == LEFT_FIND ? LANDING_FIND :
	    LANDING_SWEEP, .number = next.number };
	return next.op == LEFT_FIND || next.op == LEFT_SWEEP;
}

/* Returns 0, or -1 if no name is free. */
static int
choose_name(struct landing *l, int is_second)
{
	const unsigned int first = is_second ? LEFT_SECOND : 0;
	const unsigned int n = is_second ?
	    LEFT_NAMES - LEFT_SECOND : LEFT_SECOND;
	unsigned int i, number;

	for (i = 0; i < n; i++) {
		number = first + (l->conf.number + i) % n;
		if (left_is_free(&l->left, number)) {
			l->number = number;
			return 0;
		}
	}
	return -1;
}

/* Before it is open */

int
landing_begin(struct landing *l, const struct landing_now *now,
    struct landing_ask *a)
{
	if (l->way != LANDING_WAITS || now->stopped)
		return 0;
	if (l->questions < 2)
		return ask(l, l->questions++ == 0 ? LANDING_TARGET :
		    LANDING_DIR, now, a);
	return look_beside(l, now, a);
}

enum landing_way
landing_opens(struct landing *l, const struct landing_now *now)
{
	if (now->controls > 0 || (!l->has_looked && !now->stopped))
		return LANDING_WAITS;
	l->never |= !l->is_safe;
	l->way = l->is_there ? LANDING_IS_OLD : now->is_wanted && !l->never &&
	    !l->conf.is_locked && choose_name(l, 0) == 0 ?
	    LANDING_IS_HIDDEN : LANDING_IS_NEW;
	l->is_old = l->is_there;
	return l->way;
}

int
landing_open(struct landing *l, int ok)
{
	enum landing_way was = l->way;

	if (ok) {
		l->is_hidden = was == LANDING_IS_HIDDEN;
		l->place = l->is_hidden ? HIDDEN : NAMED;
		return 0;
	}
	l->way = was == LANDING_IS_HIDDEN ? LANDING_IS_NEW : LANDING_IS_OLD;
	l->is_old = l->way == LANDING_IS_OLD;
	return l->way != was;
}

enum landing_way
landing_way(const struct landing *l, unsigned int *number)
{
	*number = l->number;
	return l->way;
}

/* While it moves */

/* The hidden file is marked; when it has data, it tells the server's clock. */
static int
know(struct landing *l, const struct landing_now *now, struct landing_ask *a)
{
	if (l->place != HIDDEN || l->marks > 2 ||
	    (l->marks == 2 && now->frontier == 0))
		return 0;
	return ask(l, l->marks++ == 0 ? LANDING_MARK : LANDING_KNOW, now, a);
}

/* One more link is there: may its data go into a second file? */
static int
convert(struct landing *l, const struct landing_now *now,
    struct landing_ask *a)
{
	if (l->never || l->converting || l->place != NAMED ||
	    !now->may_widen || !l->looked)
		return 0;
	if ((now->told & LANDING_HAS_COPY) == 0 || choose_name(l, 1) == -1) {
		l->never = 1;
		return 0;
	}
	l->converting = ASKING;
	return ask(l, LANDING_OPEN_SECOND, now, a);
}

/* The second file is open. It is used if there is space for what comes. */
static int
prepare(struct landing *l, const struct landing_now *now,
    struct landing_ask *a)
{
	switch (l->converting) {
	case MEASURING:
		if (now->is_over)
			break;
		if (l->marks++ < 2)
			return ask(l, l->marks == 1 ? LANDING_MARK :
			    LANDING_KNOW, now, a);
		l->converting = DECIDING;
		return ask(l, LANDING_SPACE, now, a);
	case DECIDING:
		if (now->controls > 0)
			return 0;
		if (now->is_over || !l->has_space || !l->is_known)
			break;
		l->converting = NOT;
		l->place = SECOND;
		l->base = l->copied = now->cursor;
		return 0;
	case DROPPING:
		l->converting = NOT;
		return ask(l, LANDING_REMOVE_SECOND, now, a);
	default:
		return 0;
	}
	l->never = 1;
	l->converting = DROPPING;
	return ask(l, LANDING_CLOSE_SECOND, now, a);
}

/*
 * Copies what is complete, if it is "least" bytes. At the end a length of 0
 * stands for all of the second file, and errors of that are told.
 */
static int
copy_some(struct landing *l, uint64_t least, int is_end,
    const struct landing_now *now, struct landing_ask *a)
{
	uint64_t len = now->frontier - l->copied;

	if (l->place != SECOND || l->copy_failed || l->is_copying ||
	    now->frontier < l->base || len < least)
		return 0;
	l->is_copying = 1;
	ask(l, LANDING_COPY, now, a);
	a->off = l->copied;
	a->at = l->copied - l->base;
	if (!is_end || now->frontier != now->sent || len > COPY_UNIT)
		a->len = (uint32_t)min_u64(len, COPY_UNIT);
	return 1;
}

int
landing_move(struct landing *l, const struct landing_now *now,
    struct landing_ask *a)
{
	if (prepare(l, now, a) == 1)
		return 1;
	if (now->is_over)
		return 0;
	if (l->conf.only_sweeps && l->questions == 0) {
		l->questions = 1;
		return ask(l, LANDING_DIR, now, a);
	}
	if (l->place == NAMED && !l->looks) {
		l->looks = 1;
		return ask(l, LANDING_LOOK, now, a);
	}
	return look_beside(l, now, a) || know(l, now, a) ||
	    convert(l, now, a) || copy_some(l, COPY_UNIT, 0, now, a);
}

/* The end */

static void
begin_stage(struct landing *l, enum stage stage)
{
	l->stage = stage;
	l->step = 0;
}

/* Before a hole the last chunk is left out: its errors would not be told. */
static int
copy_rest(struct landing *l, const struct landing_now *now,
    struct landing_ask *a)
{
	if (l->place != SECOND) {
		begin_stage(l, CUTTING);
		return 0;
	}
	if (l->step == 0 && copy_some(l, now->frontier == now->sent ? 1 :
	    COPY_CHUNK + 1, 1, now, a) == 1)
		return 1;
	if (l->step == 0 && now->controls > 0)
		return 0;
	switch (l->step++) {
	case 0:
		return ask(l, LANDING_CLOSE_SECOND, now, a);
	case 1:
		return ask(l, LANDING_REMOVE_SECOND, now, a);
	default:
		if (now->controls == 0 && (!l->revert || l->failed ||
		    now->failed || now->stopped))
			begin_stage(l, CUTTING);
		return 0;
	}
}

/* The second file could not be written: the file goes on as it began. */
int
landing_reverts(struct landing *l, const struct landing_now *now)
{
	if (l->stage != COPYING || l->step <= 2 || now->controls > 0)
		return 0;
	l->place = NAMED;
	l->never = l->looks = 1;
	l->revert = 0;
	begin_stage(l, COPYING);
	return 1;
}

/*
 * Only a file that is known to be cut gets its name. One that has lost its
 * hidden name belongs to another copy, and is left as it is. An old file into
 * which nothing was written stays as well.
 */
static int
cut(struct landing *l, const struct landing_now *now, struct landing_ask *a)
{
	int has_hole = l->failed || now->failed ||
	    landing_kept(l, now->frontier) < now->sent;
	int is_touched = !now->stopped || now->sent > 0;
	int is_hidden = l->place == HIDDEN;

	if ((!has_hole && (!l->conf.in_place || !is_touched || is_hidden)) ||
	    (now->again && is_hidden)) {
		begin_stage(l, ENDING);
		return 0;
	}
	if (l->step < 2 && is_hidden)
		return ask(l, l->step++ == 0 ? LANDING_KNOW : LANDING_OWN,
		    now, a);
	if (is_hidden && now->controls > 0)
		return 0;
	if (l->step < 3 && !l->is_lost) {
		l->step = 3;
		return ask(l, LANDING_TRUNCATE, now, a);
	}
	begin_stage(l, ENDING);
	return 0;
}

/*
 * Nothing is written any more, so what is asked about the names need not wait.
 */
static int
end(struct landing *l, const struct landing_now *now, struct landing_ask *a)
{
	int is_ours = l->place == HIDDEN && !l->is_lost;

	for (;;) {
		switch (l->step++) {
		case 0:
			if (!is_ours)
				break;
			l->own = UNSEEN;
			return ask(l, LANDING_KNOW, now, a);
		case 1:
			if (is_ours)
				return ask(l, LANDING_OWN, now, a);
			break;
		case 2:
			l->shows = is_ours && !l->cut_failed && !now->again;
			if (l->shows)
				return ask(l, LANDING_SHOW, now, a);
			break;
		case 3:
			if (l->shows)
				return ask(l, LANDING_SHOWN, now, a);
			break;
		case 4:
			if ((l->conf.preserve || l->place == HIDDEN) &&
			    !l->is_lost)
				return ask(l, LANDING_ATTRS, now, a);
			break;
		case 5:
			return ask(l, LANDING_CLOSE, now, a);
		default:
			if (now->controls == 0)
				begin_stage(l, PROVING);
			return 0;
		}
	}
}

/*
 * What has the name is looked at twice if nothing was there after the rename: a
 * server may not keep the order. What has not got its name, and is known to be
 * ours, is removed.
 */
static int
prove(struct landing *l, const struct landing_now *now, struct landing_ask *a)
{
	int is_free = l->shows && l->shown == ABSENT;

	if (now->controls > 0)
		return 0;
	if (l->is_shown && is_free && l->looks_shown == 1)
		return ask(l, LANDING_SHOWN, now, a);
	if (l->is_hidden && l->own == SAME && !l->cut_failed && l->step == 0) {
		l->step = 1;
		return ask(l, LANDING_DROP, now, a);
	}
	if (l->is_shown)
		l->failed |= l->shown != SAME;
	else if (l->shows) {
		l->again = is_free && l->own == SAME && !now->stopped;
		l->failed |= !l->again;
	} else
		l->failed |= l->is_lost;
	begin_stage(l, SWEEPING);
	return 0;
}

/* What was left over is not needed: the file is whole. */
static int
sweep_last(struct landing *l, const struct landing_now *now,
    struct landing_ask *a)
{
	if (!now->stopped && !now->failed && !landing_has_failed(l) &&
	    !now->again && !l->again && l->left.has_owner) {
		if (look_beside(l, now, a) == 1)
			return 1;
		if (!l->is_clean)
			return 0;
	}
	if (now->controls == 0)
		begin_stage(l, ENDED);
	return 0;
}

int
landing_end(struct landing *l, const struct landing_now *now,
    struct landing_ask *a)
{
	enum stage was;
	int r;

	do {
		was = l->stage;
		r = was == COPYING ? copy_rest(l, now, a) : was == CUTTING ?
		    cut(l, now, a) : was == ENDING ? end(l, now, a) :
		    was == PROVING ? prove(l, now, a) :
		    was == SWEEPING ? sweep_last(l, now, a) : 0;
	} while (r == 0 && l->stage != was);
	return r;
}

int
landing_has_ended(const struct landing *l)
{
	return l->stage == ENDED;
}

/* Replies */

/* Old bytes may be behind the new ones, but not in a device. */
static int
has_tail(const struct landing *l, const struct landing_now *now)
{
	return l->is_old && !l->is_special && (!l->looked ||
	    l->old_size > landing_kept(l, now->frontier));
}

/* Returns 1 if the error is to be told. */
static int
fail(struct landing *l, const struct landing_ask *a,
    const struct landing_now *now)
{
	static const struct left_file none = { .is = LEFT_ABSENT };

	switch (a->op) {
	case LANDING_LOOK:
	case LANDING_OPEN_SECOND:
		l->never = 1;
		l->converting = NOT;
		return 0;
	case LANDING_FIND:
		left_found(&l->left, a->number, &none);
		return 0;
	case LANDING_KNOW:
		l->is_known = 0;
		return 0;
	case LANDING_TARGET:		/* What they tell was not told. */
	case LANDING_DIR:
	case LANDING_MARK:
	case LANDING_SPACE:
	case LANDING_SWEEP:
	case LANDING_CLOSE_SECOND:
		return 0;
	case LANDING_OWN:
		l->own = ABSENT;
		l->is_lost = 1;
		l->cut_failed |= l->stage == CUTTING;
		return 1;
	case LANDING_SHOWN:
		l->shown = ABSENT;
		return ++l->looks_shown > 1;
	case LANDING_COPY:
		/* The second file took the space: the file goes on alone. */
		l->copy_failed = l->revert = 1;
		return 0;
	case LANDING_TRUNCATE:
		l->cut_failed = l->failed || now->failed ||
		    landing_kept(l, now->frontier) < now->sent;
		l->uncut = !l->cut_failed && has_tail(l, now);
		return 1;
	case LANDING_SHOW:
	case LANDING_ATTRS:
	case LANDING_DROP:
	case LANDING_REMOVE_SECOND:
		return 1;
	default:
		l->failed = 1;
		return 1;
	}
}

static void
succeed(struct landing *l, const struct landing_ask *a,
    const struct landing_now *now)
{
	switch (a->op) {
	case LANDING_TARGET:
		l->is_there = 1;
		break;
	case LANDING_OPEN_SECOND:
		l->converting = MEASURING;
		l->has_second = 1;
		break;
	case LANDING_REMOVE_SECOND:
		l->has_second = 0;
		break;
	case LANDING_COPY:
		l->copied = a->len == 0 ? now->frontier :
		    a->off + a->len - COPY_CHUNK;
		break;
	case LANDING_SHOW:
		l->is_shown = 1;
		l->is_hidden = 0;
		break;
	case LANDING_DROP:
		l->is_hidden = 0;
		break;
	default:
		break;
	}
}

int
landing_reply(struct landing *l, const struct landing_ask *a, int ok,
    const struct landing_now *now)
{
	l->is_copying &= a->op != LANDING_COPY;
	if (!ok)
		return fail(l, a, now);
	succeed(l, a, now);
	return 0;
}

void
landing_dir(struct landing *l, int is_safe)
{
	l->is_safe = is_safe;
}

void
landing_found(struct landing *l, unsigned int number,
    const struct left_file *f)
{
	left_found(&l->left, number, f);
}

void
landing_looked(struct landing *l, int is_regular, uint64_t size)
{
	l->looked = 1;
	l->old_size = size;
	l->is_special = !is_regular;
	l->never |= !is_regular;
}

void
landing_known(struct landing *l, int is_marked)
{
	l->is_known = is_marked;
}

void
landing_owner(struct landing *l, uint32_t owner)
{
	if (!l->is_old || l->has_second || l->is_safe)
		left_set_owner(&l->left, owner);
}

void
landing_saw(struct landing *l, enum landing_op op, int is_same)
{
	if (op == LANDING_SHOWN)
		l->shown = is_same ? SAME : OTHER;
	else {
		l->own = is_same ? SAME : OTHER;
		l->is_lost |= !is_same;
		l->is_hidden &= is_same;
		l->cut_failed |= !is_same && l->stage == CUTTING;
	}
}

/* The rest goes into the second file, and what is new of it into the file. */
void
landing_space(struct landing *l, uint64_t available, uint64_t rest)
{
	l->has_space = available >= rest + l->conf.size -
	    min_u64(l->conf.size, l->old_size);
}

/* What is asked about it */

int
landing_is_wide(const struct landing *l)
{
	return l->place != NAMED && l->is_known;
}

int
landing_has_second(const struct landing *l)
{
	return l->has_second;
}

int
landing_is_reverting(const struct landing *l)
{
	return l->revert;
}

int
landing_has_failed(const struct landing *l)
{
	return l->failed || l->cut_failed;
}

int
landing_goes_again(const struct landing *l)
{
	return l->again;
}

int
landing_is_uncut(const struct landing *l)
{
	return l->uncut;
}

int
landing_is_shown(const struct landing *l)
{
	return l->is_shown;
}

int
landing_is_unshown(const struct landing *l)
{
	return l->place == HIDDEN && !l->is_shown;
}

enum landing_left
landing_left(const struct landing *l)
{
	if (l->is_hidden)
		return l->own == ABSENT ? LANDING_LEFT_PERHAPS :
		    LANDING_LEFT_HIDDEN;
	if (l->has_second)
		return LANDING_LEFT_SECOND;
	return l->way == LANDING_IS_HIDDEN && l->place == NAMED ?
	    LANDING_LEFT_PERHAPS : LANDING_LEFT_NOTHING;
}
