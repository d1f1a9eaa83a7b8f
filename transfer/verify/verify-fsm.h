/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * verify-fsm: what is asked about one file before and after its copy.
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
 * After the copy the source is looked at again: it may have changed. With
 * --checksum both files are then compared as a whole, unless that was done
 * before.
 *
 * A listing may be stale. It is good enough to compare mtimes where there are
 * no hashes, and to start a copy, because the copy checks again after OPEN.
 * Changes before that OPEN do not count as "changed during the copy".
 *
 * The caller does what verify_fsm_next() says and tells the result, until that
 * is one of the answers. No upstream header, no I/O, no clock, no allocation.
 */

#ifndef HAYATE_VERIFY_FSM_H
#define HAYATE_VERIFY_FSM_H

#include <stddef.h>
#include <stdint.h>

#include "verify.h"

/* One end of a copy */
struct verify_end {
	int	 is_there;		/* a regular file of known size */
	uint64_t size;			/* bytes */
	int	 has_time;
	int64_t	 mtime;			/* seconds */
	long	 nsec;			/* of it; of a server's file 0 */
};

struct verify_fsm_conf {
	int	 put;		/* the target is at the server */
	int	 resume;	/* what is there is kept, if equal */
	int	 truncates;	/* also a target that is longer */
	int	 checksum;	/* no time is believed */
	int	 strict;	/* the source may not change */
	int	 preserve;	/* the copy sets times */
	int64_t	 now;		/* seconds */
};

enum verify_fsm_op {
	/* Questions */
	VERIFY_STAT_SOURCE = 1,	/* verify_fsm_stat() */
	VERIFY_STAT_TARGET,	/* likewise */
	/* verify_fsm_hashes() or verify_fsm_hash_refused() */
	VERIFY_COMPARE_HASH,
	VERIFY_READ_BACK,			/* verify_fsm_bytes_equal() */
	/* the target to "off"; verify_fsm_truncated() */
	VERIFY_TRUNCATE,
	VERIFY_READ_PAST_END,	/* of the source: verify_fsm_past_end() */

	/* Answers, before the copy */
	/*
	 * From "off" on; verify_fsm_source_opened() at its first byte,
	 * verify_fsm_copied()
	 */
	VERIFY_COPY_FROM,
	VERIFY_COMPLETE,	/* nothing to copy */
	VERIFY_TOO_LONG,	/* the target is, and is not cut */

	/* Answers, after the copy */
	/* the source did; then verify_fsm_change_reported() */
	VERIFY_SOURCE_CHANGED,
	VERIFY_MISMATCH,			/* the two files do */
	VERIFY_END
};

struct verify_fsm_action {
	enum verify_fsm_op op;
	uint64_t off, len;
};

/* What has shown that "verified" bytes are equal */
enum verified_by { VERIFIED_BY_NOTHING, VERIFIED_BY_TIME, VERIFIED_BY_HASHES,
    VERIFIED_BY_BYTES };

/* Private to verify-fsm.c, but to be a field of others */
struct verify_fsm {
	struct verify_fsm_conf conf;
	enum verify_fsm_state {
		FSM_STAT, FSM_COMPARE, FSM_TRUNCATE, FSM_COMPARE_TRUNCATED,
		    READING_PAST_END,
		FSM_ADOPT, FSM_REFUSE, FSM_COPY, FSM_STAT_AFTER,
		    FSM_REPORT_CHANGE,
		FSM_COMPARE_ALL, FSM_REPORT_MISMATCH, FSM_ENDED
	} state;
	struct verify_end source, target;
	int	 knows_source, knows_target;
	int	 source_may_be_stale;	/* what is known of the source */
	int	 has_hashes;
	int	 is_complete;		/* the target, as it is or is cut */
	uint64_t off;			/* of the copy, or the cut */
	struct verify verify;
	enum verified_by verified_by;
	uint64_t verified;		/* bytes */
};

/*
 * "source": what is known; NULL: nothing. "is_old": a listing told it. The
 * server "has_hashes", as far as is known.
 */
void	verify_fsm_begin(struct verify_fsm *, const struct verify_fsm_conf *,
    const struct verify_end *source, int is_old, int has_hashes);

void	verify_fsm_next(struct verify_fsm *, struct verify_fsm_action *);

/*
 * The results. "is_source": of VERIFY_STAT_SOURCE. "n" of each: hashes, as
 * there.
 */
void	verify_fsm_stat(struct verify_fsm *, int is_source,
    const struct verify_end *);
void	verify_fsm_hashes(struct verify_fsm *, const unsigned char *ours,
    size_t nours, const unsigned char *theirs, size_t ntheirs);
void	verify_fsm_hash_refused(struct verify_fsm *);
void	verify_fsm_bytes_equal(struct verify_fsm *, uint64_t equal);
void	verify_fsm_truncated(struct verify_fsm *, int ok);

/*
 * In place of a cut, if more is to be copied: what is behind "off" is written
 * over, and cut last. Returns 0 if all of the source is there.
 */
int	verify_fsm_skip_truncate(struct verify_fsm *);

/* Whether the server's file has bytes from "off" on, behind its size */
void	verify_fsm_past_end(struct verify_fsm *, int more);

/*
 * In place of a cut of a local file: if all of the source is there by its size,
 * which may be too small, what is behind that is asked for. Returns 0 if more
 * is to be copied.
 */
int	verify_fsm_copy_tail(struct verify_fsm *);

/*
 * The file that another one has judged got the name of the target, which was
 * not there. If it still has the size that is to be kept, it is not compared
 * again.
 */
void	verify_fsm_adopt(struct verify_fsm *, const struct verify_fsm *);

void	verify_fsm_source_opened(struct verify_fsm *,
    const struct verify_end *source);
void	verify_fsm_copied(struct verify_fsm *);
void	verify_fsm_change_reported(struct verify_fsm *);

#endif /* HAYATE_VERIFY_FSM_H */
