/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * wtune: how large a window the path, the reader and the memory deserve.
 *
 * A peer may have one window in flight per round trip. Stock OpenSSH always
 * offers 2 MiB, which caps 100 ms at 20 MB/s. wtune reads a struct bdp and
 * answers by how many bytes to move the window:
 *
 *   grow      to gain * BDP, by the best RTT known. Where no RTT is known to
 *             be the path's, it grows and sees whether that helps (a trial):
 *             if the age of credit (bdp.h) stays the same, the window is
 *             what limits. With loss, the BDP includes the bytes that wait
 *             behind lost ones.
 *   hold      at a ceiling, while the reader lags, or when more growth would
 *             bring nothing. Where more would wait in a queue of the path, at
 *             1.25 * BDP (standing-queue.h).
 *   withdraw  after a trial that made credits older and nothing faster, or that
 *             a stall spoilt; when the path has held far less than the window
 *             for 2 s; when data moves again after idling for 10 s. While the
 *             reader lags, all above 1.25 BDP is withdrawn. SSH cannot take
 *             credit back; the caller withholds adjusts.
 *
 * The window goes below the floor, which is the window the channel had, only
 * where more would wait in a queue.
 *
 * Memory. Credit cannot be called back from a peer that is silent, so no tuner
 * takes all that is free. A window may have its floor, and half of the memory
 * that this floor and the other windows leave. If N bytes are free, and the
 * window is already G bytes above the floor, it may grow by (N - G) / 2 bytes,
 * or not at all if G is N or more. In 256 MiB, with a floor of 2 MiB and a
 * ceiling of 64, four channels that grow one after the other get 64, 64, 64 and
 * 2 + (64 - 2) / 2 = 33 MiB; a fifth still gets 2 + (31 - 2) / 2 = 16.5 MiB. An
 * idle channel keeps its window, because the tuner is asked only when data
 * moves.
 *
 * SFTP's requests in flight are a window as well, and use the same tuner.
 *
 * Units: bytes, microseconds. No I/O, no clock, no upstream header. Not thread
 * safe.
 */

#ifndef HAYATE_WTUNE_H
#define HAYATE_WTUNE_H

#include <stdint.h>

#include "bdp.h"

struct wtune;			/* private to wtune.c */

/* Copied by wtune_new(). Without a ceiling above it, a window never grows. */
struct wtune_conf {
	uint64_t floor;		/* smallest window, but for a queue; not 0 */
	uint64_t ceiling;	/* largest window, bytes */
	uint32_t gain_quarters;	/* window / BDP, in quarters: 8 is twice */
	int	 whole_path;	/* 1: no jump host hides behind the socket */
	int	 avoid_queue;	/* 1: held where more would only queue */
};

/* The caller's view at one moment; bytes, but for the time */
struct wtune_now {
	uint64_t now_us;	/* monotonic clock */
	uint64_t window;	/* its size, with all changes made so far */
	uint64_t consumed;	/* position in the stream: consumed so far */
	uint64_t backlog;	/* arrived, not yet consumed */
	uint64_t free;		/* of the memory for windows, in no window */
};

/*
 * The reason of the last change, or why there was none. The ceiling and the
 * memory are reasons only if a larger window was wanted. The reader is one if
 * it lags, or if its backlog was large when a larger window was wanted. Two of
 * the reasons to hold can also be reasons to withdraw.
 */
enum wtune_why {
	WTUNE_QUIET,		/* nothing was decided yet */
	WTUNE_GROW_BDP,		/* rate * RTT needs a larger window */
	WTUNE_GROW_EDGE,	/* a trial: does a larger window help? */
	WTUNE_HOLD_READER,	/* the local reader lags; may withdraw */
	WTUNE_HOLD_PATH,	/* a trial ended; withdraws if it failed */
	WTUNE_HOLD_CEILING,	/* conf.ceiling is reached */
	WTUNE_HOLD_QUEUE,	/* more would only wait on the path */
	WTUNE_HOLD_MEMORY,	/* its share of the memory is used up */
	WTUNE_WITHDRAW_PATH,	/* the path has held far less for 2 s */
	WTUNE_WITHDRAW_PAUSE,	/* a stall (bdp.h) spoilt a trial */
	WTUNE_WITHDRAW_IDLE	/* no data for 10 s */
};

/*
 * Returns a tuner in state WTUNE_QUIET; NULL if out of memory: the channel then
 * keeps its stock window. Free it with wtune_free().
 */
struct wtune *wtune_new(const struct wtune_conf *);

/* Accepts NULL. */
void	 wtune_free(struct wtune *);

/*
 * Returns how many bytes to add to the window (> 0), to withhold from it (< 0,
 * as far as the caller can), or 0. The caller changes the window and reports
 * its new size in the next call; a withdrawal that it could not complete is
 * asked for again. Call it after each bdp_consumed(). When the window grows, do
 * not call bdp_granted(), not even for other credit in the same message: its
 * first byte still belongs to the old window.
 *
 * Changes the struct bdp. It ends rounds of ages. It forgets credits if the
 * window grows or, for another reason than the reader, shrinks. It sets the
 * in-band RTT that a trial has shown. While the reader lags, it forgets the
 * bytes out of order. If the last call was 10 s ago or more, it forgets the
 * rates, the in-band RTT and all trials.
 */
int64_t	 wtune_decide(struct wtune *, struct bdp *, const struct wtune_now *);

/*
 * wtune_why() returns the last reason, which a decision that changes nothing
 * may leave as it was. wtune_why_text() returns a reason as a constant text for
 * the log.
 */
enum wtune_why	 wtune_why(const struct wtune *);
const char	*wtune_why_text(enum wtune_why);

#endif /* HAYATE_WTUNE_H */
