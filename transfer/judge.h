/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * judge: what is asked about one file before and after its copy.
 *
 * Before the copy both ends are looked at, and what the target has is compared
 * with the source (verify.h). It is cut behind what is equal, and the copy goes
 * on there; or the file is complete. A server may empty a file that it should
 * cut, and then make it as long, so what it cut is compared again.
 *
 * The size that a server reports of a source may be too small, so a file of
 * that size is complete only if no byte follows. A time that is believed needs
 * no such READ: the copy that has set it has read to the end.
 *
 * After the copy the source is looked at once more: it may have changed. With
 * --checksum both files are then compared as a whole, unless that was done
 * before.
 *
 * What a listing told of the source may be old. It is enough to believe in the
 * time of a target that is as old, where there are no hashes, and to begin a
 * copy, which looks when the file is open: what changes before that has not
 * changed.
 *
 * The caller does what judge_next() says and tells the result, until that is
 * one of the answers. No upstream header, no I/O, no clock, no allocation.
 */

#ifndef HAYATE_JUDGE_H
#define HAYATE_JUDGE_H

#include <stddef.h>
#include <stdint.h>

#include "verify.h"

/* One end of a copy */
struct judge_end {
	int	 is_there;		/* a regular file of known size */
	uint64_t size;			/* bytes */
	int	 has_time;
	int64_t	 mtime;			/* seconds */
	long	 nsec;			/* of it; of a server's file 0 */
};

struct judge_conf {
	int	 put;			/* the target is at the server */
	int	 resume;		/* what is there is kept, if equal */
	int	 cuts;			/* also a target that is longer */
	int	 checksum;		/* no time is believed */
	int	 strict;		/* the source may not change */
	int	 preserve;		/* the copy sets times */
	int64_t	 now;			/* seconds */
};

enum judge_op {
	/* Questions */
	JUDGE_SOURCE = 1,		/* judge_looked() */
	JUDGE_TARGET,			/* likewise */
	JUDGE_HASH,			/* judge_hashed() or judge_refused() */
	JUDGE_BACK,			/* judge_compared() */
	JUDGE_CUT,			/* the target to "off"; judge_cut() */
	JUDGE_MORE,			/* of the source: judge_more() */

	/* Answers, before the copy */
	/* From "off" on; judge_opened() at its first byte, judge_copied() */
	JUDGE_COPY,
	JUDGE_COMPLETE,			/* nothing to copy */
	JUDGE_LONGER,			/* the target is, and is not cut */

	/* Answers, after the copy */
	JUDGE_CHANGED,			/* the source did; then judge_said() */
	JUDGE_DIFFERS,			/* the two files do */
	JUDGE_END
};

struct judge_action {
	enum judge_op op;
	uint64_t off, len;
};

/* What has shown that "verified" bytes are equal */
enum judge_how { JUDGE_NOTHING, JUDGE_TIME, JUDGE_HASHES, JUDGE_BYTES };

/* Private to judge.c, but to be a field of others */
struct judge {
	struct judge_conf conf;
	enum judge_state {
		LOOKING, COMPARING, CUTTING, COMPARING_AGAIN, PASSING,
		TAKING, REFUSING, COPYING, LOOKING_AGAIN, TELLING,
		COMPARING_ALL, DIFFERING, ENDING
	} state;
	struct judge_end source, target;
	int	 knows_source, knows_target;
	int	 is_old;		/* what is known of the source */
	int	 has_hashes;
	int	 is_complete;		/* the target, as it is or is cut */
	uint64_t off;			/* of the copy, or the cut */
	struct verify verify;
	enum judge_how how;
	uint64_t verified;		/* bytes */
};

/*
 * "source": what is known; NULL: nothing. "is_old": a listing told it. The
 * server "has_hashes", as far as is known.
 */
void	judge_begin(struct judge *, const struct judge_conf *,
    const struct judge_end *source, int is_old, int has_hashes);

void	judge_next(struct judge *, struct judge_action *);

/* The results. "is_source": of JUDGE_SOURCE. "n" of each: hashes, as there. */
void	judge_looked(struct judge *, int is_source, const struct judge_end *);
void	judge_hashed(struct judge *, const unsigned char *ours, size_t nours,
    const unsigned char *theirs, size_t ntheirs);
void	judge_refused(struct judge *);
void	judge_compared(struct judge *, uint64_t equal);
void	judge_cut(struct judge *, int ok);

/*
 * In place of a cut, if more is to be copied: what is behind "off" is written
 * over, and cut last. Returns 0 if all of the source is there.
 */
int	judge_keep(struct judge *);

/* Whether the server's file has bytes from "off" on, behind its size */
void	judge_more(struct judge *, int more);

/*
 * In place of a cut of a local file: if all of the source is there by its size,
 * which may be too small, what is behind that is asked for. Returns 0 if more
 * is to be copied.
 */
int	judge_read_on(struct judge *);

/*
 * The file that another one has judged got the name of the target, which was
 * not there. If it still has the size that is to be kept, it is not compared
 * again.
 */
void	judge_take(struct judge *, const struct judge *);

void	judge_opened(struct judge *, const struct judge_end *source);
void	judge_copied(struct judge *);
void	judge_said(struct judge *);

#endif /* HAYATE_JUDGE_H */
