/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * wtune: how large a window the path, the reader and the memory deserve.
 *
 * A peer may have one window under way per round trip. Stock OpenSSH always
 * offers 2 MiB, which caps 100 ms at 20 MB/s. wtune reads a struct bdp and
 * answers by how many bytes to move the window:
 *
 *   grow      to gain * BDP, by the best RTT known. Where no RTT is known to
 *             be the path's, it grows and sees whether that helps: as long as
 *             the age of a credit stays what it was, the window is what
 *             limits. With loss, what waits behind lost bytes counts like
 *             the BDP.
 *   hold      while the reader lags, at a ceiling, or when the last growth
 *             made credits older and nothing faster.
 *   withdraw  when the path has held far less than the window for a while,
 *             or after idling. SSH cannot take credit back; the caller
 *             withholds adjusts.
 *
 * It never goes below the floor, which is the window the channel had.
 *
 * Memory. Credit cannot be called back from a peer that is silent, so no
 * tuner takes all that is free. One may grow by half of what the others
 * leave: with N bytes free and G bytes grown already, by (N - G) / 2 more.
 * In 256 MiB four channels of 64 MiB hold 64, 64, 64 and 33 MiB, and may
 * keep them while they idle; a fifth still gets 16.5 MiB, a sixth 8.25.
 *
 * SFTP's requests in flight are a window as well, and use the same tuner.
 *
 * Units: bytes, microseconds. No I/O, no clock, no upstream header.
 * Not thread safe.
 */

#ifndef HAYATE_WTUNE_H
#define HAYATE_WTUNE_H

#include <stdint.h>

#include "bdp.h"

struct wtune;			/* private to wtune.c */

struct wtune_conf {
	uint64_t floor;		/* least, bytes, not 0: the stock window */
	uint64_t ceiling;	/* most, bytes */
	uint32_t gain_quarters;	/* window over BDP, in quarters: 8 is twice */
	int	 whole_path;	/* the transport's RTT is that of the path */
};

/* What the caller sees at one moment. */
struct wtune_now {
	uint64_t now_us;
	uint64_t window;	/* as the peer knows it */
	uint64_t consumed;	/* position in the stream */
	uint64_t backlog;	/* arrived, not yet consumed */
	uint64_t free;		/* memory for windows that no channel has */
};

enum wtune_why {
	WTUNE_QUIET,		/* nothing to say yet */
	WTUNE_GROW_BDP,		/* rate * RTT needs it */
	WTUNE_GROW_EDGE,	/* credits are used as soon as they arrive */
	WTUNE_HOLD_READER,	/* the local reader lags */
	WTUNE_HOLD_PATH,	/* more window brings nothing */
	WTUNE_HOLD_CEILING,
	WTUNE_HOLD_MEMORY,
	WTUNE_WITHDRAW_PATH,
	WTUNE_WITHDRAW_PAUSE,	/* no answer to a question */
	WTUNE_WITHDRAW_IDLE
};

/* Returns NULL if out of memory; the channel then keeps its stock window. */
struct wtune *wtune_new(const struct wtune_conf *);

/* Accepts NULL. */
void	 wtune_free(struct wtune *);

/*
 * How many bytes to add to the window (> 0), to withhold from it (< 0, as
 * far as the caller can), or 0. Call after each bdp_consumed().
 */
int64_t	 wtune_decide(struct wtune *, struct bdp *, const struct wtune_now *);

/* The reason of the last decision, and its words for the log. */
enum wtune_why	 wtune_why(const struct wtune *);
const char	*wtune_why_text(enum wtune_why);

#endif /* HAYATE_WTUNE_H */
