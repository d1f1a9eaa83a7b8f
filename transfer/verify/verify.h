/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * verify: where the copy of a file goes on whose target is there already.
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
 * One thing is believed, of a server that tells no hashes: a time that an
 * earlier copy has set, if it and the size are equal, because it is set when
 * all bytes are written. A disk may have lost them since, or refused them, so
 * where there are hashes they decide.
 *
 * The caller does what verify_next() says and tells the result, until that is
 * VERIFY_COPY or VERIFY_DONE. No upstream header, no I/O, no allocation.
 */

#ifndef HAYATE_VERIFY_H
#define HAYATE_VERIFY_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of one hash, of a block, and of one request for hashes */
#define VERIFY_HASH_LEN	32
#define VERIFY_BLOCK		(8 * 1024 * 1024)
#define VERIFY_RANGE		(8 * (uint64_t)VERIFY_BLOCK)

struct verify_conf {
	uint64_t source, target;	/* sizes in bytes */
	int	 same_time;		/* set by a copy; for lack of hashes */
	int	 hashes;		/* the server can be asked */
};

enum verify_op {
	VERIFY_HASH,			/* ask for the hashes of the range */
	VERIFY_READ,			/* read the range back and compare */
	VERIFY_COPY,			/* copy from the offset on */
	VERIFY_DONE			/* nothing to copy */
};

struct verify_action {
	enum verify_op op;
	uint64_t off, len;
};

/* Private to verify.c, but to be put on the stack */
struct verify {
	struct verify_conf conf;
	uint64_t common;		/* bytes that both have */
	uint64_t equal;			/* they begin with so many equal ones */
	enum { HASHING, READING, DIFFERENT } state;
};

void	verify_begin(struct verify *, const struct verify_conf *);
void	verify_next(const struct verify *, struct verify_action *);

/*
 * The hashes of the blocks of the last range, ours and the server's. Blocks
 * that one side does not have count as different.
 */
void	verify_hashed(struct verify *, const unsigned char *ours,
    size_t nours, const unsigned char *theirs, size_t ntheirs);

/* The server refused to hash: what is left is read back. */
void	verify_refused(struct verify *);

/* So many bytes at the begin of what was to be read back are equal. */
void	verify_compared(struct verify *, uint64_t equal);

#endif /* HAYATE_VERIFY_H */
