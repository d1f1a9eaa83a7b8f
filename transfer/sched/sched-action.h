/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * sched-action: what the scheduler returns (requests to send, and local work),
 * and what its caller reports to it. The files below scheduler.h share these
 * names with it.
 */

#ifndef HAYATE_SCHED_ACTION_H
#define HAYATE_SCHED_ACTION_H

#include <limits.h>
#include <stdint.h>

#include "tempfile.h"

#define SCHED_CONNS_MAX	32		/* at most; a bit for each */
#define SCHED_CONNS_ALL	UINT_MAX	/* of sched_conn_lost() */

struct op_info;			/* see op-table.h */
struct sched;			/* private to scheduler.c: one per tree */
struct sched_entry;	/* likewise: one file, or half a directory */

enum sched_kind {
	KIND_FILE,		/* a regular file */
	KIND_DIR,		/* a directory: made and listed */
	KIND_DIR_NO_LIST,	/* a directory: only made */
	KIND_DIR_END,		/* a directory after all below: KIND_DIR's */
	KIND_LINK,		/* of the server, not yet followed */
	KIND_MESSAGE,		/* nothing but text */
	/* for sched_add() alone, which says what becomes of them */
	KIND_LIST, KIND_NAME
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
	OP_SETSIZE_END,		/* to "off", right after the last OP_WRITE */
	OP_FSTAT_TYPE,		/* after OP_SETSIZE_0 failed: the file's type */
	OP_SETSIZE_FINAL,	/* to "off" bytes, after all data */
	/* after OP_SETSIZE_FINAL failed: a device, or has it "off" bytes? */
	OP_FSTAT_SIZE,
	OP_FSTAT_SOURCE,	/* of a source that may be the target itself */
	OP_FSETSTAT,
	OP_FSYNC,
	OP_CLOSE,
	OP_SETSTAT,

	OP_VERIFY_REQUEST,	/* "verify" says which: verify_sched_next() */

	/*
	 * Between two servers OP_MKDIR, OP_WRITE, OP_SETSIZE_0, OP_FSTAT_TYPE,
	 * OP_FSETSTAT and OP_SETSTAT go to the target, and these do.
	 */
	OP_STAT_DEST,
	OP_OPEN_DEST,
	OP_OPEN_DEST_TRUNC,	/* opens the target again, to empty it */
	OP_CLOSE_DEST,

	/* Of a large file, on a further connection (stripe.c): */
	OP_HELPER_OPEN,		/* OPEN on the helper connection */
	OP_FSTAT_IDENTITY,	/* FSTAT: is it still the same file? */
	OP_SAMPLE_OWNER,	/* READ at "off" on the owner connection */
	OP_SAMPLE_HELPER,	/* and on the helper: the same bytes? */
	OP_HELPER_CLOSE,	/* CLOSE on the helper connection */

	/*
	 * Of a file that is uploaded and may go over several connections
	 * (tempfile-sched.c):
	 */
	OP_OPEN_EXCL,		/* OPEN with SSH2_FXF_EXCL */
	OP_TEMPFILE,		/* see "temp_request" */

	/* After a connection was lost (failover.c): OPEN without truncation */
	OP_REOPEN,
	OP_SAMPLE_REOPENED,	/* READ at "off": same bytes as before? */

	/*
	 * After the copy: STAT of the target by name over each host that was
	 * involved. The caller compares size and mtime (multihost_reply()).
	 */
	OP_STAT_DEST_ON_HOST,
	OP_REMOVE_OWN,		/* removes our own target before a restart */

	/* Local work, done when sched_next() or sched_local_done() is called */
	OP_BEGIN,	/* before all requests; sched_fail(): there are none */
	OP_VERIFY,	/* before and after the copy: verify_sched_begin() */
	OP_DATA_DONE,	/* all data up to "off" was acknowledged */
	OP_RESTART,	/* reset the file: it restarts later */
	OP_END,		/* after the last reply */
	/* sched_add() children, then sched_children() */
	OP_ADD_CHILDREN,
	OP_PRINT,	/* its messages, in walk order; frees the entry */
};

struct sched_action {
	enum sched_op op;
	struct sched_entry *entry;
	unsigned int conn;	/* of a request */
	uint32_t id;		/* likewise */
	uint64_t off;		/* of data; new size; OP_DATA_DONE */
	uint32_t len;		/* OP_READ, OP_WRITE: bytes, at most */
	uint64_t at;		/* OP_WRITE: in the file of the server */
	int	 staging;	/* likewise: in the staging file */
	struct tempfile_request temp_request;
	const struct op_info *verify;	/* OP_VERIFY_REQUEST */
	/* by the clock of the scheduler; of sched_find() */
	uint64_t sent_us;
};

/*
 * Bytes that OP_SAMPLE_OWNER, OP_SAMPLE_HELPER and OP_SAMPLE_REOPENED read, at
 * most
 */
#define SCHED_SAMPLE_LEN	(32 * 1024)

enum sched_result { RESULT_OK, RESULT_FAILED, RESULT_EOF };

/*
 * What is outside the scheduler: set what has changed in a structure of the
 * caller, and call sched_update() before sched_next(). All 0 is valid but for
 * "established" and "writable".
 */
struct sched_env {
	/*
	 * The server's limit of open handles, or the lower one of two servers;
	 * 0: not known yet. The first other value counts.
	 */
	uint64_t handle_limit;
	/*
	 * bytes in flight, at most; one request of each connection is allowed
	 */
	uint64_t window;
	/*
	 * A bit for each established connection, and for each that can take
	 * more data now. The main connection is always established.
	 */
	unsigned int established, writable;
	/*
	 * a bit for each connection to another host than that of the main
	 * connection
	 */
	unsigned int other_hosts;
	/*
	 * With 1 each connection has a limit of its own for bytes in flight, as
	 * one may be slower than the others: 512 KiB at first, more with each
	 * prompt reply, and halved when replies get old. With 0 all share one
	 * path, and the window alone limits them.
	 */
	int	 per_conn_limit;
	/* bytes that have to be left of a file for a helper; 0: none helps */
	uint64_t stripe_min;
	/*
	 * For several hosts that lock parts of a file: at most this many
	 * connections write one file, and each part ends at a multiple of
	 * "align" bytes. 0: no limit, no alignment.
	 */
	unsigned int max_writers;
	uint32_t align;
	int	 server_caps;		/* TEMPFILE_HAS_COPY */
	int	 conns_wanted;		/* several connections are */
	uint64_t now_us;		/* of a clock that only goes forward */
};

/*
 * How a file begins whose target is at a server. The caller says what it wants,
 * and sched_begin() what it gets.
 */
struct sched_begin {
	/* Wanted: */

	/*
	 * a temporary file, if fewer than "max_tempfiles" are in use; or NULL
	 */
	const struct tempfile_conf *tempfile;
	unsigned int max_tempfiles;
	/* a file that gets none removes stale ones beside the target */
	int	 removes_stale;
	int	 exists_ours;		/* nobody else has made the target */
	int	 is_shared;		/* another copy may write it */
	/* OP_SETSIZE_0 truncates it right before the first OP_WRITE */
	int	 truncate_late;
	/* when OP_STAT or OP_STAT_DEST precedes OPEN, whatever its result */
	enum {
		STAT_NOT,
		STAT_FIRST,
		STAT_WITHOUT_TEMPFILE,	/* unless it gets a temporary file */
		/* unless "exists_ours", but always with "no_truncate" */
		STAT_UNLESS_OURS
	} stat;

	/* What it gets: */

	/* It may go over several connections. Else it goes over one. */
	int	 has_tempfile;
	/*
	 * The file is opened without SSH2_FXF_TRUNC, overwritten, and truncated
	 * last, to its final size: if its connection is lost, the server may
	 * execute a truncation after another connection has written the file.
	 * If OP_STAT does not find it, OP_OPEN_EXCL is tried first.
	 */
	int	 no_truncate;
	/*
	 * OP_SETSIZE_0 comes. With 0, OP_OPEN or OP_OPEN_DEST has to use
	 * SSH2_FXF_TRUNC, unless "no_truncate" forbids that. If OP_SETSIZE_0
	 * fails, OP_FSTAT_TYPE follows: report RESULT_FAILED for a regular
	 * file, and RESULT_OK for anything else.
	 */
	int	 truncates_late;
};

/*
 * What a reply says. SCHED_REPLY_INIT is a success that says nothing else, and
 * each other member belongs to replies to one operation.
 */
struct sched_reply {
	enum sched_result result;
	/* OP_READ, or a READ of the verification: bytes */
	uint32_t len;
	/* OP_STAT of a KIND_LINK: what it leads to; KIND_LINK: not known */
	enum sched_kind kind;
	uint64_t size;			/* bytes, with that */
	/*
	 * OP_OPEN: another entry writes the local file. This one is closed, and
	 * restarts when nothing else is in flight.
	 */
	int	 local_conflict;
	/*
	 * OP_STAT, or what opens an upload: the target has at most this many
	 * bytes. A target that cannot be longer than its source is not
	 * truncated at the end.
	 */
	uint64_t old_size;
	/* OP_STAT of an upload: it restarts on the main connection */
	int	 needs_main_conn;
	/*
	 * OP_STAT or OP_STAT_DEST, or OP_OPEN of a download: the target may be
	 * the source itself. Nothing truncates it, and OP_FSTAT_SOURCE looks at
	 * a server's file of which all was read.
	 */
	int	 possible_source;
	/* OP_VERIFY_REQUEST, of a range: no more of it is read */
	int	 stops_reading;
	struct tempfile_reply temp;	/* OP_TEMPFILE; without "ok" */
};

#define SCHED_REPLY_INIT { .result = RESULT_OK, .kind = KIND_LINK, \
    .old_size = UINT64_MAX }

struct sched_conf {
	int put;	/* to the server */
	int cross;	/* between two servers; "put" is 0 */
	int in_place;	/* old files are truncated after their data (scp) */
	int preserve;	/* attributes are set before a put closes */
	int sync;	/* and the server writes it to its disk */
	int keep_found;	/* an existing directory keeps its attributes */
	uint32_t files;	/* most entries in flight: descriptors, memory */
	uint32_t unit;	/* bytes of one READ or WRITE, at most */
	uint32_t first_id;
	uint64_t seed;	/* of the places where files are compared */
};

#endif /* HAYATE_SCHED_ACTION_H */
