/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * width: how many connections a transfer should have.
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
 * No I/O, no clock, no upstream header, no allocation.
 * regress/unit/width-replay.c drives it alone.
 */

#ifndef HAYATE_WIDTH_H
#define HAYATE_WIDTH_H

#include <stdint.h>

#define WIDTH_MOST	8

/* Private to width.c; all 0 is the state before the first transfer. */
struct width {
	unsigned int want;		/* connections; 0: not begun */
	int	 is_settled;		/* no more trials */
	unsigned int doubts;		/* this one brought too little so far */
	uint64_t since, bytes;		/* of this second; 0: none has begun */
	uint64_t last, base;		/* goodput: before, with fewer */
};

/* Returns how many connections are wanted now: 1 to WIDTH_MOST. */
unsigned int width_want(const struct width *);

/*
 * "bytes" more have been moved at "now", in microseconds, while "has"
 * connections took part, and "rest" are still to be moved, UINT64_MAX if that
 * is not known.
 */
void	width_count(struct width *, uint64_t bytes, uint64_t rest,
    unsigned int has, uint64_t now);

/* A transfer begins: the time since the last one does not count. */
void	width_pause(struct width *);

/* A connection was refused: those that are there remain. */
void	width_refused(struct width *, unsigned int has);

#endif /* HAYATE_WIDTH_H */
