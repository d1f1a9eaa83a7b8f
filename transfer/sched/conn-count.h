/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * conn-count: how many connections or channels a transfer should have.
 *
 * More connections help where one of them is held back by loss or by a window,
 * and cost a login and the work of a process where it is not. Only a trial
 * tells. The goodput of a second, of four on a slow path, is compared with that
 * of the time before, until it no longer rises, because a connection begins
 * slowly. Then twice as many are wanted: 2, 4, 8. When they are there, the same
 * is done again. If this gave less than 30 % more, twice, there will be no more
 * trial, and what follows has as many as before. No trial begins where the rest
 * takes only a few seconds: a login and a slow start would cost as much.
 *
 * More channels of one connection help where a channel's window is the limit. A
 * stock server takes 2 MiB in a round trip on one channel, and may send 14 MiB
 * (wtune-hook.c). If what is moved in a round trip comes near that, more
 * channels are wanted: 2, 4, 8, 10 in all. A path that grows twofold in each
 * round trip is in slow start, so as many are wanted as it will need when they
 * are there. A server that moves more in a round trip has another window, and
 * gets one channel. If the window is ours, there is no other one, and the round
 * trip was seen too long: each reply may wait behind data. On a path of less
 * than 8 ms the window carries 2 Gbit/s and is no limit.
 *
 * No I/O, no clock, no upstream header, no allocation. Tested alone by
 * regress/unit/conn-count-replay.c.
 */

#ifndef HAYATE_CONN_COUNT_H
#define HAYATE_CONN_COUNT_H

#include <stdint.h>

#define CONN_COUNT_MAX	8		/* connections, with the first */

/* Bytes that one channel carries in a round trip: to a stock server, from it */
#define CHANNEL_WINDOW_STOCK	(2 * 1024 * 1024)
#define CHANNEL_WINDOW_OURS	(14 * 1024 * 1024)

/*
 * A smaller file, or rest of a file, is not worth more channels, nor one more
 * connection: bytes
 */
#define STRIPE_MIN_FILE	(32 * 1024 * 1024)
#define STRIPE_MIN_REST	(4 * 1024 * 1024)

/*
 * Which of the two it decides on is told by which function is called. All 0 is
 * the state before the first transfer.
 */
struct conn_count {
	unsigned int wanted;		/* see conn_count_wanted(); 0: one */

	/* channels */
	uint64_t window;	/* of one, bytes; 0: CHANNEL_WINDOW_STOCK */
	int	 window_is_ours;		/* so no channel moves more */
	int	 limited;		/* the window is the limit now */
	int	 never_limited;	/* it is not, and never will be */

	/* private; times are microseconds */
	uint64_t rtt;
	uint64_t since, bytes;		/* of this period; 0: none has begun */
	uint64_t best;			/* bytes in a round trip */
	unsigned int best_conns;	/* so many when "best" was measured */
	int	 beyond;

	int	 no_more_trials;	/* no more trials */
	unsigned int failed_trials;	/* this one brought too little so far */
	uint64_t last, base;		/* goodput: before, with fewer */
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

/* A connection was refused: those that are there remain. */
void	conn_count_refused(struct conn_count *, unsigned int has);

/*
 * Channels: "len" bytes were acknowledged at "now", "age" after they were sent,
 * or came so long after they were asked for, while "has" took part. The least
 * age is the RTT.
 */
void	conn_count_acked(struct conn_count *, uint32_t len, uint64_t age,
    uint64_t now, unsigned int has);

/* Returns 0 if the window is known to be no limit. */
int	conn_count_may_be_limited(const struct conn_count *);

#endif /* HAYATE_CONN_COUNT_H */
