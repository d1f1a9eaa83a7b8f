/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * tcp-path: what the kernel knows about a TCP connection, and the socket
 * options that we set.
 *
 * Reading TCP_INFO costs under a microsecond. Never call this from a process
 * under a sandbox: getsockopt(2) is not on upstream's seccomp list.
 *
 * No upstream header, no state. Thread safe, but for the text that the last two
 * functions may return.
 */

#ifndef HAYATE_TCP_PATH_H
#define HAYATE_TCP_PATH_H

#include <stdint.h>

/*
 * From TCP_INFO. A field that the system does not provide is 0, except that
 * min_rtt_us is then set to rtt_us. Systems other than Linux provide rtt_us
 * alone. Counters cover the life of the connection; those marked "wraps" are 32
 * bits in the kernel.
 *
 * The kernel counts three fields in segments. "unacked" and "cwnd" are its
 * count times "mss"; "out_of_order" is its count times the present size of a
 * segment that we receive. If that size shrinks, or the count wraps,
 * "out_of_order" can fall; the difference of two readings means nothing then.
 * "segments" includes retransmitted ones, and leaves out those without data if
 * the kernel counts them apart. "delivery_rate" is the kernel's last sample; it
 * skips samples that are lower because we had too little to send.
 */
struct tcp_path {
	uint64_t min_rtt_us;	/* the kernel's minimum of five minutes */
	uint64_t rtt_us;	/* smoothed, queues included */
	uint64_t delivery_rate;	/* of what we send, bytes per second */
	uint64_t unacked;	/* bytes in flight: sent, not acknowledged */
	uint64_t received;	/* counter: bytes received in order */
	uint64_t out_of_order;	/* counter: bytes behind a gap; wraps */
	uint64_t acked;		/* counter: bytes acknowledged by the peer */
	uint64_t segments;	/* counter: segments sent; wraps */
	uint64_t resent;	/* counter: segments retransmitted; wraps */
	uint64_t cwnd;		/* congestion window, bytes */
	uint64_t unsent;	/* bytes in the send buffer, not yet sent */
	uint64_t window;	/* the peer's receive window, bytes; those in
				 * flight are part of it */
	uint64_t mss;		/* payload of a full segment we send, bytes */
};

/*
 * Reads the state of the connection. Returns 0, or -1 with all fields 0 if the
 * descriptor is not a TCP socket, if the connection may have several subflows
 * (mptcp.h), of which TCP_INFO describes only the first, or if the system has
 * no TCP_INFO.
 */
int	tcp_path_read(int fd, struct tcp_path *);

/*
 * Returns how many bytes of memory the receive buffer uses for data that is out
 * of order, because a segment before it was lost: up to about twice the data.
 * Returns 0 if the system does not tell. While data in order waits to be read,
 * the result is too low, because twice its length is subtracted.
 */
uint64_t tcp_path_out_of_order(int fd);

/*
 * Limits the unsent bytes in the kernel (TCP_NOTSENT_LOWAT), so that urgent
 * data does not queue behind bulk data: at that number the socket is not
 * writable any more. The last call counts; on Linux 0 removes the limit, and
 * the system's default applies again (net.ipv4.tcp_notsent_lowat). Returns 0;
 * or -1 with nothing changed if the descriptor is not a TCP socket or the
 * system has no such option.
 */
int	tcp_path_limit_unsent(int fd, uint32_t bytes);

/*
 * Returns 1 if the congestion control does not slow down for losses: BBR, of
 * any version. Returns 0 for any other, and if it is not known.
 */
int	tcp_path_tolerates_loss(int fd);

/*
 * Both functions below return this text for a pipe or a Unix socket. Compare it
 * with strcmp(3).
 */
#define TCP_PATH_NO_TCP	"the connection is no TCP connection"

/* tcp_path_set_rate() returns this text for a connection of MPTCP. */
#define TCP_PATH_MPTCP	"the kernel can only limit TCP, not MPTCP"

/*
 * Selects a congestion control algorithm by name (TCP_CONGESTION). Returns
 * NULL, or the reason why the algorithm did not change, as a clause for a
 * message: TCP_PATH_NO_TCP, that the kernel has no such algorithm or does not
 * allow it to this user, that the system cannot set one, or another error. The
 * text is valid until the next call of strerror(3), which a system may share
 * between threads: use it at once, and do not free it.
 */
const char *tcp_path_set_congestion(int fd, const char *name);

/*
 * Limits the payload sent per second (SO_MAX_PACING_RATE); the last call
 * counts. Returns NULL, or the reason why the limit did not change, as a text
 * like that of tcp_path_set_congestion(). The rate must not be 0, and counts as
 * 2^32 - 2 at most, because every kernel accepts that.
 */
const char *tcp_path_set_rate(int fd, uint64_t bytes_per_second);

#endif /* HAYATE_TCP_PATH_H */
