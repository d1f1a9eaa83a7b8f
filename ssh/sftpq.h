/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * sftpq: how many SFTP requests may be under way.
 *
 * A request under way is a credit: it allows the server to send, or to
 * acknowledge, one buffer more. So requests are a window, and the tuner of
 * channels/wtune.h sizes it, from the age of a request and the rate of the
 * replies. Other bounds are smaller than that window at times:
 *
 *   time      An interrupt waits for all that is under way. So this is never
 *             more than two seconds' worth of what is being acknowledged,
 *             and it shrinks when the path becomes slower.
 *   handles   A server that limits its open handles gets no more requests
 *             than it has handles, as in stock.
 *   path      On a short path, by the age of a transfer's first reply, stock's
 *             number suffices. What is more would only wait in buffers.
 *
 * The number may fall below what is under way. The caller then takes replies
 * and sends nothing until it is no longer above the number.
 *
 * Units: bytes, microseconds of a monotonic clock, requests. No I/O, no
 * clock, no upstream header. Not thread safe. Called by sftpq-hook.c, and
 * alone by regress/unit/sftpq-replay.c.
 */

#ifndef HAYATE_SFTPQ_H
#define HAYATE_SFTPQ_H

#include <stddef.h>
#include <stdint.h>

struct sftpq_flow;		/* private to sftpq.c: one per connection */

struct sftpq_conf {
	uint32_t unit;		/* bytes of one request of this transfer */
	uint32_t stock;		/* where stock stops, requests */
	uint64_t window_max;	/* bytes */
};

/* Returns NULL if out of memory; stock then decides. */
struct sftpq_flow *sftpq_flow_new(void);

/* Accepts NULL. */
void	 sftpq_flow_free(struct sftpq_flow *);

/* The server's limit of open handles; 0: it has none, or did not say. */
void	 sftpq_flow_handles(struct sftpq_flow *, uint64_t handles);

/*
 * A transfer begins. What is known of the path stays if the unit does.
 * Returns 0, or -1 if out of memory; nothing may be called then but free.
 */
int	 sftpq_flow_begin(struct sftpq_flow *, const struct sftpq_conf *,
    uint64_t now_us);

/* "len" bytes more were read or acknowledged: the number may move. */
void	 sftpq_flow_through(struct sftpq_flow *, size_t len, uint64_t now_us);

/* How many requests may be under way now, at least 1. */
uint32_t sftpq_flow_requests(const struct sftpq_flow *);

/* For the log: the last decision, the age of a request, bytes per second. */
const char *sftpq_flow_why(const struct sftpq_flow *);
uint64_t sftpq_flow_age(const struct sftpq_flow *);
uint64_t sftpq_flow_rate(const struct sftpq_flow *);

#endif /* HAYATE_SFTPQ_H */
