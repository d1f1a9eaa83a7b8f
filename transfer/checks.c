/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See checks.h. */

#include <stdlib.h>

#include "checks.h"
#include "job.h"
#include "lanes.h"
#include "pace.h"
#include "ranges.h"
#include "steps.h"

/*
 * Bytes that a server has to hash for one lane at a time, at most: 0.15 s of
 * its time. One request always may be under way.
 */
#define HASHES_MOST	(64 * 1024 * 1024)

void
checks_begin(struct plan *s, struct job *j)
{
	j->check = CHECK_FIRST;
	j->is_checked = 1;
	lanes_set_ahead(s, j, 0);
}

void
checks_ask(struct plan *s, struct job *j, enum plan_op op, uint64_t off,
    uint32_t len)
{
	j->ask_off = off;
	j->ask_len = len;
	step(s, j, op);
	if (op == PLAN_HASH)
		enqueue(&s->lane[j->lane].hashes, j);
}

void
checks_back(struct plan *s, struct job *j, uint64_t off, uint64_t len)
{
	ranges_clear(&j->ranges);
	ranges_begin(&j->ranges, off);
	j->back = off;
	j->back_end = off + len;
	j->back_over = 0;
	step(s, j, PLAN_OPEN_BACK);
}

void
checks_enough(struct job *j)
{
	j->back_over = 1;
}

uint64_t
checks_came(const struct job *j)
{
	return ranges_frontier(&j->ranges) - j->back;
}

void
checks_later(struct plan *s, struct job *j)
{
	enqueue(&s->later, j);
}

void
checks_begin_at(struct job *j, uint64_t off)
{
	j->begin = off;
}

void
checks_complete(struct job *j)
{
	j->is_complete = j->eof = j->is_whole = 1;
}

int
checks_next_hash(struct plan *s, struct plan_action *a)
{
	struct lane *l;
	struct job *j;

	for (l = s->lane; l < s->lane + s->lanes; l++) {
		j = of_queue(l->hashes.next);
		if (link_is_empty(&l->hashes) || (l->hashing > 0 &&
		    l->hashing + j->ask_len > HASHES_MOST))
			continue;
		link_remove(&j->queue);
		return lanes_request(s, j, j->lane, PLAN_HASH, j->ask_off,
		    j->ask_len, a);
	}
	return 0;
}

struct job *
checks_next_copy(struct plan *s)
{
	struct job *j;

	if (link_is_empty(&s->checked))
		return NULL;
	j = dequeue(&s->checked);
	lanes_set_size(s, j, j->size);
	return j;
}

int
checks_next_later(struct plan *s, struct plan_action *a)
{
	if (link_is_empty(&s->later))
		return 0;
	*a = (struct plan_action){ .op = PLAN_CHECK,
	    .job = dequeue(&s->later) };
	s->last = *a;
	return 1;
}

int
checks_see(struct plan *s, struct job *j, struct plan_action *a)
{
	j->is_unseen = 0;
	return lanes_request(s, j, j->lane, PLAN_SEE, 0, 0, a);
}

/* Nothing is asked any more: the copy is next, or the end. */
void
checks_worked(struct plan *s, struct job *j)
{
	if (!link_is_empty(&j->queue) || j->under_way > 0)
		return;
	j->failed |= j->check == CHECK_FIRST && s->interrupted &&
	    !j->is_complete;
	if (j->check == CHECK_FIRST && !j->is_complete && !j->failed) {
		ranges_clear(&j->ranges);
		ranges_begin(&j->ranges, j->begin);
		enqueue(&s->checked, j);
	} else
		step(s, j, PLAN_END);
	j->check = CHECK_LAST;
	j->is_checked = 0;
}

int
checks_lost(struct plan *s, struct job *j)
{
	if (!j->is_checked)
		return 0;
	lanes_move(s, j, lanes_idlest(s));
	if (j->under_way > 0)
		return 1;		/* over lane 0 */
	link_remove(&j->loose);
	ranges_clear(&j->ranges);
	j->is_back = 0;
	j->is_ask_lost = 1;
	step(s, j, PLAN_CHECK);
	return 1;
}

int
checks_ask_is_lost(struct job *j)
{
	int is_lost = j->is_ask_lost;

	j->is_ask_lost = 0;
	return is_lost;
}

static int
reply_back(struct plan *s, struct plan_req **place, enum plan_result result,
    uint32_t len)
{
	struct plan_req *r = *place;
	struct job *j = r->job;

	if (result == PLAN_OK && len > r->len)
		return -1;
	if (result == PLAN_OK && len > 0)
		steps_count_data(j, r, len);
	else {
		ranges_miss(&j->ranges, r->range);
		j->back_over = 1;
	}
	lanes_retire(s, place);
	steps_go_on(s, j);
	return 0;
}

/* Another server than one that has too many open files means what it says. */
static int
reply_open(struct plan *s, struct job *j, enum plan_op op,
    enum plan_result result)
{
	if (result == PLAN_OK && op == PLAN_OPEN_BACK) {
		j->is_back = 1;
		steps_go_on(s, j);
		return 0;
	}
	if (result != PLAN_OK)
		pace_failed(s, j);
	if (!j->again)
		j->failed = 0;
	step(s, j, j->again ? PLAN_AGAIN : PLAN_CHECK);
	return j->again;
}

int
checks_reply(struct plan *s, struct plan_req **place, enum plan_result result,
    uint32_t len)
{
	struct job *j = (*place)->job;
	enum plan_op op = (*place)->op;

	if (op == PLAN_BACK)
		return reply_back(s, place, result, len);
	lanes_retire(s, place);
	if (op == PLAN_OPEN_BACK || op == PLAN_HOLD)
		return reply_open(s, j, op, result);
	if (op == PLAN_SEE) {
		steps_go_on(s, j);
		return 0;
	}
	if (link_is_empty(&j->queue) && j->under_way == 0)
		step(s, j, PLAN_CHECK);
	return 0;
}

void
checks_interrupt(struct plan *s)
{
	unsigned int i;

	for (i = 0; i < PLAN_LANES; i++)
		while (!link_is_empty(&s->lane[i].hashes))
			step(s, of_queue(s->lane[i].hashes.next), PLAN_CHECK);
	while (!link_is_empty(&s->later))
		step(s, of_queue(s->later.next), PLAN_CHECK);
	while (!link_is_empty(&s->checked)) {
		of_queue(s->checked.next)->failed = 1;
		step(s, of_queue(s->checked.next), PLAN_END);
	}
}
