/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * stall-stats: where one process of a copy spends its time waiting.
 *
 * ssh, sshd-session, scp or sftp, and sftp-server each keep one struct
 * stall_stats. The counters only grow, so the difference of two readings of one
 * process describes the interval between them: stall_stats_diff(). The two ends
 * of a connection exchange their readings, and bottleneck.h derives the
 * bottleneck of the copy from all of them.
 *
 * Units: microseconds, bytes, bytes per second. No I/O, no clock, no upstream
 * header. Thread safe: no state.
 */

#ifndef HAYATE_STALL_STATS_H
#define HAYATE_STALL_STATS_H

#include <stddef.h>
#include <stdint.h>

/*
 * Index into struct stall_stats. The order is the order on the wire, so a new
 * entry goes to the end; for stall_stats_diff() it is a gauge there.
 *
 * While ssh or sshd-session waits in poll(), the time counts for one of the two
 * states of receiving (WAIT_OUTPUT, WAIT_NET), and for one of the three of
 * sending (WAIT_TCP, WAIT_WINDOW, WAIT_INPUT) until all input has ended and is
 * sent. The rest is time at work. These two processes know no times of files.
 * scp, sftp and sftp-server know STAT_TIME and the times of CPU and files only;
 * those of files are 0 if STAT_WAIT_CPU is not known.
 */
enum stall_stat {
	/* counters: microseconds, unless noted */
	STAT_TIME,		/* elapsed since counting began */
	STAT_WAIT_TCP,		/* socket not writable, data to send */
	STAT_WAIT_WINDOW,	/* peer's window of a channel is 0 */
	STAT_WAIT_INPUT,	/* nothing to send: the source is idle */
	STAT_WAIT_OUTPUT,	/* the consumer takes no received data */
	STAT_WAIT_NET,		/* no received data to pass on */
	STAT_CPU,		/* main thread: user and system time */
	STAT_WAIT_CPU,		/* main thread: runnable, no processor free */
	STAT_FILE_READ,		/* in system calls that read files */
	STAT_FILE_WRITE,	/* in write and close, in scp also in fsync */
	STAT_SAMPLES,		/* number of readings of TCP_INFO */
	STAT_RWND_FULL,		/* samples: the peer's TCP window 85 % full */
	STAT_SNDBUF_FULL,	/* samples: send buffer full, no other limit */
	STAT_SENT,		/* bytes, acknowledged by the peer's TCP */
	STAT_RECEIVED,		/* bytes, in order */
	STAT_SEGMENTS,		/* number sent, retransmissions included */
	STAT_RESENT,		/* number retransmitted */
	STAT_RTT_SUM,		/* of the smoothed RTT of each sample */

	/*
	 * gauges: a present value or a maximum, not a sum. A window that is
	 * used up while it opens is never seen whole, so STAT_PEER_WINDOW is
	 * the most bytes in flight if these are more than the SSH window seen.
	 * STAT_BEST_RATE adds both directions; it is the mean delivery rate of
	 * TCP if that is higher.
	 */
	STAT_MIN_RTT,		/* smallest that the kernel remembers */
	STAT_MSS,		/* bytes of a full segment */
	STAT_TCP_RWND,		/* largest TCP window of the peer, bytes */
	STAT_MAX_RATE,		/* MaxRate, bytes per second; 0: none */
	STAT_OWN_WINDOW,	/* our largest SSH window so far, bytes */
	STAT_PEER_WINDOW,	/* peer's largest so far, bytes */
	STAT_BEST_RATE,		/* of any second so far, bytes per second */
	STAT_LOSS_TOLERANT,	/* 1: congestion control ignores loss */
	STAT_COUNT
};

struct stall_stats {
	uint64_t n[STAT_COUNT];	/* by enum stall_stat; 0 if unknown */
};

/*
 * The side data (ring.h) that ssh leaves in shared memory for the scp or sftp
 * that started it, about ten times a second. Valid for a copy only if "tag" is
 * the tag that scp has set for this copy.
 */
struct stall_stats_note {
	uint64_t tag;			/* number of the copy; 0: none yet */
	uint64_t flags;			/* bits: STALL_STATS_* */
	struct stall_stats local;	/* ssh, since the copy began */
	struct stall_stats remote;	/* sshd's for the copy; if HAS_REMOTE */
};
#define STALL_STATS_HAS_REMOTE	1	/* "remote" is valid */
#define STALL_STATS_HAYATE	2	/* the server is Hayate */
#define STALL_NOTE_WORDS	\
	(sizeof(struct stall_stats_note) / sizeof(uint64_t))

/*
 * Returns what a process did between two of its readings: the counters are
 * subtracted (0 if "from" is larger), the gauges are those of "to".
 */
struct stall_stats stall_stats_diff(const struct stall_stats *from,
    const struct stall_stats *to);

/*
 * Returns 1, or 0 if states that exclude each other (those of sending, of
 * receiving, of the processor, of files) add up to more than 9/8 of the elapsed
 * time. For readings that a peer has sent.
 */
int	stall_stats_are_plausible(const struct stall_stats *);

/*
 * Returns a time as a percentage of STAT_TIME, rounded down and at most 100; 0
 * if the time is 0, else 100 if STAT_TIME is 0.
 */
unsigned int stall_stats_percent(const struct stall_stats *, enum stall_stat);

/*
 * Returns a * b / by, rounded down and without overflow (in floating point), at
 * most 2^56; 0 if "by" is 0.
 */
uint64_t stall_stats_scale(uint64_t a, uint64_t b, uint64_t by);

/* Returns the value of a counter per second of STAT_TIME; 0 if that is 0. */
uint64_t stall_stats_rate(const struct stall_stats *, enum stall_stat);

/* Name of the request for a reading: an SSH global request, or one of SFTP */
#define STALL_STATS_REQUEST	"figures@hayate.invalid"

/*
 * Encodes a reading for the wire: version and number of values (uint32), then
 * each value (uint64), all big endian. A new value does not change the version.
 */
#define STALL_STATS_VERSION	1
#define STALL_STATS_WIRE_LEN	(4 + 4 + 8 * STAT_COUNT)
void	stall_stats_encode(const struct stall_stats *,
    unsigned char out[STALL_STATS_WIRE_LEN]);

/*
 * Decodes a peer's reading. Values that the peer did not send become 0, values
 * above 2^56 become 2^56, and unknown values are skipped. Returns 0; or -1 with
 * all values 0 if the version is unknown, the message is truncated, or it
 * claims to have more than 1000 values. Bytes behind the values are ignored.
 */
int	stall_stats_decode(struct stall_stats *, const unsigned char *,
    size_t len);

#endif /* HAYATE_STALL_STATS_H */
