/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * ranges: the bytes of one file that are still to be moved.
 *
 * Each READ or WRITE moves one range. New ranges are dealt from the cursor on,
 * without a gap. A range that is done leaves the list, so a gap in the list is
 * done as well: its bytes were moved, or are a hole that is not sent. A range
 * that came short, or whose link was lost, is loose, and is dealt again before
 * a new one.
 *
 * The frontier is the first byte that is not done. "end" is the lowest byte
 * that will not come, because the file ends there or because of an error: the
 * frontier does not pass it, and what is behind it and not under way is
 * forgotten.
 *
 * The first range needs no memory of its own, so a small file allocates none.
 * The caller reads the fields and changes none. No I/O, no clock, no upstream
 * header. Not thread safe.
 */

#ifndef HAYATE_RANGES_H
#define HAYATE_RANGES_H

#include <stdint.h>

enum range_state {
	RANGE_UNUSED,			/* only of "own" */
	RANGE_LOOSE,			/* nobody moves it */
	RANGE_AWAY,			/* a request for it is under way */
	RANGE_KEPT			/* its data came early and waits */
};

struct range {
	struct range *prev, *next;
	uint64_t off;
	uint32_t len;
	unsigned char *data;		/* of one that is kept */
	unsigned int link;		/* of one that is away */
	enum range_state state;
};

struct ranges {
	struct range *first, *last;	/* in the order of their offsets */
	struct range *loose;		/* none before it is loose */
	struct range own;
	uint64_t cursor;		/* where the next new one begins */
	uint64_t high;			/* behind the highest byte moved */
	uint64_t end;			/* UINT64_MAX: not known */
	unsigned int n, naway, nloose, nkept;	/* ranges: all, and by state */
	uint64_t kept;			/* bytes */
};

/* The file is moved from "off" on. */
void	ranges_begin(struct ranges *, uint64_t off);

/* Forgets all ranges. ranges_begin() may follow. */
void	ranges_clear(struct ranges *);

/*
 * Deals a range to the link: the first loose one, else a new one of "len"
 * bytes. Returns NULL if out of memory.
 */
struct range *ranges_deal(struct ranges *, unsigned int link, uint32_t len);

/*
 * Of a file that is put: the range was sent from "off" on, because what lies
 * before that is a hole, and has "len" bytes. With fewer than were dealt the
 * source ends there, and with 0 the range is no more.
 */
void	ranges_sent(struct ranges *, struct range *, uint64_t off,
    uint32_t len);

/* The first "len" bytes of the range are done. The rest is loose. */
void	ranges_done(struct ranges *, struct range *, uint32_t len);

/*
 * The first "len" bytes of the range are kept until it is the first one. "data"
 * is allocated, or NULL, and freed with the range. The rest is loose. Returns
 * 0, or -1 if out of memory: "data" is the caller's then.
 */
int	ranges_keep(struct ranges *, struct range *, unsigned char *data,
    uint32_t len);

/*
 * Likewise, with a copy of "data", in one piece with the range before it, which
 * is kept: returns 0, or -1 if out of memory.
 */
int	ranges_join(struct ranges *, struct range *, const unsigned char *data,
    uint32_t len);

/* Nothing of the range will come. */
void	ranges_miss(struct ranges *, struct range *);

/* Nothing will come from "off" on. */
void	ranges_end(struct ranges *, uint64_t off);

/* The link is lost. */
void	ranges_loosen(struct ranges *, unsigned int link);

/* The first byte that is not done */
uint64_t ranges_frontier(const struct ranges *);

#endif /* HAYATE_RANGES_H */
