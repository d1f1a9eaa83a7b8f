/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See verify.h. */

#include <string.h>

#include "verify.h"

/* A source that was written so many seconds ago, or later, is still new. */
#define RECENT_S	2

static uint64_t
min_of(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static int
compares_copy(const struct verify *v)
{
	return v->conf.checksum || v->conf.is_unsure;
}

/*
 * Returns 1 if an earlier copy has set the time of the target. Such a time is
 * of whole seconds, unlike that of a write; and in the second in which the
 * source was written, the target may have been written as well.
 */
static int
mtime_set_by_copy(const struct verify *v)
{
	return v->conf.preserve && !compares_copy(v) && v->source.has_time &&
	    v->target.has_time && v->source.mtime == v->target.mtime &&
	    v->target.nsec == 0 && v->source.mtime + RECENT_S < v->conf.now;
}

static int
has_changed(const struct verify_end *before, const struct verify_end *now)
{
	return !now->is_there || now->size != before->size ||
	    (now->has_time && now->mtime != before->mtime) ||
	    now->nsec != before->nsec;
}

/* The first "off" bytes are equal: all of the source if "is_whole". */
static void
decide(struct verify *v, uint64_t off, int is_whole)
{
	v->off = v->verified = off;
	v->state = is_whole ? VERIFY_AT_COMPLETE : VERIFY_AT_COPY;
}

/* The first "off" bytes are equal, and no other is. */
static void
compared(struct verify *v)
{
	int is_whole = v->off == v->source.size;

	if (v->state == VERIFY_AT_COMPARE_ALL) {
		v->verified = is_whole ? v->off : 0;
		v->state = is_whole ? VERIFY_AT_ENDED :
		    VERIFY_AT_REPORT_MISMATCH;
	} else if (v->off == v->target.size) {
		decide(v, v->off, is_whole);
		if (is_whole && !v->conf.put && v->verified_by !=
		    VERIFIED_BY_TIME)
			v->state = VERIFY_AT_READ_PAST_END;
	} else if (v->state == VERIFY_AT_COMPARE_AGAIN || v->off == 0)
		decide(v, 0, 0);
	else if (is_whole && !v->conf.put)
		/* The copy asks for what is behind that, and truncates. */
		decide(v, v->off, 0);
	else
		v->state = VERIFY_AT_TRUNCATE;
}

static void
begin_compare(struct verify *v, enum verify_state state, int same_time)
{
	int is_believed = same_time && !v->has_hashes && v->source.size ==
	    v->target.size;

	v->state = state;
	v->common = min_of(v->source.size, v->target.size);
	v->off = is_believed ? v->common : 0;
	v->verified_by = is_believed ? VERIFIED_BY_TIME : VERIFIED_BY_NOTHING;
	if (v->off == v->common)
		compared(v);
}

/* Both ends are known. */
static void
both_known(struct verify *v)
{
	if (!v->conf.resume || !v->source.is_there || !v->target.is_there)
		decide(v, 0, 0);
	else if (v->source.size < v->target.size && !v->conf.truncates)
		v->state = VERIFY_AT_REFUSE;
	else
		begin_compare(v, VERIFY_AT_COMPARE, mtime_set_by_copy(v));
}

static void
choose_stat(struct verify *v)
{
	if (!v->knows_source)
		v->state = VERIFY_AT_STAT_SOURCE;
	else if (v->conf.resume && v->source.is_there && !v->knows_target)
		v->state = VERIFY_AT_STAT_TARGET;
	else if (v->source_may_be_stale && v->target.is_there &&
	    (v->has_hashes || !mtime_set_by_copy(v) || v->target.size !=
	    v->source.size))
		v->state = VERIFY_AT_STAT_SOURCE;
	else
		both_known(v);
}

void
verify_begin(struct verify *v, const struct verify_conf *conf,
    const struct verify_end *source, int is_old, int has_hashes)
{
	memset(v, 0, sizeof(*v));
	v->conf = *conf;
	v->has_hashes = has_hashes;
	if (source != NULL)
		v->source = *source;
	v->knows_source = source != NULL;
	v->source_may_be_stale = is_old;
	choose_stat(v);
}

void
verify_adopt(struct verify *v, const struct verify *from)
{
	v->state = VERIFY_AT_STAT_ADOPTED;
	v->off = from->off;
	v->verified_by = from->verified_by;
}

void
verify_next(const struct verify *v, struct verify_action *a)
{
	static const enum verify_op ops[] = {
		[VERIFY_AT_STAT_SOURCE] = VERIFY_STAT_SOURCE,
		[VERIFY_AT_STAT_TARGET] = VERIFY_STAT_TARGET,
		[VERIFY_AT_COMPARE] = VERIFY_COMPARE_HASH,
		[VERIFY_AT_TRUNCATE] = VERIFY_TRUNCATE,
		[VERIFY_AT_STAT_TRUNCATED] = VERIFY_STAT_TARGET,
		[VERIFY_AT_COMPARE_AGAIN] = VERIFY_COMPARE_HASH,
		[VERIFY_AT_READ_PAST_END] = VERIFY_READ_PAST_END,
		[VERIFY_AT_STAT_ADOPTED] = VERIFY_STAT_TARGET,
		[VERIFY_AT_REFUSE] = VERIFY_TOO_LONG,
		[VERIFY_AT_COMPLETE] = VERIFY_COMPLETE,
		[VERIFY_AT_COPY] = VERIFY_COPY_FROM,
		[VERIFY_AT_STAT_SOURCE_AFTER] = VERIFY_STAT_SOURCE,
		[VERIFY_AT_REPORT_CHANGE] = VERIFY_SOURCE_CHANGED,
		[VERIFY_AT_STAT_TARGET_AFTER] = VERIFY_STAT_TARGET,
		[VERIFY_AT_COMPARE_ALL] = VERIFY_COMPARE_HASH,
		[VERIFY_AT_REPORT_MISMATCH] = VERIFY_MISMATCH,
		[VERIFY_AT_REPORT_NOT_REGULAR] = VERIFY_NOT_REGULAR,
		[VERIFY_AT_ENDED] = VERIFY_END,
	};

	*a = (struct verify_action){ .op = ops[v->state], .off = v->off };
	if (a->op == VERIFY_READ_PAST_END)
		a->len = 1;
	else if (a->op == VERIFY_TRUNCATE)
		a->len = v->source.size - v->off;
	else if (a->op == VERIFY_COMPARE_HASH && v->has_hashes)
		a->len = min_of(v->common - v->off, VERIFY_RANGE);
	else if (a->op == VERIFY_COMPARE_HASH) {
		a->op = VERIFY_READ_BACK;
		a->len = v->common - v->off;
	}
}

/* A truncated target has this size? A local file system obeys. */
static void
check_truncated(struct verify *v)
{
	if (!v->target.is_there || v->target.size != v->off)
		decide(v, 0, 0);
	else if (v->conf.put)
		begin_compare(v, VERIFY_AT_COMPARE_AGAIN, 0);
	else
		decide(v, v->off, 0);
}

/* The copy has ended. */
static void
copied_target_seen(struct verify *v, const struct verify_end *end)
{
	if (v->source.is_there && end->is_there && v->source.size ==
	    end->size) {
		begin_compare(v, VERIFY_AT_COMPARE_ALL, 0);
		return;
	}
	v->verified = 0;
	v->state = !end->is_not_regular ? VERIFY_AT_REPORT_MISMATCH :
	    v->conf.checksum ? VERIFY_AT_REPORT_NOT_REGULAR : VERIFY_AT_ENDED;
}

static void
target_seen(struct verify *v, const struct verify_end *end)
{
	v->knows_target = 1;
	v->target = *end;
	if (v->state == VERIFY_AT_STAT_TARGET)
		choose_stat(v);
	else if (v->state == VERIFY_AT_STAT_TRUNCATED)
		check_truncated(v);
	else if (v->state == VERIFY_AT_STAT_ADOPTED && end->size == v->off)
		decide(v, v->off, v->off == v->source.size);
	else if (v->state == VERIFY_AT_STAT_ADOPTED)
		both_known(v);
	else
		copied_target_seen(v, end);
}

static void
source_seen(struct verify *v, const struct verify_end *end)
{
	struct verify_end before = v->source;

	v->knows_source = 1;
	v->source_may_be_stale = 0;
	v->source = *end;
	if (v->state == VERIFY_AT_STAT_SOURCE)
		choose_stat(v);
	else
		v->state = has_changed(&before, end) ? VERIFY_AT_REPORT_CHANGE :
		    compares_copy(v) ? VERIFY_AT_STAT_TARGET_AFTER :
		    VERIFY_AT_ENDED;
}

static void
hashed(struct verify *v, const struct verify_answer *answer)
{
	uint64_t end = v->off + min_of(v->common - v->off, VERIFY_RANGE);
	size_t i;

	if (answer->failed) {
		v->has_hashes = 0;
		return;
	}
	v->verified_by = VERIFIED_BY_HASHES;
	for (i = 0; i < answer->nours && i < answer->ntheirs && v->off < end &&
	    memcmp(answer->ours + i * VERIFY_HASH_LEN, answer->theirs + i *
	    VERIFY_HASH_LEN, VERIFY_HASH_LEN) == 0; i++)
		v->off += min_of(end - v->off, VERIFY_BLOCK);
	if (v->off < end || v->off == v->common)
		compared(v);
}

void
verify_answer(struct verify *v, const struct verify_answer *answer)
{
	struct verify_action a;

	verify_next(v, &a);
	switch (a.op) {
	case VERIFY_STAT_SOURCE:
		source_seen(v, &answer->end);
		break;
	case VERIFY_STAT_TARGET:
		target_seen(v, &answer->end);
		break;
	case VERIFY_COMPARE_HASH:
		hashed(v, answer);
		break;
	case VERIFY_READ_BACK:
		v->verified_by = VERIFIED_BY_BYTES;
		v->off += min_of(answer->bytes, a.len);
		compared(v);
		break;
	case VERIFY_TRUNCATE:
		if (answer->left || answer->failed)
			decide(v, answer->failed ? 0 : v->off, 0);
		else
			v->state = VERIFY_AT_STAT_TRUNCATED;
		break;
	case VERIFY_READ_PAST_END:
		decide(v, v->off, answer->bytes == 0);
		break;
	case VERIFY_COPY_FROM:
		v->state = v->source.is_there ? VERIFY_AT_STAT_SOURCE_AFTER :
		    VERIFY_AT_ENDED;
		break;
	default:
		v->state = VERIFY_AT_ENDED;
	}
}

void
verify_source_opened(struct verify *v, const struct verify_end *source)
{
	if (v->state == VERIFY_AT_COPY && v->off == 0)
		v->source = *source;
}
