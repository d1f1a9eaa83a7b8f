/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * lines: the names of a list of files, as its bytes come.
 *
 * A line is the name of a file below a root, with any bytes but the one that
 * ends it: a newline, or NUL. A NUL inside a line is bad. A name is cleaned:
 * slashes at its beginning and end, doubled ones, and "." components go, so
 * what is left is "a/b/c", or nothing for the root itself. One with a ".."
 * component is bad, even where it would lead back: its meaning depends on
 * links. The last line may lack its end. Empty lines are skipped.
 *
 * A line of more than LINES_MAX bytes is bad, and is cut to that length.
 *
 * Bytes go in, names come out. No I/O, no upstream header. Not thread safe.
 * regress/unit/lines-replay.c drives it alone.
 */

#ifndef HAYATE_LINES_H
#define HAYATE_LINES_H

#include <stddef.h>
#include <stdint.h>

/* The longest path of Linux, without its NUL */
#define LINES_MAX	4095

struct lines;			/* private to lines.c: one per list */

struct line {
	uint64_t number;		/* from 1; empty lines count */
	const char *name;		/* cleaned; a bad one as it is */
	unsigned int depth;		/* components; the root has 0 */
	const char *why;		/* why it is bad; NULL: it is good */
};

/* "end" ends a line: '\n' or '\0'. Returns NULL if out of memory. */
struct lines *lines_new(char end);

/* Accepts NULL. */
void	lines_free(struct lines *);

/*
 * Returns room for "*len" bytes of the list, at least 1. Call it only after
 * lines_next() has returned 0, or before the first lines_next().
 */
char	*lines_room(struct lines *, size_t *len);

/* "len" bytes have been put there; 0: the list ends. */
void	lines_filled(struct lines *, size_t len);

/*
 * Returns 1 and the next line, which is valid until the next call. Returns 0 if
 * more bytes are needed, or if the list has ended, as lines_ended() says.
 */
int	lines_next(struct lines *, struct line *);
int	lines_ended(const struct lines *);

#endif /* HAYATE_LINES_H */
