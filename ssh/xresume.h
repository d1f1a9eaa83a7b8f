/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * xresume: where the copy of a file goes on whose target is there already.
 *
 * What is there is compared with the source as far as both go, in blocks, by
 * hashes that the server tells. The copy goes on behind the last block that is
 * equal before the first that is not. A file whose blocks are all equal is
 * complete, and so is one whose size and time are equal if times are preserved,
 * because a time is set when all bytes are written.
 *
 * A server without hashes cannot be asked cheaply. Then the end of what is
 * there is read back. If it is equal, the copy goes on behind it, and the
 * caller says that the rest was not verified; if not, or if the source has
 * changed since the target was written, it starts again.
 *
 * The caller does what xresume_next() says and tells the result, until that is
 * XRESUME_COPY or XRESUME_DONE. No upstream header, no I/O, no allocation.
 * Called by xresume-hook.c.
 */

#ifndef HAYATE_XRESUME_H
#define HAYATE_XRESUME_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of one hash, of a block, of one request, and that are read back */
#define XRESUME_HASH_LEN	32
#define XRESUME_BLOCK		(8 * 1024 * 1024)
#define XRESUME_RANGE		(8 * (uint64_t)XRESUME_BLOCK)
#define XRESUME_TAIL		(1024 * 1024)

struct xresume_conf {
	uint64_t source, target;	/* sizes in bytes */
	int	 has_times;		/* both of these are known */
	int64_t	 source_time, target_time;	/* seconds */
	int	 preserve;		/* the copy sets the time */
	int	 hashes;		/* the server can be asked */
	int	 ask_all;		/* believe no time */
};

enum xresume_op {
	XRESUME_HASH,			/* ask for the hashes of the range */
	XRESUME_READ,			/* read the range back and compare */
	XRESUME_COPY,			/* copy from the offset on */
	XRESUME_DONE			/* nothing to copy */
};

struct xresume_action {
	enum xresume_op op;
	uint64_t off, len;
};

/* Private to xresume.c, but to be put on the stack */
struct xresume {
	struct xresume_conf conf;
	uint64_t common;		/* bytes that both have */
	uint64_t equal;			/* they begin with so many equal ones */
	uint64_t verified;		/* bytes that were compared */
	enum { HASHING, READING, DIFFERENT, TIMES } state;
};

void	xresume_begin(struct xresume *, const struct xresume_conf *);
void	xresume_next(const struct xresume *, struct xresume_action *);

/*
 * The hashes of the blocks of the last range, ours and the server's. Blocks
 * that one side does not have count as different.
 */
void	xresume_hashed(struct xresume *, const unsigned char *ours,
    size_t nours, const unsigned char *theirs, size_t ntheirs);

/* The server refused to hash: go on as if it never could. */
void	xresume_refused(struct xresume *);

/* What was read back is equal, or it is not or could not be read. */
void	xresume_compared(struct xresume *, int equal);

/* Whether all that is kept was compared, or is known by its time */
int	xresume_is_verified(const struct xresume *);

#endif /* HAYATE_XRESUME_H */
