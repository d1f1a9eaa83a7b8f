/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * figures: where one process of a copy waits, in numbers that only grow.
 *
 * ssh, sshd-session, scp or sftp, and sftp-server each keep one. Two readings
 * of the same process make a interval: stall_stats_diff(). The two ends of a
 * connection tell each other theirs, so the order here is that on the wire. New
 * ones are added at the end. bottleneck.h says what they mean together.
 *
 * Units: microseconds, bytes, bytes per second. No I/O, no clock, no upstream
 * header.
 */

#ifndef HAYATE_STALL_STATS_H
#define HAYATE_STALL_STATS_H

#include <stddef.h>
#include <stdint.h>

enum stall_stat {
	/* sums */
	STAT_TIME,		/* since the process counts */
	STAT_WAIT_TCP,		/* it waited to write to the connection */
	STAT_WAIT_WINDOW,		/* it waited for the peer's window */
	STAT_WAIT_INPUT,		/* it had nothing to send */
	STAT_WAIT_OUTPUT,	/* it waited for who takes what it received */
	STAT_WAIT_NET,		/* it had received nothing */
	STAT_CPU,		/* it ran */
	STAT_WAIT_CPU,		/* it could have run, and had no processor */
	STAT_FILE_READ,		/* in calls that read a file */
	STAT_FILE_WRITE,	/* in calls that write, sync and close one */
	STAT_SAMPLES,		/* of the kernel's view of the connection */
	STAT_RWND_FULL,	/* so many with the peer's TCP window full */
	STAT_SNDBUF_FULL,	/* with nothing but the send buffer full */
	STAT_SENT,		/* bytes that the peer's kernel has */
	STAT_RECEIVED,
	STAT_SEGMENTS,	/* that were sent */
	STAT_RESENT,		/* and sent again */
	STAT_RTT_SUM,		/* of the samples */

	/* states: what is, not how much it grew */
	STAT_MIN_RTT,
	STAT_MSS,
	STAT_TCP_RWND,	/* of the peer, the largest seen */
	STAT_MAX_RATE,	/* that is configured; 0: none */
	STAT_OWN_WINDOW,	/* of a channel, the largest offered */
	STAT_PEER_WINDOW,	/* of a channel, the largest seen */
	STAT_BEST_RATE,		/* rate of the path, as far as seen */
	STAT_LOSS_TOLERANT,	/* 1: the congestion control does, as BBR */
	STAT_COUNT
};

struct stall_stats {
	uint64_t n[STAT_COUNT];
};

/*
 * What ssh leaves for the scp or sftp that started it, beside the bytes
 * (ring.h): of the copy that has this mark, at its end and at the server's.
 */
struct stall_stats_note {
	uint64_t tag;
	uint64_t flags;
	struct stall_stats local, remote;
};
#define STALL_STATS_HAS_REMOTE	1		/* "there" is known */
#define STALL_STATS_HAYATE	2		/* the server is Hayate */
#define STALL_NOTE_WORDS	\
	(sizeof(struct stall_stats_note) / sizeof(uint64_t))

/* What one process did from one reading to a later one. */
struct stall_stats stall_stats_diff(const struct stall_stats *from,
    const struct stall_stats *to);

/*
 * Returns 0 of a interval that cannot be: a process does one thing at a time. A
 * peer may tell anything.
 */
int	stall_stats_are_plausible(const struct stall_stats *);

/* Percent of its time that a process spent with that; at most 100 */
unsigned int stall_stats_percent(const struct stall_stats *, enum stall_stat);

/* a * b / by, bounded; 0 if "by" is 0 */
uint64_t stall_stats_scale(uint64_t a, uint64_t b, uint64_t by);

/* Bytes per second of a sum */
uint64_t stall_stats_rate(const struct stall_stats *, enum stall_stat);

/* The request for it: a global one, or one of SFTP */
#define STALL_STATS_REQUEST	"figures@hayate.invalid"

/* As it is told: version and number (uint32), and each (uint64) */
#define STALL_STATS_VERSION	1
#define STALL_STATS_WIRE_LEN	(4 + 4 + 8 * STAT_COUNT)
void	stall_stats_encode(const struct stall_stats *,
    unsigned char out[STALL_STATS_WIRE_LEN]);

/*
 * Reads what a peer has told. What it does not know is 0, what we do not know
 * is passed over. Returns 0, or -1 if it is none or was cut short.
 */
int	stall_stats_decode(struct stall_stats *, const unsigned char *,
    size_t len);

#endif /* HAYATE_STALL_STATS_H */
