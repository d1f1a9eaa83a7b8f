/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * xresume: where the copy of a file goes on whose target is there already.
 *
 * What is there is compared with the source, all of it that both have. The copy
 * goes on behind what is equal. A file that is equal to its end is complete. No
 * byte is kept unseen, because the length of a target says nothing: a copy over
 * an older version that was interrupted is a new head and an old tail.
 *
 * A server that tells hashes compares in blocks, and the copy goes on behind
 * the last block that is equal before the first that is not. From another one
 * everything is read back, which costs about as much as copying it.
 *
 * One thing is believed: a time that an earlier copy has set, if it and the
 * size are equal, because it is set when all bytes are written.
 *
 * The caller does what xresume_next() says and tells the result, until that is
 * XRESUME_COPY or XRESUME_DONE. No upstream header, no I/O, no allocation.
 * Called by xresume-hook.c.
 */

#ifndef HAYATE_XRESUME_H
#define HAYATE_XRESUME_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of one hash, of a block, and of one request for hashes */
#define XRESUME_HASH_LEN	32
#define XRESUME_BLOCK		(8 * 1024 * 1024)
#define XRESUME_RANGE		(8 * (uint64_t)XRESUME_BLOCK)

struct xresume_conf {
	uint64_t source, target;	/* sizes in bytes */
	int	 same_time;		/* set by a copy, and to be believed */
	int	 hashes;		/* the server can be asked */
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
	enum { HASHING, READING, DIFFERENT } state;
};

void	xresume_begin(struct xresume *, const struct xresume_conf *);
void	xresume_next(const struct xresume *, struct xresume_action *);

/*
 * The hashes of the blocks of the last range, ours and the server's. Blocks
 * that one side does not have count as different.
 */
void	xresume_hashed(struct xresume *, const unsigned char *ours,
    size_t nours, const unsigned char *theirs, size_t ntheirs);

/* The server refused to hash: what is left is read back. */
void	xresume_refused(struct xresume *);

/* So many bytes at the begin of what was to be read back are equal. */
void	xresume_compared(struct xresume *, uint64_t equal);

#endif /* HAYATE_XRESUME_H */
