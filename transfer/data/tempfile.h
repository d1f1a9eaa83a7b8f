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
 * A file that is uploaded over one connection in any case can have a temporary
 * file that only does that ("only_sweeps"). It has no part in how the file is
 * opened, written and closed: tempfile_ask_during_data() looks while the file
 * moves, and tempfile_ask_at_end(), when the file is closed, waits if something
 * was found.
 *
 * What is asked for a put goes over connection 0, which never ends. The caller
 * sends it and reports each reply. No I/O, no clock, no upstream header. Not
 * thread safe.
 */

#ifndef HAYATE_TEMPFILE_H
#define HAYATE_TEMPFILE_H

#include <stdint.h>

#include "stale-temp.h"


enum tempfile_op {
	/* Before the file is open: attributes of what has its name, of */
	TEMPFILE_LSTAT_TARGET = 1,
	TEMPFILE_LSTAT_DIR,	/* its directory, */
	TEMPFILE_LSTAT_STALE,	/* and the temporary name "number" */
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
	TEMPFILE_REMOVE		/* remove the temporary file */
};

struct tempfile_request {
	enum tempfile_op op;
	unsigned int number;		/* of the temporary name */
	uint64_t off, at;		/* of the file; of the staging file */
	uint32_t len;
};

/* Where the file stands, as its mover says */
struct tempfile_now {
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

/* What the server is known to have */
#define TEMPFILE_HAS_COPY	1	/* copy-data, and space can be asked */

struct tempfile_conf {
	uint64_t size;			/* of the local file, when opened */
	int	 in_place;		/* an old file is cut last, not first */
	int	 preserve;		/* TEMPFILE_FSETSTAT is wanted */
	int	 is_readonly;		/* its mode lets nobody open it again */
	unsigned int number;	/* of the temporary name, if it is free */
	int	 only_removes_stale;	/* what was left over; see below */
};

struct tempfile;			/* private to tempfile.c */

/* Returns NULL if out of memory. */
struct tempfile *tempfile_new(const struct tempfile_conf *);
void	tempfile_free(struct tempfile *);		/* accepts NULL */

/*
 * Before the file is open: returns 1 and what is to be asked, or 0. When all is
 * answered, tempfile_decide_open() says how it is opened. After the reply
 * tempfile_opened() returns 1 if it is to be opened in another way.
 */
enum tempfile_open_mode {
	TEMPFILE_UNDECIDED,
	TEMPFILE_OPEN_TEMP,	/* as new, under the temporary name "number" */
	TEMPFILE_OPEN_NEW,	/* as new, under its name */
	TEMPFILE_OPEN_OLD		/* it may be there */
};
int	tempfile_ask_before_open(struct tempfile *, const struct tempfile_now *,
    struct tempfile_request *);
enum tempfile_open_mode tempfile_decide_open(struct tempfile *,
    const struct tempfile_now *);
int	tempfile_opened(struct tempfile *, int ok);
enum tempfile_open_mode tempfile_open_mode(const struct tempfile *,
    unsigned int *number);

/*
 * While the file moves, and when nothing is assigned any more and no extent is
 * in flight. Return 1 and what is to be asked, or 0. tempfile_ask_at_end() is
 * called until tempfile_has_ended(), or tempfile_reverts(), which returns 1
 * once: the file goes on from tempfile_copied_bytes(), over one connection.
 */
int	tempfile_ask_during_data(struct tempfile *, const struct tempfile_now *,
    struct tempfile_request *);
int	tempfile_ask_at_end(struct tempfile *, const struct tempfile_now *,
    struct tempfile_request *);
int	tempfile_has_ended(const struct tempfile *);
int	tempfile_reverts(struct tempfile *, const struct tempfile_now *);

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

/* Returns 1 if it is an error that the user has to be told. */
int	tempfile_reply(struct tempfile *, const struct tempfile_now *,
    const struct tempfile_request *, const struct tempfile_reply *);

/*
 * Where the byte "off" is written: returns 1 if into the staging file, and sets
 * "*at". A WRITE there that failed is not told: the file reverts.
 */
int tempfile_locate_write(const struct tempfile *, uint64_t off, uint64_t *at);
void	tempfile_staging_failed(struct tempfile *);

/*
 * More connections may write. SET_TAG and FSTAT_TAG are about the staging file.
 */
int	tempfile_may_stripe(const struct tempfile *);
int	tempfile_has_staging(const struct tempfile *);

/* The file is on its way back to one connection: nothing more is assigned. */
int	tempfile_is_reverting(const struct tempfile *);

/* Bytes that are complete in the file itself */
uint64_t tempfile_copied_bytes(const struct tempfile *,
    uint64_t contiguous_end);

/* Returns 1 if the file is not complete, because the server failed. */
int	tempfile_has_failed(const struct tempfile *);

/*
 * Return 1 if the file has to be put again, over one connection: it has not
 * got its name, which is free; or it was not cut, and has old bytes at its end.
 */
int	tempfile_wants_restart(const struct tempfile *);
int	tempfile_truncate_failed(const struct tempfile *);

/* The temporary file got the name, or did not. */
int	tempfile_is_renamed(const struct tempfile *);
int	tempfile_is_not_renamed(const struct tempfile *);

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

enum tempfile_leftover tempfile_leftover(const struct tempfile *);

#endif /* HAYATE_TEMPFILE_H */
