/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * sftpq: decides how many SFTP requests may be under way.
 *
 * A request under way is a credit: it allows the server to send, or to
 * acknowledge, one more buffer. So the requests are a window. The tuner of
 * channels/wtune.h sizes it, from the age of a request and the rate of the
 * replies. Two bounds may be lower than that window:
 *
 *   time      An interrupt waits for all that is under way. So this is at most
 *             what is acknowledged in two seconds, and it shrinks when the path
 *             becomes slower.
 *   path      On a short path, judged by the age of a transfer's first reply,
 *             stock's number is enough. More requests would wait in buffers.
 *
 * The number may fall below what is under way. The caller then reads replies
 * and sends nothing until it has no more than that under way.
 *
 * Units: bytes, microseconds of a monotonic clock, requests. No I/O, no clock,
 * no upstream header. Not thread safe. Called by sftpq-hook.c, and alone by
 * regress/unit/sftpq-replay.c.
 */

#ifndef HAYATE_SFTPQ_H
#define HAYATE_SFTPQ_H

#include <stddef.h>
#include <stdint.h>

struct sftpq_flow;		/* private to sftpq.c: one per connection */

struct sftpq_conf {
	uint32_t unit;		/* bytes of one request of this transfer */
	uint32_t stock;		/* stock's maximum, requests */
	uint64_t window_max;	/* bytes */
};

/* Returns NULL if out of memory; stock code then decides. */
struct sftpq_flow *sftpq_flow_new(void);

/* Accepts NULL. */
void	 sftpq_flow_free(struct sftpq_flow *);

/*
 * A transfer begins. What is known of the path is kept if the unit is the same.
 * Returns 0, or -1 if out of memory; only sftpq_flow_free() may be called then.
 */
int	 sftpq_flow_begin(struct sftpq_flow *, const struct sftpq_conf *,
    uint64_t now_us);

/* "len" more bytes were read or acknowledged. The number may change. */
void	 sftpq_flow_count(struct sftpq_flow *, size_t len, uint64_t now_us);

/* Returns how many requests may be under way now, at least 1. */
uint32_t sftpq_flow_max_requests(const struct sftpq_flow *);

/*
 * Returns what the path holds, in bytes: the highest rate in the age of a first
 * reply. 0 before there is one.
 */
uint64_t sftpq_flow_path(const struct sftpq_flow *);

/* Returns the lowest age of a first reply, in microseconds; 0: none yet. */
uint64_t sftpq_flow_rtt(const struct sftpq_flow *);

/*
 * For the log: the reason for the last decision, the age of the last request in
 * microseconds, and the highest rate in bytes per second.
 */
const char *sftpq_flow_reason(const struct sftpq_flow *);
uint64_t sftpq_flow_last_age(const struct sftpq_flow *);
uint64_t sftpq_flow_max_rate(const struct sftpq_flow *);

#endif /* HAYATE_SFTPQ_H */
