/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See verify-fsm.h. */

#include <string.h>

#include "verify-fsm.h"

/* A source that was written so many seconds ago, or later, is still new. */
#define RECENT_S	2

void
verify_fsm_begin(struct verify_fsm *x, const struct verify_fsm_conf *conf,
    const struct verify_end *source, int is_old, int has_hashes)
{
	memset(x, 0, sizeof(*x));
	x->conf = *conf;
	x->has_hashes = has_hashes;
	if (source != NULL)
		x->source = *source;
	x->knows_source = source != NULL;
	x->source_may_be_stale = is_old;
}

/*
 * Returns 1 if an earlier copy has set the time of the target. Such a time is
 * of whole seconds, unlike that of a write; and in the second in which the
 * source was written, the target may have been written as well.
 */
static int
mtime_set_by_copy(const struct verify_fsm *x)
{
	return x->conf.preserve && !x->conf.checksum &&
	    x->source.has_time && x->target.has_time &&
	    x->source.mtime == x->target.mtime && x->target.nsec == 0 &&
	    x->source.mtime + RECENT_S < x->conf.now;
}

static int
has_changed(const struct verify_end *before, const struct verify_end *now)
{
	return !now->is_there || now->size != before->size ||
	    (now->has_time && now->mtime != before->mtime) ||
	    now->nsec != before->nsec;
}

static void
begin_compare(struct verify_fsm *x, enum verify_fsm_state state, int same_time)
{
	struct verify_conf conf = { .source = x->source.size,
	    .target = x->target.size, .same_time = same_time,
	    .hashes = x->has_hashes };

	x->state = state;
	x->verified_by = same_time && !x->has_hashes && x->source.size ==
	    x->target.size ? VERIFIED_BY_TIME : VERIFIED_BY_NOTHING;
	verify_begin(&x->verify, &conf);
}

/* So much is known to be equal: all of the source if "is_done". */
static void
decide_copy_from(struct verify_fsm *x, uint64_t off, int is_done)
{
	x->state = FSM_COPY;
	x->off = x->verified = off;
	x->is_complete = is_done;
}

/* Both ends are known. */
static void
both_known(struct verify_fsm *x)
{
	if (!x->conf.resume || !x->source.is_there || !x->target.is_there)
		decide_copy_from(x, 0, 0);
	else if (x->source.size < x->target.size && !x->conf.truncates)
		x->state = FSM_REFUSE;
	else
		begin_compare(x, FSM_COMPARE, mtime_set_by_copy(x));
}

/* Sets the end that has to be looked at first, or goes on. */
static void
ask_stat(struct verify_fsm *x, struct verify_fsm_action *a)
{
	if (!x->knows_source)
		a->op = VERIFY_STAT_SOURCE;
	else if (x->conf.resume && x->source.is_there && !x->knows_target)
		a->op = VERIFY_STAT_TARGET;
	else if (x->source_may_be_stale && x->target.is_there &&
	    (x->has_hashes || !mtime_set_by_copy(x) || x->target.size !=
	    x->source.size))
		a->op = VERIFY_STAT_SOURCE;
	else
		both_known(x);
}

/* The comparison has arrived to "off": all of the source, if "is_done". */
static void
comparison_done(struct verify_fsm *x, uint64_t off, int is_done)
{
	int first = x->state == FSM_COMPARE;

	if (x->state == FSM_COMPARE_ALL) {
		x->verified = is_done ? x->source.size : 0;
		x->state = is_done ? FSM_ENDED : FSM_REPORT_MISMATCH;
	} else if (off == x->target.size) {
		decide_copy_from(x, off, is_done);
		if (is_done && !x->conf.put && x->verified_by !=
		    VERIFIED_BY_TIME)
			x->state = READING_PAST_END;
	} else if (first && off > 0) {
		x->state = FSM_TRUNCATE;
		x->off = off;
		x->is_complete = is_done;
	} else
		decide_copy_from(x, 0, 0);
}

/* Sets the next question of a comparison, or goes on. */
static void
ask_comparison(struct verify_fsm *x, struct verify_fsm_action *a)
{
	struct verify_action v;

	verify_next(&x->verify, &v);
	a->off = v.off;
	a->len = v.len;
	if (v.op == VERIFY_HASH)
		a->op = VERIFY_COMPARE_HASH;
	else if (v.op == VERIFY_READ)
		a->op = VERIFY_READ_BACK;
	else
		comparison_done(x, v.off, v.op == VERIFY_DONE);
}

/* Answers, and what is asked only once */
static void
set_decision(const struct verify_fsm *x, struct verify_fsm_action *a)
{
	a->off = x->off;
	switch (x->state) {
	case FSM_TRUNCATE:
		a->op = x->knows_target ? VERIFY_TRUNCATE : VERIFY_STAT_TARGET;
		break;
	case FSM_ADOPT:
		a->op = VERIFY_STAT_TARGET;
		break;
	case READING_PAST_END:
		a->op = VERIFY_READ_PAST_END;
		break;
	case FSM_COPY:
		a->op = x->is_complete ? VERIFY_COMPLETE : VERIFY_COPY_FROM;
		break;
	case FSM_STAT_AFTER:
		a->op = x->knows_source ? VERIFY_STAT_TARGET :
		    VERIFY_STAT_SOURCE;
		break;
	case FSM_REPORT_CHANGE:
		a->op = VERIFY_SOURCE_CHANGED;
		break;
	case FSM_REPORT_MISMATCH:
		a->op = VERIFY_MISMATCH;
		break;
	case FSM_REFUSE:
		a->op = VERIFY_TOO_LONG;
		break;
	default:
		a->op = VERIFY_END;
	}
}

void
verify_fsm_next(struct verify_fsm *x, struct verify_fsm_action *a)
{
	memset(a, 0, sizeof(*a));
	while (a->op == 0) {
		if (x->state == FSM_STAT)
			ask_stat(x, a);
		else if (x->state == FSM_COMPARE || x->state ==
		    FSM_COMPARE_TRUNCATED || x->state == FSM_COMPARE_ALL)
			ask_comparison(x, a);
		else
			set_decision(x, a);
	}
}

/* A cut target has this size? What is local does what it is told. */
static void
check_truncated(struct verify_fsm *x)
{
	if (!x->target.is_there || x->target.size != x->off)
		decide_copy_from(x, 0, 0);
	else if (x->conf.put)
		begin_compare(x, FSM_COMPARE_TRUNCATED, 0);
	else
		decide_copy_from(x, x->off, x->is_complete);
}

static void
check_source_unchanged(struct verify_fsm *x, const struct verify_end *now)
{
	x->knows_source = 1;
	if (has_changed(&x->source, now))
		x->state = FSM_REPORT_CHANGE;
	else
		verify_fsm_change_reported(x);
}

static void
compare_copied(struct verify_fsm *x)
{
	if (x->source.is_there && x->target.is_there &&
	    x->source.size == x->target.size)
		begin_compare(x, FSM_COMPARE_ALL, 0);
	else {
		x->verified = 0;
		x->state = FSM_REPORT_MISMATCH;
	}
}

void
verify_fsm_stat(struct verify_fsm *x, int is_source,
    const struct verify_end *end)
{
	if (is_source && x->state == FSM_STAT_AFTER)
		check_source_unchanged(x, end);
	else if (is_source)
		x->knows_source = 1;
	else
		x->knows_target = 1;
	*(is_source ? &x->source : &x->target) = *end;
	x->source_may_be_stale &= !is_source;
	if (!is_source && x->state == FSM_ADOPT && end->size == x->off)
		decide_copy_from(x, x->off, x->is_complete);
	else if (!is_source && x->state == FSM_ADOPT)
		both_known(x);
	else if (!is_source && x->state == FSM_TRUNCATE)
		check_truncated(x);
	else if (!is_source && x->state == FSM_STAT_AFTER)
		compare_copied(x);
}

void
verify_fsm_hashes(struct verify_fsm *x, const unsigned char *ours, size_t nours,
    const unsigned char *theirs, size_t ntheirs)
{
	x->verified_by = VERIFIED_BY_HASHES;
	verify_hashed(&x->verify, ours, nours, theirs, ntheirs);
}

void
verify_fsm_hash_refused(struct verify_fsm *x)
{
	x->has_hashes = 0;
	verify_refused(&x->verify);
}

void
verify_fsm_bytes_equal(struct verify_fsm *x, uint64_t equal)
{
	x->verified_by = VERIFIED_BY_BYTES;
	verify_compared(&x->verify, equal);
}

void
verify_fsm_truncated(struct verify_fsm *x, int ok)
{
	x->knows_target = 0;
	if (!ok)
		decide_copy_from(x, 0, 0);
}

void
verify_fsm_past_end(struct verify_fsm *x, int more)
{
	decide_copy_from(x, x->off, !more);
}

int
verify_fsm_skip_truncate(struct verify_fsm *x)
{
	if (x->is_complete)
		return 0;
	decide_copy_from(x, x->off, 0);
	return 1;
}

int
verify_fsm_copy_tail(struct verify_fsm *x)
{
	if (!x->is_complete)
		return 0;
	decide_copy_from(x, x->off, 0);
	return 1;
}

void
verify_fsm_adopt(struct verify_fsm *x, const struct verify_fsm *from)
{
	x->state = FSM_ADOPT;
	x->off = from->off;
	x->is_complete = from->is_complete;
	x->verified_by = from->verified_by;
}

/* The rest of a file has to fit what was compared. */
void
verify_fsm_source_opened(struct verify_fsm *x, const struct verify_end *source)
{
	if (x->off == 0)
		x->source = *source;
}

void
verify_fsm_copied(struct verify_fsm *x)
{
	x->state = x->source.is_there ? FSM_STAT_AFTER : FSM_ENDED;
	x->knows_source = 0;
}

/* The source is what it was, or may have changed. */
void
verify_fsm_change_reported(struct verify_fsm *x)
{
	x->state = x->conf.checksum && x->state != FSM_REPORT_CHANGE ?
	    FSM_STAT_AFTER : FSM_ENDED;
}
