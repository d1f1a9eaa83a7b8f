/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * verdict: what limits a copy.
 *
 * Data passes a row of stages: a file is read, a process sends, the path
 * carries, a process receives, a file is written. Each stage that is not the
 * limit waits for one that is. Those before the limit are full, those behind it
 * are empty. So each process counts what it waits for (stall-stats.h), and the
 * limit is named where these waits meet. TCP_INFO only says which part of TCP
 * it is.
 *
 * A wrong name is worse than none. A name needs half of the time and, where
 * other causes look the same, a second sign:
 *
 *   windows    The path has to hold half of the window. If it holds less, a
 *              slow reader keeps the window shut.
 *   loss       The RTT has not grown, so no queue stands on the path, and the
 *              rate is near what loss leaves to Reno. BBR bears losses.
 *   path       A queue stands on it, or the sender is BBR, which wants none.
 *   the peer   What it told has to be of half of the copy, or more.
 *   disks      Time in read() and write() is also time with, or without, a
 *              processor, so that is subtracted.
 *
 * Not used: tcpi_busy_time, which is all of the time at any rate;
 * tcpi_rwnd_limited, which is a quarter of the truth with BBR;
 * tcpi_sndbuf_limited, which stays 0 where a poll waits for the buffer; and
 * tcpi_delivery_rate as the rate of a path.
 *
 * Numbers in, numbers and text out. No I/O, no clock, no upstream header.
 */

#ifndef HAYATE_BOTTLENECK_H
#define HAYATE_BOTTLENECK_H

#include <stddef.h>
#include <stdint.h>

#include "stall-stats.h"

enum bottleneck_cause {
	BOTTLENECK_NONE,		/* nothing has half of the time */
	BOTTLENECK_PATH_OR_PEER,	/* the peer has not reported */
	BOTTLENECK_DISK_READ, BOTTLENECK_DISK_WRITE,
	BOTTLENECK_WRITER, BOTTLENECK_READER, /* who gives or takes the data */
	BOTTLENECK_CPU,
	BOTTLENECK_WINDOW,		/* of SSH */
	BOTTLENECK_REQUESTS,		/* of SFTP, which the user chose */
	BOTTLENECK_PATH, BOTTLENECK_LOSS,
	BOTTLENECK_SEND_BUFFER, BOTTLENECK_RECEIVE_BUFFER,	/* of TCP */
	BOTTLENECK_MAX_RATE
};

/* The spans of one copy; NULL: no such process, or it has not told. */
struct bottleneck_input {
	int	 is_put;		/* the data goes from here to there */
	int	 is_files;		/* by SFTP: scp or sftp */
	int	 is_peer_hayate;
	uint64_t bytes;
	uint64_t us;
	uint64_t requests;		/* bytes that the user allows; 0: any */
	const struct stall_stats *local, *remote;	/* ssh and sshd */
	const struct stall_stats *local_files, *remote_files;
};

struct bottleneck {
	enum bottleneck_cause cause;
	int	 is_remote;
	unsigned int percent;		/* percent of the time */
	int	 is_files;		/* of cpu: it copies files, no ssh */
	int	 lacks_cpu;		/* of cpu: it waits for one */
	uint64_t amount;		/* bytes of a window; a rate */
	uint64_t min_rtt_us, rtt_us;	/* 0: unknown */
	unsigned int loss_ppm;
};

struct bottleneck bottleneck_find(const struct bottleneck_input *);

/*
 * Whether a connection that carried so many bytes each way is a copy. Where
 * both ways are busy, what an end waits for explains neither.
 */
int	bottleneck_is_one_way(uint64_t sent, uint64_t received);

/* "disk-read" and so on, for programs */
const char *bottleneck_name(const struct bottleneck *);

/*
 * What a user reads: "disk read here (97 % of the time); ADVICE". Returns the
 * length, which is less than BOTTLENECK_TEXT.
 */
#define BOTTLENECK_TEXT	256
size_t	bottleneck_describe(const struct bottleneck_input *,
    const struct bottleneck *, char text[BOTTLENECK_TEXT]);

/*
 * The line of a whole copy: "64.0 MiB in 12.8 s, 5.2 MB/s. Limit: TEXT". The
 * verdict may be of one of several connections.
 */
#define BOTTLENECK_LINE	(BOTTLENECK_TEXT + 128)
struct bottleneck_totals {
	uint64_t bytes, us;
	unsigned int connections;
};
void	bottleneck_summarise(const struct bottleneck_input *,
    const struct bottleneck *, const struct bottleneck_totals *,
    char line[BOTTLENECK_LINE]);

/*
 * Whether a user who did not ask should hear of it: a copy of more than
 * BOTTLENECK_NOTABLE_US, below half of what the path is known to carry, with a
 * limit that has a name.
 */
#define BOTTLENECK_NOTABLE_US	10000000
int	bottleneck_is_notable(const struct bottleneck_input *,
    const struct bottleneck *);

#endif /* HAYATE_BOTTLENECK_H */
