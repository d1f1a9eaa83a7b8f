/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * stale-temp: finds and removes temporary files of interrupted uploads, under
 * the temporary names of a target (tempfile.h).
 *
 * SFTP has no locks, and a file with such a name may belong to a copy that
 * still runs. So a file is stale only if its size and mtime are the same after
 * STALE_TEMP_WATCH_US. Candidates for resuming, which staging files are not,
 * are tried longest first: the caller compares the file with the source, and
 * renames it to the target if it is equal. When the copy is done, all stale
 * files are removed. The copy may have taken hours, and the names may have been
 * taken by another copy, so each file is looked up again before that.
 *
 * Anyone who can write in the directory can take these names. A file is left
 * alone if its owner is another user, or as long as the user's number at the
 * server is not known (stale_temp_set_owner()).
 *
 * The caller does what stale_temp_next() returns. No I/O, no clock, no
 * allocation.
 */

#ifndef HAYATE_STALE_TEMP_H
#define HAYATE_STALE_TEMP_H

#include <stdint.h>

#define STALE_TEMP_NAMES	8	/* temporary names; less than 10 */
#define STALE_TEMP_STAGING	4	/* and above: staging files */

/* What has not changed for so long, in microseconds, nobody writes. */
#define STALE_TEMP_WATCH_US	3000000

enum stale_temp_op {
	/* look at the name "number"; stale_temp_found() */
	STALE_TEMP_LSTAT = 1,
	STALE_TEMP_BUSY,		/* wait for what was looked at */
	STALE_TEMP_WAIT,		/* call it again soon */
	STALE_TEMP_COMPARE,		/* compare the file "number" */
	STALE_TEMP_IN_USE,		/* say that a copy still writes it */
	STALE_TEMP_REMOVE,		/* remove the file "number" */
	STALE_TEMP_END		/* of what was begun */
};

struct stale_temp_action {
	enum stale_temp_op op;
	unsigned int number;
};

/*
 * One search is for all that a copy needs to know of the names: which are free,
 * which file it can continue, which are to be removed. Private to stale-temp.c,
 * but to be a field of others.
 *
 *   LOOKING -> LOOKED -> SEARCHING <-> COMPARING
 *                 |          |             |
 *                 |       SEARCHED <-------+
 *                 |          |
 *                 +----------+--> WATCHING -> REMOVING -> REMOVED
 */
struct stale_temp {
	enum stale_temp_phase {
		STALE_TEMP_LOOKING,
		STALE_TEMP_LOOKED,
		STALE_TEMP_SEARCHING,	/* for what can be continued */
		STALE_TEMP_COMPARING,	/* the caller compares "number" */
		STALE_TEMP_SEARCHED,
		STALE_TEMP_WATCHING,	/* whether somebody writes them */
		STALE_TEMP_REMOVING,
		STALE_TEMP_REMOVED
	} phase;
	int	 removes;		/* WATCHING follows LOOKING */
	unsigned int number;		/* of what is compared */
	uint64_t looked_us;		/* when, in microseconds */
	unsigned int to_ask, due;	/* a bit for each name */
	int	 has_owner;
	uint32_t owner;			/* the user's number there */
	struct stale_temp_name {
		enum {
			STALE_TEMP_FREE, STALE_TEMP_FOREIGN, STALE_TEMP_SEEN,
			    STALE_TEMP_ABANDONED,
			STALE_TEMP_ACTIVE
		} is;
		int	 tried;
		uint32_t owner;
		uint64_t size;
		int64_t	 mtime;
	} name[STALE_TEMP_NAMES];
};

/*
 * "asks_owner": the number STALE_TEMP_NAMES is looked at as well, for its
 * owner. Otherwise the caller finds out who the user is there.
 */
void	stale_temp_begin(struct stale_temp *, int asks_owner);
void	stale_temp_set_owner(struct stale_temp *, uint32_t owner);

/*
 * The target is not there: begins a search for something to go on with, and
 * returns 1, or 0 if there was one.
 */
int	stale_temp_search(struct stale_temp *);

/* The rest is removed, if that has not begun. */
void	stale_temp_remove_all(struct stale_temp *);

/* "us": the time; it only goes forward */
void	stale_temp_next(struct stale_temp *, uint64_t us,
    struct stale_temp_action *);

/* What a name is; of a regular file its owner, size and time in seconds */
enum stale_temp_kind { STALE_TEMP_ABSENT, STALE_TEMP_NOT_FILE,
    STALE_TEMP_FILE };
struct stale_temp_file {
	enum stale_temp_kind is;
	uint32_t owner;
	uint64_t size;
	int64_t	 mtime;
};
void	stale_temp_found(struct stale_temp *, unsigned int number,
    const struct stale_temp_file *);

/* Returns 1 if there was nothing under the name. */
int	stale_temp_is_free(const struct stale_temp *, unsigned int number);

/* No reply will come to what was looked at: it is looked at again. */
void	stale_temp_replies_lost(struct stale_temp *);

/* Returns 1 if the caller compares a file, as STALE_TEMP_COMPARE says. */
int	stale_temp_compares(const struct stale_temp *);

/*
 * The comparison has ended. If the file was "adopted", it has another name, and
 * no other is searched for.
 */
void	stale_temp_compared(struct stale_temp *, int adopted);

#endif /* HAYATE_STALE_TEMP_H */
