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
 * The caller reads the fields, changes none, and bounds what is buffered. No
 * I/O, no clock, no upstream header. Not thread safe.
 */

#ifndef HAYATE_EXTENTS_H
#define HAYATE_EXTENTS_H

#include <stdint.h>

enum extent_state {
	EXTENT_UNUSED,		/* inline_extent, while it is not in the list */
	EXTENT_PENDING,		/* to be assigned again */
	EXTENT_IN_FLIGHT,	/* a request for it is in flight */
	EXTENT_BUFFERED			/* its data came early and waits */
};

struct extent {
	struct extent *prev, *next;
	uint64_t off;
	uint32_t len;
	unsigned char *data;		/* EXTENT_BUFFERED: allocated */
	unsigned int conn;		/* EXTENT_IN_FLIGHT: its connection */
	enum extent_state state;
};

struct extents {
	struct extent *first, *last;	/* in the order of their offsets */
	/* the first that is pending, or one before it; NULL: none */
	struct extent *first_pending;
	struct extent inline_extent;	/* used if it is free */
	uint64_t cursor;		/* where the next new one begins */
	uint64_t moved_end;		/* behind the highest byte moved */
	uint64_t end;			/* UINT64_MAX: not known */
	/* extents: all, and by state */
	unsigned int n, nin_flight, npending, nbuffered;
	uint64_t buffered;		/* bytes that wait */
};

/* Initialises the structure: the file is moved from "off" on. */
void	extents_begin(struct extents *, uint64_t off);

/* Frees all extents. extents_begin() may follow. */
void	extents_clear(struct extents *);

/*
 * Assigns an extent to the connection: the first pending one, whatever its
 * length, else a new one of "len" bytes. Returns NULL if out of memory.
 */
struct extent *extents_assign(struct extents *, unsigned int conn,
    uint32_t len);

/*
 * Upload: "len" bytes of the extent were sent, from "off" on, as a hole comes
 * before that. If they are fewer than were assigned, the source ends there. If
 * they are 0, the extent is freed.
 */
void	extents_sent(struct extents *, struct extent *, uint64_t off,
    uint32_t len);

/* The first "len" bytes of the extent are done. The rest is pending. */
void	extents_done(struct extents *, struct extent *, uint32_t len);

/* Nothing of the extent will come, nor anything behind its offset. */
void	extents_fail(struct extents *, struct extent *);

/* Nothing will come from "off" on. */
void	extents_end(struct extents *, uint64_t off);

/*
 * A file that is downloaded is written in order, so it never has a hole,
 * whatever is interrupted, and a copy of it can be resumed. The first "len"
 * bytes of an extent have arrived; the rest of it is pending. Returns 1 if the
 * caller has to write them now, at "off" of the extent, and then calls
 * extents_written(); 0 if a copy of them waits until all before it is written,
 * or they are of no use; -1 if out of memory.
 */
int	extents_data(struct extents *, struct extent *,
    const unsigned char *data, uint32_t len);

/*
 * Returns the first extent if its data waits: write it, and call
 * extents_written(). NULL: there is none.
 */
struct extent *extents_next_buffered(const struct extents *);

/* The first extent was written. If not "ok", nothing behind it will be. */
void	extents_written(struct extents *, int ok);

/* The connection is lost: its extents in flight are pending again. */
void	extents_requeue(struct extents *, unsigned int conn);

/* Returns the offset of the first byte that is not done. */
uint64_t extents_contiguous_end(const struct extents *);

#endif /* HAYATE_EXTENTS_H */
