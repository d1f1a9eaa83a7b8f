/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * bottleneck: finds the one thing that limits the rate of a copy.
 *
 * Data passes a row of stages: a file is read, a process sends, the path
 * carries, a process receives, a file is written. Every stage but the slowest
 * waits for it: buffers before it are full, buffers behind it are empty. So
 * each process counts what it waits for (stall-stats.h), and the bottleneck is
 * where these waits meet. TCP_INFO only tells which part of TCP it is.
 *
 * A wrong answer is worse than none. A cause needs half of the elapsed time (a
 * processor 85 %; a reader that keeps a window shut 30 %) and, where other
 * causes look the same, a second sign:
 *
 *   windows    The rate times the RTT has to be half of the window, or 80 % of
 *              the requests in flight, or of our own window if the peer has not
 *              reported. If not, a slow reader keeps the window shut. If the
 *              RTT has grown, the window holds more than the path, which
 *              limits.
 *   loss       The RTT has not grown, so there is no queue on the path, and the
 *              rate is near what loss leaves to Reno. BBR tolerates losses.
 *   path       There is a queue on it, or the sender is BBR, which avoids one.
 *   the peer   The elapsed time of its stall_stats has to be half of the copy.
 *   disks      Time in read() and write() includes time on, or waiting for, a
 *              processor, so that is subtracted.
 *   MaxRate    The rate of the sender has to be 80 % of it.
 *
 * The first that is found counts: disks, processors, readers, then whatever the
 * sender waits for, then the receiver if the peer has not reported.
 *
 * Not used: tcpi_busy_time, which is all of the time at any rate;
 * tcpi_rwnd_limited, which is a quarter of the truth with BBR;
 * tcpi_sndbuf_limited, which stays 0 where a poll waits for the buffer (see
 * STAT_SNDBUF_FULL); and tcpi_delivery_rate as the rate of a path.
 *
 * Numbers in, numbers and text out. No I/O, no clock, no state, no upstream
 * header.
 */

#ifndef HAYATE_BOTTLENECK_H
#define HAYATE_BOTTLENECK_H

#include <stddef.h>
#include <stdint.h>

#include "stall-stats.h"

enum bottleneck_cause {
	BOTTLENECK_NONE,		/* no single cause was found */
	BOTTLENECK_PATH_OR_PEER,	/* too little is known to say which */
	BOTTLENECK_DISK_READ,		/* reading the source files */
	BOTTLENECK_DISK_WRITE,		/* writing the target files */
	BOTTLENECK_WRITER,		/* the program that supplies the data */
	BOTTLENECK_READER,		/* the program that consumes it */
	BOTTLENECK_CPU,			/* a process runs, or waits to run */
	BOTTLENECK_WINDOW,		/* of an SSH channel, the receiver's */
	BOTTLENECK_REQUESTS,		/* SFTP in flight: -R, -B, -X */
	BOTTLENECK_PATH,		/* its capacity */
	BOTTLENECK_LOSS,		/* lost packets slow TCP down */
	BOTTLENECK_SEND_BUFFER,		/* of TCP, at the sender */
	BOTTLENECK_RECEIVE_BUFFER,	/* of TCP, at the receiver */
	BOTTLENECK_MAX_RATE		/* the sender's keyword MaxRate */
};

/*
 * One copy, or one connection. Each reading covers the time of the copy
 * (stall_stats_diff()) and belongs to the caller; it is NULL if there is no
 * such process, or if it has not reported. For its own log sshd-session is the
 * local end.
 */
struct bottleneck_input {
	int	 is_put;		/* 1: upload; 0: download */
	int	 is_files;		/* 1: by SFTP; 0: any other session */
	int	 is_peer_hayate;	/* for the advice alone */
	uint64_t bytes;			/* moved in the direction of the copy */
	uint64_t us;			/* duration of the copy */
	uint64_t requests;		/* bytes, by -R, -B, -X; 0: no limit */
	const struct stall_stats *local, *remote;	/* ssh, sshd-session */
	const struct stall_stats *local_files;		/* scp or sftp */
	const struct stall_stats *remote_files;		/* sftp-server */
};

struct bottleneck {
	enum bottleneck_cause cause;
	int	 is_remote;		/* 1: remote end; unused: PATH*, LOSS */
	unsigned int percent;		/* of the time or samples; NONE: 0 */
	int	 is_files;		/* CPU: of scp, sftp or sftp-server */
	int	 lacks_cpu;		/* CPU: mostly waits for a processor */
	uint64_t amount;		/* sizes: bytes; MaxRate: bytes/s; 0 */
	uint64_t min_rtt_us, rtt_us;	/* least and mean; 0: unknown */
	unsigned int loss_ppm;		/* resent segments per million; or 0 */
};

/*
 * Returns the bottleneck: BOTTLENECK_NONE for a copy of less than 0.7 s or 512
 * KiB. A reading of the peer is ignored if it is implausible or covers less
 * than half of the time. RTT and loss are set for every cause: from the end
 * that sends or, if that has not reported, from the local one, which sees
 * hardly any loss.
 */
struct bottleneck bottleneck_find(const struct bottleneck_input *);

/*
 * Returns 1 if a connection that carried these bytes each way can be analysed
 * as a copy: one direction has less than a quarter of the other. Returns 0
 * otherwise, and if nothing was carried: the waits of a connection that is busy
 * both ways explain neither direction.
 */
int	bottleneck_is_one_way(uint64_t sent, uint64_t received);

/*
 * Returns the cause as a constant word for programs: "disk-read", "window",
 * "none" and so on.
 */
const char *bottleneck_name(const struct bottleneck *);

/*
 * Writes the sentence for the user: "disk read here (97 % of the time);
 * ADVICE", without the advice if there is none. The remote end is always called
 * the server. BOTTLENECK_NONE is "no single cause". A longer text is truncated;
 * the NUL is within BOTTLENECK_TEXT bytes. Returns the length without it.
 */
#define BOTTLENECK_TEXT	256
size_t	bottleneck_describe(const struct bottleneck_input *,
    const struct bottleneck *, char text[BOTTLENECK_TEXT]);

/*
 * Writes the line for a whole copy: "64.0 MiB in 12.8 s, 5.2 MB/s. Limit: " and
 * that sentence. With several connections the caller passes the input and the
 * bottleneck of the first one, and the line says so. A duration of 0 gives 0
 * MB/s.
 */
#define BOTTLENECK_LINE	(BOTTLENECK_TEXT + 128)
struct bottleneck_totals {
	uint64_t bytes, us;		/* sum of connections; duration */
	unsigned int connections;	/* 0 counts as 1 */
};
void	bottleneck_summarise(const struct bottleneck_input *,
    const struct bottleneck *, const struct bottleneck_totals *,
    char line[BOTTLENECK_LINE]);

/*
 * Returns 1 if the user should see the line without asking for it: the copy
 * took more than BOTTLENECK_NOTABLE_US (10 s), its rate was below half of the
 * sender's STAT_BEST_RATE (or ours, if the sender has not reported), and the
 * cause is neither NONE nor PATH_OR_PEER. Returns 0 if neither end has a
 * reading.
 */
#define BOTTLENECK_NOTABLE_US	10000000
int	bottleneck_is_notable(const struct bottleneck_input *,
    const struct bottleneck *);

#endif /* HAYATE_BOTTLENECK_H */
