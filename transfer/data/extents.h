/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * extents: the bytes of one file that are still to be moved.
 *
 * Each READ or WRITE moves one extent. New extents are assigned from the cursor
 * on, without a gap. An extent that is done leaves the list, so a gap in the
 * list is done as well: its bytes were moved, or are a hole that is not sent.
 * An extent that came short, or whose connection was lost, is pending, and is
 * assigned again before a new one.
 *
 * The contiguous end is the first byte that is not done. "end" is the lowest
 * byte that will not come, because the file ends there or because of an error:
 * the contiguous end does not pass it, and what is behind it and not in flight
 * is forgotten.
 *
 * The first extent needs no memory of its own, so a small file allocates none.
 * The caller reads the fields and changes none. No I/O, no clock, no upstream
 * header. Not thread safe.
 */

#ifndef HAYATE_EXTENTS_H
#define HAYATE_EXTENTS_H

#include <stdint.h>

enum extent_state {
	EXTENT_UNUSED,		/* only of "own" */
	EXTENT_PENDING,		/* nobody moves it */
	EXTENT_IN_FLIGHT,	/* a request for it is in flight */
	EXTENT_BUFFERED			/* its data came early and waits */
};

struct extent {
	struct extent *prev, *next;
	uint64_t off;
	uint32_t len;
	unsigned char *data;		/* of one that is kept */
	unsigned int conn;		/* of one that is away */
	enum extent_state state;
};

struct extents {
	struct extent *first, *last;	/* in the order of their offsets */
	struct extent *first_pending;	/* no earlier one is pending */
	struct extent inline_extent;
	uint64_t cursor;		/* where the next new one begins */
	uint64_t moved_end;		/* behind the highest byte moved */
	uint64_t end;			/* UINT64_MAX: not known */
	/* extents: all, and by state */
	unsigned int n, nin_flight, npending, nbuffered;
	uint64_t buffered;			/* bytes */
};

/* The file is moved from "off" on. */
void	extents_begin(struct extents *, uint64_t off);

/* Forgets all extents. extents_begin() may follow. */
void	extents_clear(struct extents *);

/*
 * Deals an extent to the connection: the first pending one, else a new one of
 * "len" bytes. Returns NULL if out of memory.
 */
struct extent *extents_assign(struct extents *, unsigned int conn,
    uint32_t len);

/*
 * Of a file that is uploaded: the extent was sent from "off" on, because what
 * lies before that is a hole, and has "len" bytes. With fewer than were
 * assigned the source ends there, and with 0 the extent is no more.
 */
void	extents_sent(struct extents *, struct extent *, uint64_t off,
    uint32_t len);

/* The first "len" bytes of the extent are done. The rest is pending. */
void	extents_done(struct extents *, struct extent *, uint32_t len);

/*
 * The first "len" bytes of the extent are kept until it is the first one.
 * "data" is allocated, or NULL, and freed with the extent. The rest is pending.
 * Returns 0, or -1 if out of memory: "data" is the caller's then.
 */
int	extents_buffer(struct extents *, struct extent *, unsigned char *data,
    uint32_t len);

/*
 * Likewise, with a copy of "data", which becomes one buffer with that of the
 * extent before it, which must be buffered: returns 0, or -1 if out of memory.
 */
int extents_append(struct extents *, struct extent *, const unsigned char *data,
    uint32_t len);

/* Nothing of the extent will come. */
void	extents_fail(struct extents *, struct extent *);

/* Nothing will come from "off" on. */
void	extents_end(struct extents *, uint64_t off);

/* The connection is lost. */
void	extents_requeue(struct extents *, unsigned int conn);

/* The first byte that is not done */
uint64_t extents_contiguous_end(const struct extents *);

#endif /* HAYATE_EXTENTS_H */
