/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See judge.h. */

#include <string.h>

#include "judge.h"

/* A source that was written so many seconds ago, or later, is still new. */
#define RECENT_S	2

void
judge_begin(struct judge *x, const struct judge_conf *conf,
    const struct judge_end *source, int is_old, int has_hashes)
{
	memset(x, 0, sizeof(*x));
	x->conf = *conf;
	x->has_hashes = has_hashes;
	if (source != NULL)
		x->source = *source;
	x->knows_source = source != NULL;
	x->is_old = is_old;
}

/*
 * Returns 1 if an earlier copy has set the time of the target. Such a time is
 * of whole seconds, unlike that of a write; and in the second in which the
 * source was written, the target may have been written as well.
 */
static int
has_set_time(const struct judge *x)
{
	return x->conf.preserve && !x->conf.checksum &&
	    x->source.has_time && x->target.has_time &&
	    x->source.mtime == x->target.mtime && x->target.nsec == 0 &&
	    x->source.mtime + RECENT_S < x->conf.now;
}

static int
has_changed(const struct judge_end *before, const struct judge_end *now)
{
	return !now->is_there || now->size != before->size ||
	    (now->has_time && now->mtime != before->mtime) ||
	    now->nsec != before->nsec;
}

static void
compare(struct judge *x, enum judge_state state, int same_time)
{
	struct verify_conf conf = { .source = x->source.size,
	    .target = x->target.size, .same_time = same_time,
	    .hashes = x->has_hashes };

	x->state = state;
	x->how = same_time && !x->has_hashes &&
	    x->source.size == x->target.size ? JUDGE_TIME : JUDGE_NOTHING;
	verify_begin(&x->verify, &conf);
}

/* So much is known to be equal: all of the source if "is_done". */
static void
copy_from(struct judge *x, uint64_t off, int is_done)
{
	x->state = COPYING;
	x->off = x->verified = off;
	x->is_complete = is_done;
}

/* Both ends are known. */
static void
looked(struct judge *x)
{
	if (!x->conf.resume || !x->source.is_there || !x->target.is_there)
		copy_from(x, 0, 0);
	else if (x->source.size < x->target.size && !x->conf.cuts)
		x->state = REFUSING;
	else
		compare(x, COMPARING, has_set_time(x));
}

/* Sets the end that has to be looked at first, or goes on. */
static void
look(struct judge *x, struct judge_action *a)
{
	if (!x->knows_source)
		a->op = JUDGE_SOURCE;
	else if (x->conf.resume && x->source.is_there && !x->knows_target)
		a->op = JUDGE_TARGET;
	else if (x->is_old && x->target.is_there && (x->has_hashes ||
	    !has_set_time(x) || x->target.size != x->source.size))
		a->op = JUDGE_SOURCE;
	else
		looked(x);
}

/* The comparison has come to "off": all of the source, if "is_done". */
static void
compared(struct judge *x, uint64_t off, int is_done)
{
	int first = x->state == COMPARING;

	if (x->state == COMPARING_ALL) {
		x->verified = is_done ? x->source.size : 0;
		x->state = is_done ? ENDING : DIFFERING;
	} else if (off == x->target.size) {
		copy_from(x, off, is_done);
		if (is_done && !x->conf.put && x->how != JUDGE_TIME)
			x->state = PASSING;
	} else if (first && off > 0) {
		x->state = CUTTING;
		x->off = off;
		x->is_complete = is_done;
	} else
		copy_from(x, 0, 0);
}

/* Sets the next question of a comparison, or goes on. */
static void
ask(struct judge *x, struct judge_action *a)
{
	struct verify_action v;

	verify_next(&x->verify, &v);
	a->off = v.off;
	a->len = v.len;
	if (v.op == VERIFY_HASH)
		a->op = JUDGE_HASH;
	else if (v.op == VERIFY_READ)
		a->op = JUDGE_BACK;
	else
		compared(x, v.off, v.op == VERIFY_DONE);
}

/* Answers, and what is asked only once */
static void
answer(const struct judge *x, struct judge_action *a)
{
	a->off = x->off;
	switch (x->state) {
	case CUTTING:
		a->op = x->knows_target ? JUDGE_CUT : JUDGE_TARGET;
		break;
	case TAKING:
		a->op = JUDGE_TARGET;
		break;
	case PASSING:
		a->op = JUDGE_MORE;
		break;
	case COPYING:
		a->op = x->is_complete ? JUDGE_COMPLETE : JUDGE_COPY;
		break;
	case LOOKING_AGAIN:
		a->op = x->knows_source ? JUDGE_TARGET : JUDGE_SOURCE;
		break;
	case TELLING:
		a->op = JUDGE_CHANGED;
		break;
	case DIFFERING:
		a->op = JUDGE_DIFFERS;
		break;
	case REFUSING:
		a->op = JUDGE_LONGER;
		break;
	default:
		a->op = JUDGE_END;
	}
}

void
judge_next(struct judge *x, struct judge_action *a)
{
	memset(a, 0, sizeof(*a));
	while (a->op == 0) {
		if (x->state == LOOKING)
			look(x, a);
		else if (x->state == COMPARING ||
		    x->state == COMPARING_AGAIN || x->state == COMPARING_ALL)
			ask(x, a);
		else
			answer(x, a);
	}
}

/* A cut target has this size? What is local does what it is told. */
static void
looked_at_cut(struct judge *x)
{
	if (!x->target.is_there || x->target.size != x->off)
		copy_from(x, 0, 0);
	else if (x->conf.put)
		compare(x, COMPARING_AGAIN, 0);
	else
		copy_from(x, x->off, x->is_complete);
}

static void
looked_at_source_again(struct judge *x, const struct judge_end *now)
{
	x->knows_source = 1;
	if (has_changed(&x->source, now))
		x->state = TELLING;
	else
		judge_said(x);
}

static void
looked_at_target_again(struct judge *x)
{
	if (x->source.is_there && x->target.is_there &&
	    x->source.size == x->target.size)
		compare(x, COMPARING_ALL, 0);
	else {
		x->verified = 0;
		x->state = DIFFERING;
	}
}

void
judge_looked(struct judge *x, int is_source, const struct judge_end *end)
{
	if (is_source && x->state == LOOKING_AGAIN)
		looked_at_source_again(x, end);
	else if (is_source)
		x->knows_source = 1;
	else
		x->knows_target = 1;
	*(is_source ? &x->source : &x->target) = *end;
	x->is_old &= !is_source;
	if (!is_source && x->state == TAKING && end->size == x->off)
		copy_from(x, x->off, x->is_complete);
	else if (!is_source && x->state == TAKING)
		looked(x);
	else if (!is_source && x->state == CUTTING)
		looked_at_cut(x);
	else if (!is_source && x->state == LOOKING_AGAIN)
		looked_at_target_again(x);
}

void
judge_hashed(struct judge *x, const unsigned char *ours, size_t nours,
    const unsigned char *theirs, size_t ntheirs)
{
	x->how = JUDGE_HASHES;
	verify_hashed(&x->verify, ours, nours, theirs, ntheirs);
}

void
judge_refused(struct judge *x)
{
	x->has_hashes = 0;
	verify_refused(&x->verify);
}

void
judge_compared(struct judge *x, uint64_t equal)
{
	x->how = JUDGE_BYTES;
	verify_compared(&x->verify, equal);
}

void
judge_cut(struct judge *x, int ok)
{
	x->knows_target = 0;
	if (!ok)
		copy_from(x, 0, 0);
}

void
judge_more(struct judge *x, int more)
{
	copy_from(x, x->off, !more);
}

int
judge_keep(struct judge *x)
{
	if (x->is_complete)
		return 0;
	copy_from(x, x->off, 0);
	return 1;
}

int
judge_read_on(struct judge *x)
{
	if (!x->is_complete)
		return 0;
	copy_from(x, x->off, 0);
	return 1;
}

void
judge_take(struct judge *x, const struct judge *from)
{
	x->state = TAKING;
	x->off = from->off;
	x->is_complete = from->is_complete;
	x->how = from->how;
}

/* The rest of a file has to fit what was compared. */
void
judge_opened(struct judge *x, const struct judge_end *source)
{
	if (x->off == 0)
		x->source = *source;
}

void
judge_copied(struct judge *x)
{
	x->state = x->source.is_there ? LOOKING_AGAIN : ENDING;
	x->knows_source = 0;
}

/* The source is what it was, or may have changed. */
void
judge_said(struct judge *x)
{
	x->state = x->conf.checksum && x->state != TELLING ? LOOKING_AGAIN :
	    ENDING;
}
