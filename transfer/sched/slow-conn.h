/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * slow-conn: which of the connections of one copy is slow.
 *
 * Connections take work as they finish it, so a slow one costs the copy little,
 * and nothing shows it. Each has a rate of its own: the bytes that were
 * acknowledged on it, by the time in which a request was in flight on it. Idle
 * time does not count. One is slow if its rate is below a quarter of the median
 * of the others. A connection that was busy for a short time only is neither
 * judged nor compared with.
 *
 * Numbers in, numbers out. No I/O, no clock, no upstream header.
 */

#ifndef HAYATE_SLOW_CONN_H
#define HAYATE_SLOW_CONN_H

#include <stdint.h>

#define SLOW_CONN_MAX	32		/* connections */

/* All 0: nothing has been moved. */
struct slow_conn {
	struct {
		unsigned int host;
		uint64_t bytes;
		uint64_t busy_us;
		uint64_t last_us;	/* its latest reply */
	} of[SLOW_CONN_MAX];
};

/*
 * A reply for "bytes" has arrived on the connection "i", which goes to that
 * host; its request was sent at "sent_us". A connection to another host has
 * taken the place of the one before if the host is another one.
 */
void	slow_conn_acked(struct slow_conn *, unsigned int i, unsigned int host,
    uint64_t bytes, uint64_t sent_us, uint64_t now_us);

/*
 * Returns the slowest connection of a copy that took "us" if it is slow, or -1.
 * Rates are bytes per second.
 */
int	slow_conn_find(const struct slow_conn *, uint64_t us, uint64_t *rate,
    uint64_t *others);

#endif /* HAYATE_SLOW_CONN_H */
