/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * figures: where one process of a copy waits, in numbers that only grow.
 *
 * ssh, sshd-session, scp or sftp, and sftp-server each keep one. Two readings
 * of the same process make a span: figures_since(). The two ends of a
 * connection tell each other theirs, so the order here is that on the wire. New
 * ones are added at the end. verdict.h says what they mean together.
 *
 * Units: microseconds, bytes, bytes per second. No I/O, no clock, no upstream
 * header.
 */

#ifndef HAYATE_FIGURES_H
#define HAYATE_FIGURES_H

#include <stddef.h>
#include <stdint.h>

enum figure {
	/* sums */
	FIGURE_TIME,		/* since the process counts */
	FIGURE_TCP,		/* it waited to write to the connection */
	FIGURE_WINDOW,		/* it waited for the peer's window */
	FIGURE_INPUT,		/* it had nothing to send */
	FIGURE_OUTPUT,		/* it waited for who takes what it received */
	FIGURE_NET,		/* it had received nothing */
	FIGURE_CPU,		/* it ran */
	FIGURE_QUEUE,		/* it could have run, and had no processor */
	FIGURE_READ,		/* in calls that read a file */
	FIGURE_WRITE,		/* in calls that write, sync and close one */
	FIGURE_SAMPLES,		/* of the kernel's view of the connection */
	FIGURE_AT_WINDOW,	/* so many with the peer's TCP window full */
	FIGURE_AT_BUFFER,	/* with nothing but the send buffer full */
	FIGURE_SENT,		/* bytes that the peer's kernel has */
	FIGURE_RECEIVED,
	FIGURE_SEGMENTS,	/* that were sent */
	FIGURE_RESENT,		/* and sent again */
	FIGURE_RTT_SUM,		/* of the samples */

	/* states: what is, not how much it grew */
	FIGURE_MIN_RTT,
	FIGURE_MSS,
	FIGURE_TCP_WINDOW,	/* of the peer, the largest seen */
	FIGURE_MAX_RATE,	/* that is configured; 0: none */
	FIGURE_OWN_WINDOW,	/* of a channel, the largest offered */
	FIGURE_PEER_WINDOW,	/* of a channel, the largest seen */
	FIGURE_BEST,		/* rate of the path, as far as seen */
	FIGURE_BEARS_LOSS,	/* 1: the congestion control does, as BBR */
	FIGURES
};

struct figures {
	uint64_t n[FIGURES];
};

/*
 * What ssh leaves for the scp or sftp that started it, beside the bytes
 * (ring.h): of the copy that has this mark, at its end and at the server's.
 */
struct figures_note {
	uint64_t mark;
	uint64_t flags;
	struct figures here, there;
};
#define FIGURES_IS_TOLD	1		/* "there" is known */
#define FIGURES_HAYATE	2		/* the server is Hayate */
#define FIGURES_NOTE	(sizeof(struct figures_note) / sizeof(uint64_t))

/* What one process did from one reading to a later one. */
struct figures figures_since(const struct figures *from,
    const struct figures *to);

/*
 * Returns 0 of a span that cannot be: a process does one thing at a time. A
 * peer may tell anything.
 */
int	figures_are_sane(const struct figures *);

/* Percent of its time that a process spent with that; at most 100 */
unsigned int figures_share(const struct figures *, enum figure);

/* a * b / by, bounded; 0 if "by" is 0 */
uint64_t figures_scale(uint64_t a, uint64_t b, uint64_t by);

/* Bytes per second of a sum */
uint64_t figures_rate(const struct figures *, enum figure);

/* The request for it: a global one, or one of SFTP */
#define FIGURES_REQUEST	"figures@hayate.invalid"

/* As it is told: version and number (uint32), and each (uint64) */
#define FIGURES_VERSION	1
#define FIGURES_ROOM	(4 + 4 + 8 * FIGURES)
void	figures_write(const struct figures *, unsigned char out[FIGURES_ROOM]);

/*
 * Reads what a peer has told. What it does not know is 0, what we do not know
 * is passed over. Returns 0, or -1 if it is none or was cut short.
 */
int	figures_read(struct figures *, const unsigned char *, size_t len);

#endif /* HAYATE_FIGURES_H */
