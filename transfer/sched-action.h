/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * sched-action: what a plan says: requests and local work. The cores below
 * scheduler.h share these names with it.
 */

#ifndef HAYATE_SCHED_ACTION_H
#define HAYATE_SCHED_ACTION_H

#include <stdint.h>

#include "tempfile.h"

#define SCHED_CONNS_MAX	32		/* at most; a bit for each */

struct sched;			/* private to scheduler.c: one per tree */
struct sched_entry;	/* likewise: one file, or half a directory */

enum sched_kind {
	KIND_FILE,		/* a regular file */
	KIND_DIR,			/* a directory: made and listed */
	KIND_DIR_NO_LIST,		/* a directory: only made */
	KIND_DIR_END,		/* a directory after all below: KIND_DIR's */
	KIND_LINK,		/* of the server, not yet followed */
	KIND_MESSAGE,		/* nothing but text */
};

enum sched_op {
	/* Requests. The reply goes to sched_reply(). */
	OP_STAT = 1,
	OP_MKDIR,
	OP_OPENDIR,
	OP_READDIR,
	OP_OPEN,
	OP_READ,
	OP_WRITE,		/* answered by sched_sent() as well */
	OP_SETSIZE_0,		/* to no bytes, before the first OP_WRITE */
	OP_SETSIZE_END,		/* to "off" bytes, right after the last one */
	OP_FSTAT_TYPE,		/* after OP_SETSIZE_0 failed: what it is */
	OP_SETSIZE_FINAL,		/* to "off" bytes */
	OP_FSTAT_SIZE,		/* it failed: has the file "off" bytes? */
	/* what is the source now? seq_keep_possible_source() */
	OP_FSTAT_SOURCE,
	OP_FSETSTAT,
	OP_FSYNC,
	OP_CLOSE,
	OP_SETSTAT,

	/*
	 * Of a file that is checked: see verify_sched_request(), and for the
	 * last three verify_sched_read_back().
	 */
	OP_VERIFY_STAT,		/* at the server's file */
	OP_VERIFY_FSTAT,		/* likewise, before its first OP_READ */
	OP_VERIFY_HASH,		/* "len" bytes of it, from "off" on */
	OP_VERIFY_SETSIZE,		/* the target to "off" bytes */
	OP_SETSTAT_OPEN,		/* opens it, to be dressed */
	OP_SETSTAT_FSTAT,		/* is it what was compared? */
	OP_VERIFY_SETSTAT,		/* sets its attributes */
	OP_SETSTAT_CLOSE,		/* closes it */
	OP_STALE_LSTAT,		/* at the hidden file of the number "off" */
	OP_STALE_RENAME,		/* it gets the name of the target */
	OP_STALE_REMOVE,		/* it is removed */
	OP_READBACK_OPEN,
	OP_READBACK_READ,		/* as OP_READ */
	OP_READBACK_CLOSE,

	/*
	 * Between two servers OP_MKDIR, OP_WRITE, OP_SETSIZE_0, OP_FSTAT_TYPE,
	 * OP_FSETSTAT and OP_SETSTAT go to the target, and these do.
	 */
	OP_STAT_DEST,
	OP_OPEN_DEST,
	OP_OPEN_DEST_TRUNC,		/* opens it once more */
	OP_CLOSE_DEST,

	/* Of a large file, on a further lane (stripe.h): */
	OP_HELPER_OPEN,		/* open it there as well */
	OP_FSTAT_IDENTITY,		/* is it the file that is copied? */
	OP_SAMPLE_OWNER,	/* reads at "off", on the lane of the file, */
	OP_SAMPLE_HELPER,	/* and on the further one: the same bytes? */
	OP_HELPER_CLOSE,		/* close it there */

	/*
	 * Of a file that is put and may go over several lanes
	 * (tempfile-sched.h):
	 */
	OP_OPEN_EXCL,		/* it must not be there */
	OP_TEMPFILE,		/* "ask" says what */

	/* After a lane was lost (failover.h): open it as it stands */
	OP_REOPEN,
	OP_SAMPLE_REOPENED,	/* reads at "off": is it what has come? */

	/*
	 * Of what other hosts or lost lanes had a part in (multihost.h): what
	 * is there, of "off" bytes? Away with it, before it is opened as a new
	 * one
	 */
	OP_STAT_DEST_ON_HOST,
	OP_REMOVE_OWN,

	/* Local work, done when sched_next() or sched_local_done() is called */
	OP_BEGIN,		/* before all requests; sched_fail() ends it */
	OP_VERIFY,	/* before and after the copy: verify_sched_begin() */
	OP_DATA_DONE,		/* all data is acknowledged up to "off" */
	OP_RESTART,		/* forget it: it begins once more, later */
	OP_END,		/* after the last reply */
	/* sched_add() children, then sched_children_complete() */
	OP_ADD_CHILDREN,
	OP_PRINT,		/* its texts, in walk order; the job ends */
};

struct sched_action {
	enum sched_op op;
	struct sched_entry *entry;
	unsigned int conn;	/* of a request */
	uint32_t id;		/* likewise */
	uint64_t off;		/* of data; new size; OP_DATA_DONE */
	uint32_t len;		/* OP_READ, OP_WRITE: bytes, at most */
	uint64_t at;		/* OP_WRITE: in the file of the server */
	int	 staging;	/* likewise: in the second file */
	struct tempfile_request temp_request;
	uint64_t sent_us;	/* by the clock of the plan; of sched_find() */
};

/*
 * Bytes that OP_SAMPLE_OWNER, OP_SAMPLE_HELPER and OP_SAMPLE_REOPENED read, at
 * most
 */
#define SCHED_SAMPLE_LEN	(32 * 1024)

/* A request of a file that is checked */
static inline int
op_is_verify(enum sched_op op)
{
	return op >= OP_VERIFY_STAT && op <= OP_READBACK_CLOSE;
}

enum sched_result { RESULT_OK, RESULT_FAILED, RESULT_EOF };

struct sched_conf {
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

#endif /* HAYATE_SCHED_ACTION_H */
