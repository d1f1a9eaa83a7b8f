/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * left: what a copy over several channels that was killed has left under the
 * hidden names of its target (landing.h).
 *
 * SFTP has no locks, and a file that is there may belong to a copy that still
 * runs. So what is found is left over if it has the same size and time after
 * LEFT_WATCH_US. The longest that is no second file is tried first: the
 * caller compares it with the source, and gives what is equal the name of the
 * target. When the copy is done, all that is left over is removed. It may have
 * taken hours, and the names be those of another copy then, so they are looked
 * at once more.
 *
 * Names can be taken by anyone who may write in the directory. So what is not
 * the user's own is left alone: a file whose owner is another one, or as long
 * as the user's number there is not known (left_set_owner()).
 *
 * The caller does what left_next() says. No I/O, no clock, no allocation.
 */

#ifndef HAYATE_LEFT_H
#define HAYATE_LEFT_H

#include <stdint.h>

#define LEFT_NAMES	8		/* hidden ones; less than 10 */
#define LEFT_SECOND	4	/* from here on those of second files */

/* What has not changed for so long, in microseconds, nobody writes. */
#define LEFT_WATCH_US	3000000

enum left_op {
	LEFT_FIND = 1,		/* look at the name "number"; left_found() */
	LEFT_BUSY,		/* wait for what was looked at */
	LEFT_WAIT,		/* call it again soon */
	LEFT_TRY,		/* compare the file "number" */
	LEFT_RUNS,		/* say that a copy still writes it */
	LEFT_SWEEP,		/* remove the file "number" */
	LEFT_END		/* of what was begun */
};

struct left_action {
	enum left_op op;
	unsigned int number;
};

/* Private to left.c, but to be a field of others */
struct left {
	enum left_phase {
		LEFT_LOOKS, LEFT_RESTS, LEFT_SEARCHES, LEFT_CLEANS, LEFT_SWEEPS
	} phase;
	uint64_t looked;		/* when, in microseconds */
	unsigned int ask, due;		/* a bit for each name */
	int	 has_owner;
	uint32_t owner;			/* the user's number there */
	struct left_name {
		enum {
			LEFT_NONE, LEFT_STRANGE, LEFT_FOUND, LEFT_DEAD,
			LEFT_ALIVE
		} is;
		int	 tried;
		uint32_t owner;
		uint64_t size;
		int64_t	 mtime;
	} name[LEFT_NAMES];
};

void	left_begin(struct left *);

/*
 * Before left_search() or left_clean(). left_ask_owner(), right after
 * left_begin(): the number LEFT_NAMES is looked at as well, for its owner.
 */
void	left_ask_owner(struct left *);
void	left_set_owner(struct left *, uint32_t owner);

/*
 * After LEFT_END these two begin the search for something to go on with, if the
 * target is not there, and the removal of the rest, when all is copied.
 */
void	left_search(struct left *);
void	left_clean(struct left *);

/* "us": the time; it only goes forward */
void	left_next(struct left *, uint64_t us, struct left_action *);

/* What a name is; of a regular file its owner, size and time in seconds */
enum left_is { LEFT_ABSENT, LEFT_OTHER, LEFT_FILE };
struct left_file {
	enum left_is is;
	uint32_t owner;
	uint64_t size;
	int64_t	 mtime;
};
void	left_found(struct left *, unsigned int number,
    const struct left_file *);

/* Returns 1 if there was nothing under the name. */
int	left_is_free(const struct left *, unsigned int number);

/* No reply will come to what was looked at: it is looked at again. */
void	left_lost(struct left *);

/* The file got another name: no other is searched for. */
void	left_taken(struct left *, unsigned int number);

#endif /* HAYATE_LEFT_H */
