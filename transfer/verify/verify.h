/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * verify: what is asked about one file before and after its copy, and where the
 * copy of a file continues whose target exists.
 *
 * The bytes that source and target both have are compared, all of them, because
 * the length of a target says nothing: an interrupted copy over an older
 * version is a new head and an old tail. The target is truncated behind what is
 * equal, and the copy continues there, or the file is complete. A server may
 * empty a file that it should truncate, and then make it as long, so what it
 * truncated is compared again.
 *
 * A server that has hashes compares in blocks, and the copy continues behind
 * the last block that is equal before the first that is not. From another
 * server everything is read back, which costs about as much as copying it.
 *
 * One thing is believed of a server that has no hashes: an mtime that an
 * earlier copy has set, if it and the size are equal, because it is set after
 * all bytes are written. A disk may have lost them since, or refused them, so
 * hashes decide where they exist.
 *
 * The size that a server reports of a source may be too small, so a file of
 * that size is complete only if no byte follows. An mtime that is believed
 * needs no such READ: the copy that has set it has read to the end.
 *
 * A listing may be stale. It is good enough to compare mtimes where there are
 * no hashes, and to start a copy, because the copy looks again after OPEN.
 * Changes before that OPEN do not count as changes during the copy.
 *
 *   STAT_SOURCE, STAT_TARGET ------------> REFUSE: the target is too long
 *      |          \______________________  nothing to compare
 *   COMPARE                              \
 *      |  \_ TRUNCATE -> STAT_TRUNCATED   |
 *      |         (upload) COMPARE_AGAIN   |
 *      |  \_ READ_PAST_END (download)     |
 *      |                                  |
 *   COMPLETE or COPY <--------------------+
 *      |
 *   STAT_SOURCE_AFTER ---> REPORT_CHANGE, then ENDED
 *      |  (--checksum)
 *   STAT_TARGET_AFTER ---> REPORT_NOT_REGULAR, if the target is a device
 *   COMPARE_ALL ---------> REPORT_MISMATCH
 *      |
 *   ENDED
 *
 * The caller does what verify_next() says and hands in the answer, until the
 * action is one of the results. No upstream header, no I/O, no clock, no
 * allocation.
 */

#ifndef HAYATE_VERIFY_H
#define HAYATE_VERIFY_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of one hash, of a block, and of one request for hashes */
#define VERIFY_HASH_LEN	32
#define VERIFY_BLOCK		(8 * 1024 * 1024)
#define VERIFY_RANGE		(8 * (uint64_t)VERIFY_BLOCK)

/* One end of a copy */
struct verify_end {
	int	 is_there;		/* a regular file of known size */
	int	 is_not_regular;	/* something else is there */
	uint64_t size;			/* bytes */
	int	 has_time;
	int64_t	 mtime;			/* seconds */
	long	 nsec;			/* of it; 0 for a server's file */
};

struct verify_conf {
	int	 put;		/* the target is at the server */
	int	 resume;	/* what the target has is kept, if equal */
	int	 truncates;	/* also a target that is longer */
	int	 checksum;	/* no mtime is believed, the copy is compared */
	/* as "checksum", but only a target that is a regular file counts */
	int	 is_unsure;
	int	 strict;	/* the source may not change */
	int	 preserve;	/* the copy sets times */
	int64_t	 now;		/* seconds */
};

enum verify_op {
	/* Questions, with the members of struct verify_answer */
	VERIFY_STAT_SOURCE = 1,	/* end */
	VERIFY_STAT_TARGET,	/* end */
	VERIFY_COMPARE_HASH,	/* hashes of the range, or failed */
	VERIFY_READ_BACK,	/* bytes of the range that are equal */
	VERIFY_TRUNCATE,	/* the target to "off": failed, or left */
	VERIFY_READ_PAST_END,	/* of the source at "off": bytes */

	/* Results before the copy */
	VERIFY_COPY_FROM,	/* "off"; the answer: it was copied */
	VERIFY_COMPLETE,	/* nothing to copy */
	VERIFY_TOO_LONG,	/* the target is, and is not truncated */

	/* Results after the copy */
	VERIFY_SOURCE_CHANGED,	/* to be reported; then the answer */
	VERIFY_MISMATCH,	/* the two files differ */
	VERIFY_NOT_REGULAR,	/* the target cannot be compared */
	VERIFY_END
};

struct verify_action {
	enum verify_op op;
	/* bytes; "len" of VERIFY_TRUNCATE: of the source behind "off" */
	uint64_t off, len;
};

struct verify_answer {
	struct verify_end end;
	int	 failed;	/* the server refused */
	/*
	 * Of VERIFY_TRUNCATE if "len" is not 0: the target keeps its length
	 * until the copy ends
	 */
	int	 left;
	uint64_t bytes;
	/* Of each block. A block that one side lacks counts as different. */
	const unsigned char *ours, *theirs;
	size_t	 nours, ntheirs;
};

/* What has shown that "verified" bytes are equal */
enum verified_by { VERIFIED_BY_NOTHING, VERIFIED_BY_TIME, VERIFIED_BY_HASHES,
    VERIFIED_BY_BYTES };

/* Private to verify.c, but to be a field of others */
struct verify {
	struct verify_conf conf;
	enum verify_state {
		VERIFY_AT_STAT_SOURCE, VERIFY_AT_STAT_TARGET,
		VERIFY_AT_COMPARE, VERIFY_AT_TRUNCATE,
		VERIFY_AT_STAT_TRUNCATED, VERIFY_AT_COMPARE_AGAIN,
		VERIFY_AT_READ_PAST_END,
		VERIFY_AT_STAT_ADOPTED,		/* of verify_adopt() */
		VERIFY_AT_REFUSE, VERIFY_AT_COMPLETE, VERIFY_AT_COPY,
		VERIFY_AT_STAT_SOURCE_AFTER, VERIFY_AT_REPORT_CHANGE,
		VERIFY_AT_STAT_TARGET_AFTER, VERIFY_AT_COMPARE_ALL,
		VERIFY_AT_REPORT_MISMATCH, VERIFY_AT_REPORT_NOT_REGULAR,
		VERIFY_AT_ENDED
	} state;
	struct verify_end source, target;
	int	 knows_source, knows_target;
	int	 source_may_be_stale;	/* what is known of the source */
	int	 has_hashes;
	uint64_t off;			/* equal so far; then of the copy */
	uint64_t common;		/* bytes that are compared */
	enum verified_by verified_by;
	uint64_t verified;		/* bytes */
};

/*
 * "source": what is known, or NULL. "is_old": from a listing. "has_hashes": the
 * server has, as far as is known.
 */
void	verify_begin(struct verify *, const struct verify_conf *,
    const struct verify_end *source, int is_old, int has_hashes);

/* The same action until verify_answer() answers it */
void	verify_next(const struct verify *, struct verify_action *);
void	verify_answer(struct verify *, const struct verify_answer *);

/*
 * Before an answer: the file that "from" has verified got the name of the
 * target, which did not exist. If it still has the size that is to be kept, it
 * is not compared again.
 */
void	verify_adopt(struct verify *, const struct verify *from);

/* The copy has opened the source; what it read before has to fit that. */
void	verify_source_opened(struct verify *, const struct verify_end *);

#endif /* HAYATE_VERIFY_H */
