/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See landing.h for the idea. */

#include <stdlib.h>
#include <string.h>

#include "landing.h"
#include "minmax.h"
#include "ranges.h"

int
landing_data(struct ranges *rs, struct range *r, const unsigned char *data,
    uint32_t len)
{
	unsigned char *copy = NULL;
	int is_next = r == rs->first;

	if (r->off >= rs->end) {
		rs->high = max_u64(rs->high, r->off + len);
		ranges_miss(rs, r);
		return 0;
	}
	if (!is_next) {
		if ((copy = malloc(len)) == NULL)
			return -1;
		memcpy(copy, data, len);
	}
	if (ranges_keep(rs, r, copy, len) == 0)
		return is_next;
	free(copy);
	return -1;
}

struct range *
landing_next(const struct ranges *rs)
{
	struct range *r = rs->first;

	return r != NULL && r->state == RANGE_KEPT ? r : NULL;
}

void
landing_written(struct ranges *rs, int ok)
{
	if (ok)
		ranges_done(rs, rs->first, rs->first->len);
	else
		ranges_end(rs, rs->first->off);
}
