/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See starve.h for the idea. */

#include "starve.h"

#define COSTS_US	1000000	/* starved for less: not worth a line */
#define SPAN_US		4000000	/* the shares of time are of this at most */
#define SILENCE_US	1000000	/* no credit for so long: the reader stopped */

int
starve_note(struct starve *s, int starves, uint64_t now_us)
{
	uint64_t slice = now_us - s->last_us;

	if (s->last_us == 0 || slice > SILENCE_US ||
	    now_us - s->since_us > SPAN_US) {
		s->since_us = now_us;
		s->starved_us = 0;
	} else if (s->starved)
		s->starved_us += slice;
	s->last_us = now_us;
	s->starved = starves;
	if (s->said || !starves || s->starved_us < COSTS_US ||
	    s->starved_us < (now_us - s->since_us) / 2)
		return 0;
	s->said = 1;
	return 1;
}
