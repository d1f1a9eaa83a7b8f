/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * tempfile: by which rule the bytes of an upload appear under its name.
 *
 * A file that is uploaded grows under its name, in order, over one connection.
 * No byte is written behind a hole there. Before it is opened, its name, the
 * directory and all temporary names are looked at, in one round trip. Then
 *
 *   A new file for which several connections are wanted is created under a
 *   temporary name. It is renamed when it is complete, or was truncated at the
 *   first byte that is missing.
 *
 *   Any other file is written under its name. If a second connection becomes
 *   available, the data goes into a staging file under a temporary name, from
 *   which the server itself copies what is complete, in order.
 *
 * What stands under its name is never renamed, nor replaced: it may be another
 * program's. Two copies of one new file each have a temporary file of their
 * own, and the second one to show it fails, and removes it.
 *
 * A further connection opens the temporary file by its name, which another user
 * may have given to another file if he may write in the directory. So there is
 * only one connection where others may, unless the directory is sticky. And the
 * first connection sets a time of the file that nobody can know, by its handle:
 * what another connection has opened counts if it has that time and owner, and
 * so does what has the file's name at the end. If it has not, the copy has
 * failed.
 *
 * What was left over by a copy that was killed is removed (stale-temp.h). If
 * the staging file cannot be written, the first is continued over one
 * connection.
 *
 * The states, from the top to the bottom, and what ends each:
 *
 *   LOOKING        all names were looked at
 *   OPENING        the file is open, or the next way to open it is due
 *   MOVING         the data has ended                        <--+
 *   COPYING_BACK   the staging file is copied and removed    ---+ it failed
 *   TRUNCATING     a file that is not whole is truncated, and with "in_place"
 *                  any old one; a temporary file that the server does not
 *                  truncate keeps its temporary name, and an error names it
 *   RENAMING       it has its name and attributes, and is closed
 *   CHECKING       what has the name is the file
 *   CLEANING       what was left over is removed
 *   ENDED
 *
 * A file that is uploaded over one connection in any case can have a temporary
 * file that only removes what was left over ("only_removes_stale"). It begins
 * in MOVING, where it looks, and waits in CLEANING if something was found.
 *
 * The caller does what tempfile_next() returns, in any state, and hands each
 * reply to tempfile_reply(). Requests go over the main connection. No I/O, no
 * clock, no upstream header. Not thread safe.
 */

#ifndef HAYATE_TEMPFILE_H
#define HAYATE_TEMPFILE_H

#include <stdint.h>

#include "stale-temp.h"

enum tempfile_op {
	/* Requests */
	TEMPFILE_LSTAT_TARGET = 1,	/* of what has its name */
	TEMPFILE_LSTAT_DIR,	/* of its directory */
	TEMPFILE_LSTAT_STALE,	/* of the temporary name "number" */
	TEMPFILE_REMOVE_STALE,	/* remove that file */
	TEMPFILE_FSTAT_OLD,	/* attributes of the file that is open */
	TEMPFILE_OPEN_STAGING,	/* a temporary file, which must not exist */
	TEMPFILE_SET_TAG,	/* sets the time, of the open temporary file */
	TEMPFILE_FSTAT_TAG,	/* attributes, likewise */
	TEMPFILE_STATVFS,	/* of the temporary file's file system */
	TEMPFILE_COPY_BACK,	/* "len" bytes, staging file to file; 0: all */
	/* what has the temporary name: is it the file? */
	TEMPFILE_LSTAT_TEMP,
	TEMPFILE_SETSIZE,	/* the file to "off" bytes */
	TEMPFILE_RENAME,	/* rename the temporary file to its name */
	TEMPFILE_LSTAT_RENAMED,	/* what has its name: is it the file? */
	TEMPFILE_FSETSTAT,	/* set those of the local file */
	TEMPFILE_CLOSE_STAGING,
	TEMPFILE_REMOVE_STAGING,
	TEMPFILE_CLOSE,		/* the file */
	TEMPFILE_REMOVE,	/* remove the temporary file */

	/*
	 * No requests, but what is next for the caller itself: it opens the
	 * file, as new under the temporary name "number", as new under its
	 * name, or as any other file. The reply to the first two counts.
	 */
	TEMPFILE_OPEN_TEMP,
	TEMPFILE_OPEN_NEW,
	TEMPFILE_OPEN_OLD,
	TEMPFILE_CONTINUE,	/* data goes on at "off", over one connection */
	TEMPFILE_END		/* nothing is next any more */
};

struct tempfile_request {
	enum tempfile_op op;
	unsigned int number;		/* of the temporary name */
	uint64_t off, at;		/* of the file; of the staging file */
	uint32_t len;
};

/* What the server is known to have */
#define TEMPFILE_HAS_COPY	1	/* copy-data, and space can be asked */

/* Where the file stands, as its mover says */
struct tempfile_now {
	enum tempfile_phase {
		TEMPFILE_WAITS,		/* nothing may be asked now */
		TEMPFILE_BEGINS,	/* it is to be opened */
		TEMPFILE_MOVES,		/* it is open, and its data moves */
		/* no extent is in flight, and no other handle is open */
		TEMPFILE_ENDS
	} phase;
	uint64_t us;			/* a clock that only goes forward */
	uint64_t contiguous_end, cursor;	/* of its extents */
	uint64_t highest_sent;			/* the highest byte */
	unsigned int in_flight;		/* requests in flight, but WRITEs */
	int	 no_more_data;		/* nothing more is assigned */
	int	 stopped, failed;	/* by the user, the server */
	int	 restart;	/* the file will be restarted */
	int	 conns_wanted;		/* more than one connection */
	int	 helper_idle;	/* a further connection is up, and helps */
	int	 server_caps;			/* TEMPFILE_HAS_*, once it is */
};

struct tempfile_conf {
	uint64_t size;			/* of the local file, when opened */
	int	 in_place;		/* an old file is cut last, not first */
	int	 preserve;		/* TEMPFILE_FSETSTAT is wanted */
	int	 is_readonly;		/* its mode lets nobody open it again */
	unsigned int number;	/* of the temporary name, if it is free */
	int	 only_removes_stale;	/* what was left over; see above */
	/* a search that has ended, and goes on here; or NULL */
	const struct stale_temp *searched;
};

/*
 * All that a reply says. A file, or an owner, that the server does not tell is
 * left out: 0. An owner counts if the file is ours, or nobody else may write in
 * the directory.
 */
struct tempfile_reply {
	int	 ok;		/* it is no error; else nothing else counts */
	/*
	 * Is it so? LSTAT_DIR: nobody else may give names there. FSTAT_OLD: it
	 * is a regular file. FSTAT_TAG: it has the time that was set.
	 * LSTAT_TEMP, LSTAT_RENAMED: it is the file of the handle.
	 */
	int	 confirmed;
	int	 has_owner;			/* FSTAT_*: "file" has it */
	struct stale_temp_file file;	/* LSTAT_STALE; FSTAT_OLD: its size */
	uint64_t free_space;			/* STATVFS: bytes */
};

struct tempfile;			/* private to tempfile.c */

/* Returns NULL if out of memory. */
struct tempfile *tempfile_new(const struct tempfile_conf *);
void	tempfile_free(struct tempfile *);		/* accepts NULL */

/* Returns 1 and what is next, or 0: nothing before a reply, or some time. */
int	tempfile_next(struct tempfile *, const struct tempfile_now *,
    struct tempfile_request *);

/* Returns 1 if it is an error that the user has to be told. */
int	tempfile_reply(struct tempfile *, const struct tempfile_now *,
    const struct tempfile_request *, const struct tempfile_reply *);

/*
 * Where the byte "off" is written: returns 1 if into the staging file, and sets
 * "*at".
 */
int tempfile_locate_write(const struct tempfile *, uint64_t off, uint64_t *at);

/*
 * The server refused a WRITE at "off". Returns 1 if the user need not be told,
 * as the staging file is given up: TEMPFILE_CONTINUE follows.
 */
int	tempfile_write_failed(struct tempfile *, uint64_t off);

/* Returns the first byte that is not complete in the file itself. */
uint64_t tempfile_copied_bytes(const struct tempfile *,
    uint64_t contiguous_end);

/* See above. */
enum tempfile_state {
	TEMPFILE_LOOKING, TEMPFILE_OPENING, TEMPFILE_MOVING,
	TEMPFILE_COPYING_BACK, TEMPFILE_TRUNCATING, TEMPFILE_RENAMING,
	TEMPFILE_CHECKING, TEMPFILE_CLEANING, TEMPFILE_ENDED
};

/*
 * What the server would keep if all ended now: the file under its temporary
 * name, perhaps so, or a staging file.
 */
enum tempfile_leftover {
	TEMPFILE_LEAVES_NOTHING,
	TEMPFILE_LEAVES_TEMP,
	TEMPFILE_MAY_LEAVE_TEMP,
	TEMPFILE_LEAVES_STAGING
};

/* What a caller may know of it */
struct tempfile_info {
	enum tempfile_state state;
	enum tempfile_op open;	/* TEMPFILE_OPEN_*, since OPENING */
	unsigned int number;		/* of the temporary name */
	/* More connections may write. */
	int	 may_stripe;
	int	 has_staging;	/* SET_TAG and FSTAT_TAG are about that file */
	/* It returns to one connection: nothing more is assigned. */
	int	 is_reverting;
	int	 has_failed;		/* the server failed: it is not whole */
	/*
	 * It has to be put again, over one connection: it has not got its name,
	 * which is free; or it was not cut, and has old bytes at its end.
	 */
	int	 must_restart, not_truncated;
	int	 is_renamed;	/* the temporary file has got the name */
	int	 is_not_renamed;	/* it has not */
	enum tempfile_leftover leftover;
};

/* Accepts NULL, for a file without one: all is 0. */
struct tempfile_info tempfile_info(const struct tempfile *);

#endif /* HAYATE_TEMPFILE_H */
