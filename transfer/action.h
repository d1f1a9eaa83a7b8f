/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * action: what a plan says: requests and local work. The cores below plan.h
 * share these names with it.
 */

#ifndef HAYATE_ACTION_H
#define HAYATE_ACTION_H

#include <stdint.h>

#include "landing.h"

#define PLAN_LANES	32		/* at most; a bit for each */

struct plan;			/* private to plan.c: one per tree */
struct job;			/* likewise: one file, or half a directory */

enum plan_kind {
	PLAN_FILE,		/* a regular file */
	PLAN_DIR,			/* a directory: made and listed */
	PLAN_MADE,		/* a directory: only made */
	PLAN_LEAVE,		/* a directory after all below: PLAN_DIR's */
	PLAN_LINK,		/* of the server, not yet followed */
	PLAN_NOTE,		/* nothing but text */
};

enum plan_op {
	/* Requests. The reply goes to plan_reply(). */
	PLAN_STAT = 1,
	PLAN_MKDIR,
	PLAN_OPENDIR,
	PLAN_READDIR,
	PLAN_OPEN,
	PLAN_READ,
	PLAN_WRITE,		/* answered by plan_sent() as well */
	PLAN_CLEAR,		/* to no bytes, before the first PLAN_WRITE */
	PLAN_CUT,		/* to "off" bytes, right after the last one */
	PLAN_FSTAT,		/* after PLAN_CLEAR failed: what it is */
	PLAN_TRUNCATE,		/* to "off" bytes */
	PLAN_SIZE,		/* it failed: has the file "off" bytes? */
	PLAN_PROVE,		/* what is the source now? steps_keep() */
	PLAN_ATTRS,
	PLAN_SYNC,
	PLAN_CLOSE,
	PLAN_SETSTAT,

	/*
	 * Of a file that is checked: see checks_ask(), and for the last three
	 * checks_back().
	 */
	PLAN_LOOK,		/* at the server's file */
	PLAN_SEE,		/* likewise, before its first PLAN_READ */
	PLAN_HASH,		/* "len" bytes of it, from "off" on */
	PLAN_SHORTEN,		/* the target to "off" bytes */
	PLAN_HOLD,		/* opens it, to be dressed */
	PLAN_HELD,		/* is it what was compared? */
	PLAN_DRESS,		/* sets its attributes */
	PLAN_LET_GO,		/* closes it */
	PLAN_FIND,		/* at the hidden file of the number "off" */
	PLAN_TAKE,		/* it gets the name of the target */
	PLAN_SWEEP,		/* it is removed */
	PLAN_OPEN_BACK,
	PLAN_BACK,		/* as PLAN_READ */
	PLAN_CLOSE_BACK,

	/*
	 * Between two servers PLAN_MKDIR, PLAN_WRITE, PLAN_CLEAR, PLAN_FSTAT,
	 * PLAN_ATTRS and PLAN_SETSTAT go to the target, and these do.
	 */
	PLAN_STAT_TO,
	PLAN_OPEN_TO,
	PLAN_EMPTY,		/* opens it once more */
	PLAN_CLOSE_TO,

	/* Of a large file, on a further lane (wide.h): */
	PLAN_JOIN,		/* open it there as well */
	PLAN_SAME,		/* is it the file that is copied? */
	PLAN_REFER,		/* reads at "off", on the lane of the file, */
	PLAN_PROBE,		/* and on the further one: the same bytes? */
	PLAN_PART,		/* close it there */

	/* Of a file that is put and may go over several lanes (landings.h): */
	PLAN_OPEN_NEW,		/* it must not be there */
	PLAN_LANDING,		/* "ask" says what */

	/* After a lane was lost (loss.h): open it as it stands */
	PLAN_REOPEN,
	PLAN_RECALL,		/* reads at "off": is it what has come? */

	/*
	 * Of what other hosts or lost lanes had a part in (apart.h): what is
	 * there, of "off" bytes? Away with it, before it is opened as a new one
	 */
	PLAN_SEEN,
	PLAN_RENEW,

	/* Local work, done when plan_next() or plan_worked() is called */
	PLAN_BEGIN,		/* before all requests; plan_fail() ends it */
	PLAN_CHECK,		/* before and after the copy: checks_begin() */
	PLAN_SETTLE,		/* all data is acknowledged up to "off" */
	PLAN_AGAIN,		/* forget it: it begins once more, later */
	PLAN_END,		/* after the last reply */
	PLAN_MORE,		/* plan_add() children, then plan_listed() */
	PLAN_PRINT,		/* its texts, in walk order; the job ends */
};

struct plan_action {
	enum plan_op op;
	struct job *job;
	unsigned int lane;	/* of a request */
	uint32_t id;		/* likewise */
	uint64_t off;		/* of data; new size; PLAN_SETTLE */
	uint32_t len;		/* PLAN_READ, PLAN_WRITE: bytes, at most */
	uint64_t at;		/* PLAN_WRITE: in the file of the server */
	int	 second;	/* likewise: in the second file */
	struct landing_ask ask;
	uint64_t sent;		/* by the clock of the plan; of plan_find() */
};

/* Bytes that PLAN_REFER, PLAN_PROBE and PLAN_RECALL read, at most */
#define PLAN_PROBE_LEN	(32 * 1024)

/* A request of a file that is checked */
static inline int
plan_is_ask(enum plan_op op)
{
	return op >= PLAN_LOOK && op <= PLAN_CLOSE_BACK;
}

enum plan_result { PLAN_OK, PLAN_FAILED, PLAN_EOF };

struct plan_conf {
	int put;		/* to the server */
	int cross;		/* between two servers; "put" is 0 */
	int in_place;		/* each file is cut to its size at the end */
	int preserve;		/* attributes are set before a put closes */
	int sync;		/* and the server writes it to its disk */
	int keep_found;		/* a directory that was there keeps its own */
	uint32_t files;		/* most jobs under way: descriptors, memory */
	uint32_t unit;		/* bytes of one READ or WRITE, at most */
	uint32_t first_id;
	uint64_t seed;		/* of the places where files are compared */
};

#endif /* HAYATE_ACTION_H */
