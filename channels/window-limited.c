/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See window-limited.h for the idea. */

#include "window-limited.h"

#define REPORT_MIN_US	1000000	/* limited for less: not worth a line */
#define SPAN_US		4000000	/* longest span */
#define SILENCE_US	1000000	/* no call this long: the reader stopped */

int
window_limited_update(struct window_limited *s, int is_limited, uint64_t now_us)
{
	uint64_t slice = now_us - s->updated_us;

	if (s->updated_us == 0 || slice > SILENCE_US ||
	    now_us - s->since_us > SPAN_US) {
		s->since_us = now_us;
		s->limited_us = 0;
	} else if (s->was_limited)
		s->limited_us += slice;
	s->updated_us = now_us;
	s->was_limited = is_limited;
	if (s->reported || !is_limited || s->limited_us < REPORT_MIN_US ||
	    s->limited_us < (now_us - s->since_us) / 2)
		return 0;
	s->reported = 1;
	return 1;
}
