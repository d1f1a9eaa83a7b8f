/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * concurrency: how many entries may be active at once, which depends on the
 * server.
 *
 *   announced    The server has announced its limit of open handles, which is
 *                the limit of entries as well.
 *   probing      8 at first, and twice as many after each round without a
 *                failure, up to 64.
 *   serial       A failure beside other entries restarts the entry, with half
 *                as many at once, down to one. Only a failure without others
 *                is final. If the entry then succeeds, the limit never rises
 *                again.
 */

#include "minmax.h"
#include "sched-internal.h"

/* Of the handles a server allows, so many are left to others. */
#define HANDLES_SPARE	16

/* An unknown server: entries in flight at first, and at most */
#define UNKNOWN_FIRST	8
#define UNKNOWN_MAX	64

void
concurrency_init(struct sched *s)
{
	s->max_limit = (uint32_t)min_u64(UNKNOWN_MAX, s->conf.files);
	s->limit = (uint32_t)min_u64(UNKNOWN_FIRST, s->max_limit);
}

/* An entry has ended well: after a whole round of them twice as many may be. */
void
concurrency_succeeded(struct sched *s, const struct sched_entry *j)
{
	if (j->restart.limit_before != 0) {
		s->max_limit = s->limit;		/* fewer were needed */
		s->one_at_a_time = s->limit == 1;
	}
	if (s->has_handle_limit || ++s->successes < s->limit)
		return;
	s->successes = 0;
	s->limit = (uint32_t)min_u64(2 * (uint64_t)s->limit, s->max_limit);
}

/* It failed beside others: half as many, once for all that began together. */
static void
halve_limit(struct sched *s, struct sched_entry *j)
{
	if (j->restart.limit_before == 0)
		j->restart.limit_before = s->limit;
	if (j->restart.limit_epoch != s->limit_epoch)
		return;
	s->limit_epoch++;
	s->successes = 0;
	s->limit = (uint32_t)max_u64(min_u64(s->limit, s->active) / 2, 1);
}

int
concurrency_restarts(struct sched *s, struct sched_entry *j)
{
	if (j->outcome != OUTCOME_OK)
		return j->outcome == OUTCOME_RESTART;
	if (!s->has_handle_limit && s->sole_entry != j && !s->interrupted) {
		halve_limit(s, j);
		request_restart(j, RESTART_SERVER_BUSY);
		return 1;
	}
	/* The server was not strict. */
	if (j->restart.limit_before != 0)
		s->limit = (uint32_t)min_u64(j->restart.limit_before,
		    s->max_limit);
	j->restart.limit_before = 0;
	return 0;
}

int
concurrency_failed(struct sched *s, struct sched_entry *j)
{
	if (concurrency_restarts(s, j))
		return 1;
	raise_outcome(j, OUTCOME_FAILED);
	return 0;
}

void
concurrency_set_handles(struct sched *s, uint64_t handles)
{
	uint64_t spare = min_u64(HANDLES_SPARE, handles / 2);

	if (handles == 0 || s->has_handle_limit)
		return;
	s->has_handle_limit = 1;
	s->max_limit = s->limit = (uint32_t)min_u64(s->conf.files, handles -
	    spare);
}
