/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See lanes.h. */

#include <stdlib.h>

#include "job.h"
#include "lanes.h"
#include "minmax.h"
#include "ranges.h"
#include "width.h"

/*
 * A READ behind the size that was told, between two servers: what it brings,
 * with 512 of them under way, waits in memory.
 */
#define BLIND_MOST	(32 * 1024)

/* What a file costs its lane beside its bytes, in bytes */
#define FILE_COST	(32 * 1024)

/*
 * A lane that is new beside others begins with so many bytes under way. That
 * and what it has carried is more than TCP lets through in its slow start.
 */
#define START		(512 * 1024)

/* What is under way on a lane beside others should not wait for longer. */
#define AGE_MOST	250000		/* microseconds, or */
#define AGE_TIMES	4		/* times an RTT, if longer */

/* So many requests fill a short path while one is served, and one answered. */
#define LANE_LEAST	4

struct plan_req **
lanes_place(const struct plan *s, uint32_t id)
{
	struct plan_req **place = (struct plan_req **)&s->bucket[id % BUCKETS];

	while (*place != NULL && (*place)->id != id)
		place = &(*place)->next;
	return place;
}

int
lanes_request(struct plan *s, struct job *j, unsigned int lane, enum plan_op op,
    uint64_t off, uint32_t len, struct plan_action *a)
{
	struct plan_req *r = calloc(1, sizeof(*r)), **place;

	if (r == NULL)
		return -1;
	if (s->conf.put && j->kind == PLAN_FILE)
		j->parts |= s->apart & 1U << lane;
	r->op = op;
	r->job = j;
	r->lane = lane;
	r->off = off;
	r->len = len;
	r->id = s->next_id++;
	r->sent = s->now_us;
	r->cost = LANES_OVERHEAD;
	if (op == PLAN_WRITE && s->conf.cross)
		r->cost += len;
	else if (op == PLAN_HASH)
		s->lane[lane].hashing += len;
	else if (len != 0)
		r->cost += off >= j->size ? 0 :
		    (uint32_t)min_u64(len, j->size - off);
	s->lane[lane].bytes += r->cost;
	s->requests++;
	j->under_way++;
	place = &s->bucket[r->id % BUCKETS];
	r->next = *place;
	*place = r;
	*a = (struct plan_action){ .op = op, .job = j, .lane = lane,
	    .id = r->id, .off = off, .len = len, .at = off };
	return 1;
}

void
lanes_retire(struct plan *s, struct plan_req **place)
{
	struct plan_req *r = *place;

	*place = r->next;
	r->job->under_way--;
	s->requests--;
	s->lane[r->lane].bytes -= r->cost;
	if (r->op == PLAN_HASH)
		s->lane[r->lane].hashing -= r->len;
	free(r);
}

void
lanes_set_ahead(struct plan *s, struct job *j, uint64_t bytes)
{
	s->lane[j->lane].ahead += bytes;
	s->lane[j->lane].ahead -= j->ahead;
	j->ahead = bytes;
}

unsigned int
lanes_count(unsigned int bits)
{
	unsigned int n = 0;

	for (; bits != 0; bits &= bits - 1)
		n++;
	return n;
}

uint64_t
lanes_work(const struct lane *l)
{
	return l->bytes + l->ahead + (uint64_t)l->files * FILE_COST;
}

static int
is_bounded(const struct plan *s)
{
	return s->uneven && s->up != 1;
}

uint64_t
lanes_weight(const struct plan *s, unsigned int lane)
{
	uint64_t share = s->window / lanes_count(s->up);

	return max_u64(1, is_bounded(s) ?
	    min_u64(share, s->lane[lane].most) : share);
}

/* Who is through first, and not who has the least bytes: one may be slow. */
unsigned int
lanes_idlest(const struct plan *s)
{
	unsigned int i, best = 0;
	double rounds, least = 0;

	for (i = 0; i < s->lanes; i++) {
		if (i > 0 && (s->up >> i & 1) == 0)
			continue;
		rounds = (double)lanes_work(&s->lane[i]) /
		    (double)lanes_weight(s, i);
		if (i == 0 || rounds < least) {
			best = i;
			least = rounds;
		}
	}
	return best;
}

static int
is_busy(const struct lane *l)
{
	return l->bytes > 0 || !link_is_empty(&l->data) ||
	    (l->guest != NULL && l->guest_is == GUEST_IS_READY);
}

/* The window is shared by those that have something to do. */
uint64_t
lanes_share(const struct plan *s)
{
	unsigned int i, n = 0;

	for (i = 0; i < s->lanes; i++)
		n += is_busy(&s->lane[i]);
	return s->window / (n == 0 ? 1 : n);
}

static int
takes_lane(const struct job *j)
{
	return j->kind == PLAN_FILE || j->kind == PLAN_LINK;
}

void
lanes_count_kept(struct plan *s, struct job *j)
{
	uint64_t charge = j->guests > 0 ? 0 : j->ranges.kept;

	s->lane[j->lane].bytes += charge - j->charged;
	j->charged = charge;
	s->kept += j->ranges.kept - j->kept;
	s->npieces += j->ranges.nkept - j->npieces;
	j->kept = j->ranges.kept;
	j->npieces = j->ranges.nkept;
}

void
lanes_enter(struct plan *s, struct job *j)
{
	if (takes_lane(j)) {
		j->lane = lanes_idlest(s);
		if (s->cuts_not || (j->barred >> j->lane & 1) != 0)
			j->lane = 0;
		s->lane[j->lane].files++;
		j->is_in_lane = 1;
	}
}

void
lanes_leave(struct plan *s, struct job *j)
{
	lanes_set_ahead(s, j, 0);
	ranges_clear(&j->ranges);
	lanes_count_kept(s, j);
	s->lane[j->lane].files -= j->is_in_lane;
	j->is_in_lane = 0;
}

void
lanes_move(struct plan *s, struct job *j, unsigned int lane)
{
	struct lane *from = &s->lane[j->lane], *to = &s->lane[lane];

	from->bytes -= j->charged;
	to->bytes += j->charged;
	from->ahead -= j->ahead;
	to->ahead += j->ahead;
	from->files -= j->is_in_lane;
	to->files += j->is_in_lane;
	j->lane = lane;
}

void
lanes_set_size(struct plan *s, struct job *j, uint64_t size)
{
	j->size = size;
	lanes_set_ahead(s, j, j->kind == PLAN_FILE && j->check != CHECK_FIRST ?
	    size - min_u64(size, j->begin) : 0);
}

uint64_t
lanes_data_len(const struct plan *s, const struct job *j)
{
	uint64_t len = j->unit, next = j->ranges.cursor;

	if (j->is_back)
		return min_u64(len, j->back_end - next);
	if (next < j->size && !s->conf.put)
		len = min_u64(len, j->size - next);
	if (next >= j->size && s->conf.cross)
		len = min_u64(len, BLIND_MOST);
	if (s->align != 0 && j->guests > 0)
		len = min_u64(len, s->align - next % s->align);
	return len;
}

int
lanes_goes_on(const struct plan *s, const struct job *j, unsigned int lane)
{
	return s->align != 0 && j->guests > 0 && j->mover == lane &&
	    j->ranges.nloose == 0 && j->ranges.cursor % s->align != 0;
}

void
lanes_set_up(struct plan *s, unsigned int up, unsigned int takes)
{
	unsigned int i;

	while (s->lanes < PLAN_LANES && up >> s->lanes != 0)
		s->lanes++;
	for (i = 1; i < s->lanes; i++) {
		if (((up & ~s->up) >> i & 1) != 0) {
			s->lane[i].most = s->uneven ? START : UINT64_MAX;
			s->lane[i].least_age = s->lane[i].halved_age = 0;
		}
	}
	s->up = up;
	s->takes = takes;
}

/*
 * Half as much was under way when this was sent. If its reply is nearly as old
 * as before, that is no queue but the path, which has become longer.
 */
static void
judge_halved(struct lane *l, uint64_t age)
{
	if (age > l->halved_age / 4 * 3)
		l->least_age = age;
	l->halved_age = 0;
}

/*
 * What waits on a slow lane when all else is done is what the copy waits for,
 * and before it what comes early waits in memory. So such a lane gets little
 * more at once than it carries in that time.
 */
void
lanes_aged(struct plan *s, const struct plan_req *r, uint32_t len)
{
	struct lane *l = &s->lane[r->lane];
	uint64_t age = s->now_us - r->sent, most;

	if (l->least_age == 0 || age < l->least_age)
		l->least_age = age;
	if (l->halved_age != 0 && r->sent >= l->halved_us)
		judge_halved(l, age);
	most = max_u64(AGE_MOST, AGE_TIMES * l->least_age);
	if (age < most / 2)
		l->most += l->most == UINT64_MAX ? 0 : len;
	else if (age > most && r->sent >= l->halved_us && is_bounded(s)) {
		l->most = min_u64(l->most, l->bytes) / 2;
		l->halved_us = s->now_us;
		l->halved_age = age;
	}
}

uint64_t
lanes_most(const struct plan *s, const struct job *j, unsigned int lane)
{
	uint64_t least = (uint64_t)LANE_LEAST * (j->unit + LANES_OVERHEAD);
	uint64_t most = max_u64(lanes_share(s), j->landing == NULL ?
	    min_u64(least, s->window) : 2 * WIDTH_WINDOW);

	return is_bounded(s) ? min_u64(most, s->lane[lane].most) : most;
}

uint64_t
lanes_random(struct plan *s, uint64_t n)
{
	uint64_t *x = &s->conf.seed;

	*x = *x * 6364136223846793005U + 1442695040888963407U;
	return n == 0 ? 0 : (*x >> 16) % n;
}
