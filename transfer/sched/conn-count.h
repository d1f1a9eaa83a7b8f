/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * conn-count: how many connections or channels a transfer should have.
 *
 * More connections help where one of them is held back by loss or by a window,
 * and cost a login and the work of a process where it is not. Only a trial
 * tells. A connection begins slowly, so goodput is measured in periods of one
 * second, or four on a slow path, until it no longer rises. Then twice as many
 * are wanted: 2, 4, 8. When they are established, goodput is measured again. If
 * it is less than 30 % higher, twice, the number is halved and no other trial
 * begins. None begins either if the rest takes less than eight seconds: a login
 * and a slow start would cost as much.
 *
 * More channels of one connection help where a channel's window is the limit. A
 * stock server takes 2 MiB in a round trip on one channel, and may send 14 MiB
 * (wtune-hook.c). If what is moved in a round trip comes near that, more
 * channels are wanted: 2, 4, 8, 10 in all. If the bytes of a round trip grow by
 * half each time, the path is in slow start, and as many channels are wanted as
 * it will need when they are open. A server that moves more than the window in
 * a round trip has a larger one, and gets one channel. If the window is ours,
 * that is impossible, so the measured round trip was too long, as each reply
 * may wait behind data. On a path of less than 8 ms the window carries 2 Gbit/s
 * and is no limit.
 *
 * No I/O, no clock, no upstream header, no allocation. Tested alone by
 * regress/unit/conn-count-replay.c.
 */

#ifndef HAYATE_CONN_COUNT_H
#define HAYATE_CONN_COUNT_H

#include <stdint.h>

/* The most connections, with the first; channels have 10 at most */
#define CONN_COUNT_MAX	8

/* Bytes that one channel carries in a round trip, to or from a stock server */
#define CHANNEL_WINDOW_STOCK	(2 * 1024 * 1024) /* to it: its window */
#define CHANNEL_WINDOW_OURS	(14 * 1024 * 1024) /* from it: our window */

/* Bytes: a smaller file, or a smaller rest, is not striped */
#define STRIPE_MIN_FILE	(32 * 1024 * 1024)
#define STRIPE_MIN_REST	(4 * 1024 * 1024)

/*
 * The state for connections, or another one for channels. All 0 is the state
 * before the first transfer.
 */
struct conn_count {
	unsigned int wanted;		/* see conn_count_wanted(); 0: one */

	/* channels: the caller sets the first two, and may read "limited" */
	uint64_t window;	/* of one, bytes; 0: CHANNEL_WINDOW_STOCK */
	int	 window_is_ours;		/* so no channel moves more */
	int	 limited;		/* the window is the limit now */
	int	 never_limited;	/* it is not, and never will be */

	/* private; times are microseconds */
	uint64_t rtt;
	uint64_t since, bytes;		/* of this period; 0: none has begun */
	uint64_t best;			/* bytes in a round trip */
	unsigned int best_conns;	/* channels when "best" was measured */
	int	 beyond;	/* round trips in a row above the window */

	int	 no_more_trials;	/* connections: "wanted" is final */
	unsigned int failed_trials;	/* periods of this trial, up to 2 */
	/* bytes per second: in the period before, and with half as many */
	uint64_t last, base;
};

/* Returns how many connections are wanted now, with the first. */
unsigned int conn_count_wanted(const struct conn_count *);

/*
 * Connections: "bytes" more have been moved at "now", while "has" took part,
 * and "rest" are still to be moved, UINT64_MAX if that is not known.
 */
void	conn_count_moved(struct conn_count *, uint64_t bytes, uint64_t rest,
    unsigned int has, uint64_t now);

/* A transfer begins: the time since the last one does not count. */
void	conn_count_pause(struct conn_count *);

/* A connection was refused: "has" are established, and no more are wanted. */
void	conn_count_refused(struct conn_count *, unsigned int has);

/*
 * Channels: "len" bytes were acknowledged, or received, at "now", which is
 * "age" after they were sent, or requested, while "has" took part. The least
 * age is the RTT.
 */
void	conn_count_acked(struct conn_count *, uint32_t len, uint64_t age,
    uint64_t now, unsigned int has);

/* Returns 0 if the window is known to be no limit. */
int	conn_count_may_be_limited(const struct conn_count *);

#endif /* HAYATE_CONN_COUNT_H */
