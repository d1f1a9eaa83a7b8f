/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * request-window: decides how many SFTP requests may be in flight.
 *
 * A request in flight is a credit: it allows the server to send, or to
 * acknowledge, one more buffer. So the requests are a window. The tuner of
 * channels/wtune.h sizes it, from the age of a request and the rate of the
 * replies. Two bounds may be lower than that window:
 *
 *   time      An interrupt waits for all that is in flight, so no more is in
 *             flight than was acknowledged in the last two seconds, or in four
 *             round trips if they take longer.
 *   path      On a short path, judged by the age of a transfer's first reply,
 *             stock's number is enough. More requests would wait in buffers.
 *
 * The number may fall below what is in flight. The caller then reads replies
 * and sends nothing until it has no more than that in flight.
 *
 * Units: bytes, microseconds of a monotonic clock, requests. No I/O, no clock,
 * no upstream header. Not thread safe. regress/unit/request-window-replay.c
 * drives it alone.
 */

#ifndef HAYATE_REQUEST_WINDOW_H
#define HAYATE_REQUEST_WINDOW_H

#include <stddef.h>
#include <stdint.h>

struct request_window;	/* private to request-window.c: one per connection */

struct request_window_conf {
	uint32_t unit;		/* bytes of one request of this transfer */
	uint32_t stock;		/* stock's maximum, requests */
	uint64_t window_max;	/* bytes */
};

/* Returns NULL if out of memory; stock code then decides. */
struct request_window *request_window_new(void);

/* Accepts NULL. */
void	 request_window_free(struct request_window *);

/*
 * A transfer begins. What is known of the path is kept if the unit is the same.
 * Returns 0, or -1 if out of memory; only request_window_free() may be called
 * then.
 */
int	request_window_begin(struct request_window *,
    const struct request_window_conf *, uint64_t now_us);

/* "len" more bytes were read or acknowledged. The number may change. */
void request_window_count(struct request_window *, size_t len, uint64_t now_us);

/* Returns how many requests may be in flight now, at least 1. */
uint32_t request_window_max_requests(const struct request_window *);

/*
 * Returns the bytes that the path holds: the highest rate times the lowest age
 * of a transfer's first reply; 0 before the first reply.
 */
uint64_t request_window_path_bytes(const struct request_window *);

/*
 * For the log: the reason for the last decision, the age of the last request in
 * microseconds, and the highest rate in bytes per second.
 */
const char *request_window_reason(const struct request_window *);
uint64_t request_window_last_age(const struct request_window *);
uint64_t request_window_max_rate(const struct request_window *);

#endif /* HAYATE_REQUEST_WINDOW_H */
