/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See wide.h. */

#include <stddef.h>

#include "job.h"
#include "landing.h"
#include "lanes.h"
#include "minmax.h"
#include "ranges.h"
#include "wide.h"
#include "width.h"

/* What is put goes over more lanes when its landing is ready for them. */
static uint64_t
least_rest(const struct plan *s, const struct job *j)
{
	if (!s->conf.put)
		return s->widen == 0 ? UINT64_MAX : s->widen;
	return j->landing != NULL && landing_is_wide(j->landing) ?
	    WIDTH_REST : UINT64_MAX;
}

/* Returns 1 if the lane would do well to carry this file. */
static int
helps(const struct plan *s, const struct job *j, unsigned int lane)
{
	return j->kind == PLAN_FILE && j->is_open && !j->alone &&
	    (s->writers == 0 || !s->conf.put || j->guests + 1 < s->writers) &&
	    j->lane != lane && (j->barred >> lane & 1) == 0 &&
	    rest_of(j) >= least_rest(s, j) && !has_all(s, j);
}

/* Returns the file of which most is left, among the first of each lane. */
static struct job *
choose(const struct plan *s, unsigned int lane)
{
	struct job *j, *best = NULL;
	unsigned int i;

	for (i = 0; i < s->lanes; i++) {
		if (link_is_empty(&s->lane[i].data))
			continue;
		j = of_queue(s->lane[i].data.next);
		if (helps(s, j, lane) &&
		    (best == NULL || rest_of(j) > rest_of(best)))
			best = j;
	}
	return best;
}

int
wide_begin(struct plan *s, struct plan_action *a)
{
	struct lane *l;
	unsigned int i;

	if (s->strict || s->conf.cross)
		return 0;
	for (i = 0; i < s->lanes; i++) {
		l = &s->lane[i];
		if (((s->up & s->takes) >> i & 1) != 0 && l->guest == NULL &&
		    l->bytes == 0 && link_is_empty(&l->data) &&
		    (l->guest = choose(s, i)) != NULL) {
			l->guest_is = GUEST_JOINS;
			l->guest->guests++;
			lanes_count_kept(s, l->guest);
			return lanes_request(s, l->guest, i, PLAN_JOIN, 0, 0,
			    a);
		}
	}
	return 0;
}

static void
set_step(struct plan *s, struct lane *l, enum plan_op op)
{
	s->guest_steps += (op != 0) - (l->guest_step != 0);
	l->guest_step = op;
}

int
wide_step(struct plan *s, struct plan_action *a)
{
	struct lane *l;
	unsigned int i;
	enum plan_op op;

	for (i = 0; s->guest_steps > 0 && i < s->lanes; i++) {
		l = &s->lane[i];
		if ((op = l->guest_step) == 0 ||
		    (op == PLAN_REFER && !l->guest->is_open))
			continue;
		set_step(s, l, op == PLAN_REFER ? PLAN_PROBE : 0);
		return lanes_request(s, l->guest, op == PLAN_REFER ?
		    l->guest->lane : i, op, l->probe_off, 0, a);
	}
	return 0;
}

struct job *
wide_guest(const struct plan *s, const struct lane *l)
{
	struct job *j = l->guest;

	return j != NULL && l->guest_is == GUEST_IS_READY && !j->eof &&
	    rest_of(j) > 0 && !has_all(s, j) ? j : NULL;
}

static void
part(struct plan *s, struct lane *l)
{
	l->guest_is = GUEST_PARTS;
	l->probes = 0;
	set_step(s, l, PLAN_PART);
}

void
wide_part(struct plan *s, struct job *j)
{
	struct lane *l;
	unsigned int i;

	for (i = 0; j->guests > 0 && i < s->lanes; i++) {
		l = &s->lane[i];
		if (l->guest == j && (l->guest_is == GUEST_IS_READY ||
		    (l->guest_is == GUEST_JOINS && l->guest_step != 0)))
			part(s, l);
	}
}

void
wide_forget(struct plan *s, unsigned int lane)
{
	struct lane *l = &s->lane[lane];

	if (l->guest == NULL)
		return;
	set_step(s, l, 0);
	l->probes = 0;
	l->guest->guests--;
	lanes_count_kept(s, l->guest);
	l->guest = NULL;
}

/*
 * A file that took the place of another one by its name may have its size and
 * time. So both are read at one place.
 */
static void
probe(struct plan *s, struct lane *l)
{
	uint64_t size = l->guest->size;

	l->probe_off = lanes_random(s, size - min_u64(size, PLAN_PROBE_LEN));
	l->probes = 2;
	l->differs = 0;
	set_step(s, l, PLAN_REFER);
}

void
wide_look_again(struct plan *s, struct job *j)
{
	struct lane *l;

	for (l = s->lane; l < s->lane + s->lanes; l++) {
		if (l->guest == j && l->probes > 0) {
			l->probes = 0;
			set_step(s, l, PLAN_SAME);
		}
	}
}

void
wide_probed(struct plan *s, struct job *j, uint64_t off,
    enum plan_result result)
{
	struct lane *l = s->lane;

	while (l < s->lane + s->lanes && (l->guest != j || l->probes == 0 ||
	    l->probe_off != off))
		l++;
	if (l == s->lane + s->lanes)
		return;
	l->differs |= result != PLAN_OK;
	if (--l->probes > 0)
		return;
	if (!l->differs && !has_all(s, j)) {
		l->guest_is = GUEST_IS_READY;
		return;
	}
	j->barred |= 1U << (l - s->lane);
	part(s, l);
}

void
wide_reply(struct plan *s, struct job *j, unsigned int lane, enum plan_op op,
    enum plan_result result)
{
	struct lane *l = &s->lane[lane];

	if (op == PLAN_JOIN && result == PLAN_OK)
		set_step(s, l, PLAN_SAME);
	else if (op == PLAN_SAME && result == PLAN_OK && !s->conf.put &&
	    !has_all(s, j))
		probe(s, l);
	else if (op != PLAN_PART && result == PLAN_OK && !has_all(s, j))
		l->guest_is = GUEST_IS_READY;
	else {
		j->barred |= 1U << lane;
		if (op == PLAN_SAME || (op == PLAN_JOIN && result == PLAN_OK))
			part(s, l);
		else
			wide_forget(s, lane);
	}
}
