/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * tcp-path: what the kernel knows of a TCP connection, and the options that we
 * set there.
 *
 * Reading TCP_INFO costs under a microsecond. Never call it from a process
 * under a sandbox: getsockopt(2) is not on upstream's seccomp list.
 *
 * No upstream header. Thread safe.
 */

#ifndef HAYATE_TCP_PATH_H
#define HAYATE_TCP_PATH_H

#include <stdint.h>

struct tcp_path {
	uint64_t min_rtt_us;	/* the kernel's minimum of five minutes */
	uint64_t rtt_us;	/* now, smoothed, queues included */
	uint64_t delivery_rate;	/* what we send, bytes per second; 0: unknown */
	uint64_t unacked;	/* bytes sent, and not acknowledged in order */
	uint64_t received;	/* bytes ever received in order */
	uint64_t out_of_order;	/* bytes ever received out of order; wraps */
	uint64_t acked;		/* bytes ever acknowledged */
	uint64_t segments;	/* ever sent; wraps */
	uint64_t resent;	/* of those, again; wraps */
	uint64_t cwnd;		/* bytes that TCP would have under way */
	uint64_t unsent;	/* bytes in the send buffer */
	uint64_t window;	/* of the peer, bytes; 0: unknown */
	uint64_t mss;
};

/*
 * Returns 0, or -1 if the descriptor is no TCP socket or the system does not
 * tell.
 */
int	tcp_path_read(int fd, struct tcp_path *);

/*
 * About how many bytes have arrived and wait for a lost one before them; 0
 * where the system does not tell. If other bytes are readable at the same
 * time, the answer is too low.
 */
uint64_t tcp_path_out_of_order(int fd);

/*
 * Keep no more than "bytes" unsent in the kernel (TCP_NOTSENT_LOWAT), so
 * that urgent data does not wait behind bulk data. Returns 0 or -1.
 */
int	tcp_path_limit_unsent(int fd, uint32_t bytes);

/* Returns 1 if losses alone do not slow the sender down: BBR. */
int	tcp_path_tolerates_loss(int fd);

/* The answer of both for a pipe */
#define TCP_PATH_NO_TCP	"the connection is no TCP connection"

/*
 * Select a congestion control by its name (TCP_CONGESTION). Returns NULL, or
 * why the algorithm stays what it was.
 */
const char *tcp_path_set_congestion(int fd, const char *name);

/*
 * Send no more than so many bytes of payload per second
 * (SO_MAX_PACING_RATE). Returns NULL, or why there is no limit. A rate above
 * 4 GB/s is taken for 4 GB/s, the most that every kernel takes.
 */
const char *tcp_path_set_rate(int fd, uint64_t bytes_per_second);

#endif /* HAYATE_TCP_PATH_H */
