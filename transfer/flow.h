/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * flow: decides how many SFTP requests may be under way.
 *
 * A request under way is a credit: it allows the server to send, or to
 * acknowledge, one more buffer. So the requests are a window. The tuner of
 * channels/wtune.h sizes it, from the age of a request and the rate of the
 * replies. Two bounds may be lower than that window:
 *
 *   time      An interrupt waits for all that is under way. So this is at most
 *             what is acknowledged in two seconds, or in four round trips if
 *             they are longer, and it shrinks when the path becomes slower.
 *   path      On a short path, judged by the age of a transfer's first reply,
 *             stock's number is enough. More requests would wait in buffers.
 *
 * The number may fall below what is under way. The caller then reads replies
 * and sends nothing until it has no more than that under way.
 *
 * Units: bytes, microseconds of a monotonic clock, requests. No I/O, no clock,
 * no upstream header. Not thread safe. regress/unit/flow-replay.c drives it
 * alone.
 */

#ifndef HAYATE_FLOW_H
#define HAYATE_FLOW_H

#include <stddef.h>
#include <stdint.h>

struct flow;		/* private to flow.c: one per connection */

struct flow_conf {
	uint32_t unit;		/* bytes of one request of this transfer */
	uint32_t stock;		/* stock's maximum, requests */
	uint64_t window_max;	/* bytes */
};

/* Returns NULL if out of memory; stock code then decides. */
struct flow *flow_new(void);

/* Accepts NULL. */
void	 flow_free(struct flow *);

/*
 * A transfer begins. What is known of the path is kept if the unit is the same.
 * Returns 0, or -1 if out of memory; only flow_free() may be called then.
 */
int	 flow_begin(struct flow *, const struct flow_conf *,
    uint64_t now_us);

/* "len" more bytes were read or acknowledged. The number may change. */
void	 flow_count(struct flow *, size_t len, uint64_t now_us);

/* Returns how many requests may be under way now, at least 1. */
uint32_t flow_max_requests(const struct flow *);

/*
 * Returns what the path holds, in bytes: the highest rate in the age of a first
 * reply. 0 before there is one.
 */
uint64_t flow_path(const struct flow *);

/*
 * For the log: the reason for the last decision, the age of the last request in
 * microseconds, and the highest rate in bytes per second.
 */
const char *flow_reason(const struct flow *);
uint64_t flow_last_age(const struct flow *);
uint64_t flow_max_rate(const struct flow *);

#endif /* HAYATE_FLOW_H */
