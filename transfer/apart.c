/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See apart.h. */

#include "apart.h"
#include "job.h"
#include "lanes.h"

int
apart_is(const struct plan *s, const struct job *j)
{
	return j->kind == PLAN_FILE && (s->apart >> j->lane & 1) != 0;
}

void
apart_go_home(struct plan *s, struct job *j)
{
	j->barred |= s->apart;
	j->again |= !j->failed && !s->interrupted;
}

/* What follows when all has been seen, or need not be */
static enum plan_op
end_of(struct plan *s, struct job *j)
{
	j->is_looked_back = 0;
	if (j->is_undressed && !j->differs) {
		j->is_undressed = 0;
		return PLAN_SETSTAT;
	}
	j->parts = 0;
	j->is_late &= j->differs;
	if (j->differs && (!j->has_differed || (s->apart & ~j->barred) != 0))
		apart_go_home(s, j);
	j->has_differed |= j->differs;
	j->failed |= j->differs && !j->again;
	return j->again ? PLAN_AGAIN : PLAN_END;
}

void
apart_precedes_end(struct plan *s, struct job *j)
{
	if ((j->parts == 0 && !j->is_late) || j->failed)
		return;
	j->step = PLAN_SEEN;
	if (j->differs)
		j->step = end_of(s, j);
	j->is_looked_back = j->step == PLAN_SEEN;
	j->to_see = j->parts | 1;
	j->is_open = 0;
	j->loss = HAS_HANDLE;
}

int
apart_look(struct plan *s, struct job *j, struct plan_action *a)
{
	unsigned int lane = 0;

	while ((j->to_see >> lane & 1) == 0)
		lane++;
	j->to_see &= ~(1U << lane);
	if (j->to_see != 0)
		step(s, j, PLAN_SEEN);
	return lanes_request(s, j, lane, PLAN_SEEN, 0, 0, a);
}

void
apart_reply(struct plan *s, struct job *j, enum plan_result result)
{
	j->differs |= result == PLAN_FAILED;
	j->is_undressed |= result == PLAN_EOF;
	if (j->under_way == 0 && j->to_see == 0)
		step(s, j, end_of(s, j));
}

/* Returns 1 if something was written, or found to be complete. */
static int
counts(const struct job *j)
{
	return j->is_open || j->loss != HAS_HANDLE || j->is_looked_back ||
	    j->check == CHECK_LAST;
}

int
apart_lost(struct plan *s, struct job *j, unsigned int lane)
{
	if ((j->parts >> lane & 1) == 0)
		return 0;
	if (!counts(j)) {
		j->parts &= ~(1U << lane);
		return 0;
	}
	j->differs = 1;
	j->renews |= j->is_ours;
	apart_go_home(s, j);
	if (!j->is_looked_back)
		return 0;
	j->to_see = 0;
	link_remove(&j->queue);
	if (j->lane == lane)
		lanes_move(s, j, 0);
	if (j->under_way == 0)
		step(s, j, end_of(s, j));
	return 1;
}
