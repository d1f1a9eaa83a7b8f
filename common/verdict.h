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
 * are empty. So each process counts what it waits for (figures.h), and the
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

#ifndef HAYATE_VERDICT_H
#define HAYATE_VERDICT_H

#include <stddef.h>
#include <stdint.h>

#include "figures.h"

enum limit {
	LIMIT_NONE,		/* nothing has half of the time */
	LIMIT_UNTOLD,		/* the path or the peer, which has not told */
	LIMIT_DISK_READ, LIMIT_DISK_WRITE,
	LIMIT_WRITER, LIMIT_READER,	/* who gives or takes the data */
	LIMIT_CPU,
	LIMIT_WINDOW,		/* of SSH */
	LIMIT_REQUESTS,		/* of SFTP, which the user chose */
	LIMIT_PATH, LIMIT_LOSS,
	LIMIT_SEND_BUFFER, LIMIT_RECEIVE_BUFFER,	/* of TCP */
	LIMIT_MAX_RATE
};

/* The spans of one copy; NULL: no such process, or it has not told. */
struct verdict_case {
	int	 is_put;		/* the data goes from here to there */
	int	 is_files;		/* by SFTP: scp or sftp */
	int	 is_peer_hayate;
	uint64_t bytes;
	uint64_t us;
	uint64_t requests;		/* bytes that the user allows; 0: any */
	const struct figures *here, *there;	/* ssh and sshd */
	const struct figures *files_here, *files_there;
};

struct verdict {
	enum limit limit;
	int	 is_there;
	unsigned int share;		/* percent of the time */
	int	 is_files;		/* of cpu: it copies files, no ssh */
	int	 is_queue;		/* of cpu: it waits for one */
	uint64_t amount;		/* bytes of a window; a rate */
	uint64_t min_rtt_us, rtt_us;	/* 0: unknown */
	unsigned int loss_ppm;
};

struct verdict verdict_of(const struct verdict_case *);

/*
 * Whether a connection that carried so many bytes each way is a copy. Where
 * both ways are busy, what an end waits for explains neither.
 */
int	verdict_is_one_way(uint64_t sent, uint64_t received);

/* "disk-read" and so on, for programs */
const char *verdict_name(const struct verdict *);

/*
 * What a user reads: "disk read here (97 % of the time); ADVICE". Returns the
 * length, which is less than VERDICT_TEXT.
 */
#define VERDICT_TEXT	256
size_t	verdict_text(const struct verdict_case *, const struct verdict *,
    char text[VERDICT_TEXT]);

/*
 * The line of a whole copy: "64.0 MiB in 12.8 s, 5.2 MB/s. Limit: TEXT". The
 * verdict may be of one of several connections.
 */
#define VERDICT_LINE	(VERDICT_TEXT + 128)
struct verdict_whole {
	uint64_t bytes, us;
	unsigned int connections;
};
void	verdict_line(const struct verdict_case *, const struct verdict *,
    const struct verdict_whole *, char line[VERDICT_LINE]);

/*
 * Whether a user who did not ask should hear of it: a copy of more than
 * VERDICT_NEWS_US, below half of what the path is known to carry, with a limit
 * that has a name.
 */
#define VERDICT_NEWS_US	10000000
int	verdict_is_news(const struct verdict_case *, const struct verdict *);

#endif /* HAYATE_VERDICT_H */
