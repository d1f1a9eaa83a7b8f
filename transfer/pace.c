/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See pace.h. */

#include "job.h"
#include "minmax.h"
#include "pace.h"

/* Of the handles a server allows, so many are left to others. */
#define HANDLES_SPARE	16

/* An unknown server: jobs under way at first, and at most */
#define UNKNOWN_FIRST	8
#define UNKNOWN_MOST	64

void
pace_begin(struct plan *s)
{
	s->most = (uint32_t)min_u64(UNKNOWN_MOST, s->conf.files);
	s->limit = (uint32_t)min_u64(UNKNOWN_FIRST, s->most);
}

/* A job has ended well: after a whole round of them twice as many may be. */
void
pace_ended_well(struct plan *s, const struct job *j)
{
	if (j->restore != 0) {
		s->most = s->limit;		/* fewer were needed */
		s->strict = s->limit == 1;
	}
	if (s->told || ++s->clean < s->limit)
		return;
	s->clean = 0;
	s->limit = (uint32_t)min_u64(2 * (uint64_t)s->limit, s->most);
}

/* It failed beside others: half as many, once for all that began together. */
static void
count_beside(struct plan *s, struct job *j)
{
	if (j->restore == 0)
		j->restore = s->limit;
	if (j->epoch != s->epoch)
		return;
	s->epoch++;
	s->clean = 0;
	s->limit = (uint32_t)max_u64(min_u64(s->limit, s->active) / 2, 1);
}

/* A request that a strict server may refuse beside others has failed. */
void
pace_failed(struct plan *s, struct job *j)
{
	if (j->failed || j->again)
		return;
	if (!s->told && s->solo != j && !s->interrupted) {
		count_beside(s, j);
		j->again = 1;
		return;
	}
	j->failed = 1;
	if (j->restore != 0)		/* the server was not strict */
		s->limit = (uint32_t)min_u64(j->restore, s->most);
	j->restore = 0;
}

void
pace_told(struct plan *s, uint64_t handles)
{
	uint64_t spare = min_u64(HANDLES_SPARE, handles / 2);

	if (handles == 0 || s->told)
		return;
	s->told = 1;
	s->most = s->limit = (uint32_t)min_u64(s->conf.files, handles - spare);
}
