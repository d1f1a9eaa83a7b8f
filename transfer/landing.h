/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * landing: by which rule the bytes of a file appear under its name.
 *
 * A file that is got is written in order. What comes early waits in memory
 * until all before it is written, so the file never has a hole, whatever is
 * interrupted, and a copy of it can be resumed. What lies behind an error, or
 * behind the end, is not written. The caller bounds what waits: ranges.h counts
 * it.
 *
 * A file that is put begins under its name, in order, over one link. No byte is
 * written behind a hole there. So before a second link may write,
 *
 *   a file that is new is renamed to a hidden name, and gets its name back when
 *   it is complete, or is cut behind its last byte without a hole;
 *
 *   a file that was there before gets, in order, what is complete in a hidden
 *   second file, which the server itself copies.
 *
 * Before a hidden name is taken all are looked at. What was left over by a copy
 * that was killed is removed (left.h). If the second file cannot be written,
 * the first is continued over one link.
 *
 * What is asked for a put goes over link 0, which never ends. The caller sends
 * it and reports each reply. No I/O, no clock, no upstream header. Not thread
 * safe.
 */

#ifndef HAYATE_LANDING_H
#define HAYATE_LANDING_H

#include <stdint.h>

struct range;
struct ranges;

/* A file that is got */

/*
 * The first "len" bytes of a range have come. Returns 1 if the caller has to
 * write them now, at "off" of the range, and then calls landing_written(); 0 if
 * they wait or are of no use; -1 if out of memory.
 */
int	landing_data(struct ranges *, struct range *, const unsigned char *data,
    uint32_t len);

/*
 * Returns the range that has waited and can be written now; landing_written()
 * follows. NULL: none.
 */
struct range *landing_next(const struct ranges *);

/* The first range was written. If not "ok", nothing behind it will be. */
void	landing_written(struct ranges *, int ok);

/* A file that is put */

enum landing_op {
	LANDING_LOOK = 1,	/* attributes of the file that is open */
	LANDING_FIND,		/* attributes of the hidden name "number" */
	LANDING_SWEEP,		/* remove that file */
	LANDING_HIDE,		/* rename the file to its hidden name */
	LANDING_OPEN_SECOND,	/* a hidden file, which must not exist */
	LANDING_SPACE,		/* of the hidden file's file system */
	LANDING_COPY,		/* "len" bytes, second file to file; 0: all */
	LANDING_OWN,		/* attributes of the hidden name: there? */
	LANDING_TRUNCATE,	/* the file to "off" bytes */
	LANDING_ATTRS,		/* set those of the local file */
	LANDING_SHOW,		/* rename the hidden file to its name */
	LANDING_CLOSE_SECOND,
	LANDING_REMOVE_SECOND,
	LANDING_CLOSE		/* the file */
};

struct landing_ask {
	enum landing_op op;
	unsigned int number;		/* of the hidden name */
	uint64_t off, at;		/* of the file; of the second file */
	uint32_t len;
};

/* Where the file stands, as its mover says */
struct landing_now {
	uint64_t us;			/* a clock that only goes forward */
	uint64_t frontier, cursor;	/* of its ranges */
	uint64_t sent;			/* the highest byte */
	unsigned int controls;		/* requests under way, but WRITEs */
	int	 is_over;		/* nothing more is dealt */
	int	 stopped, failed;	/* by the user, the server */
	int	 may_widen;		/* a further link is up, and helps */
	int	 told;			/* LANDING_HAS_*, once it is */
};

/* What the server is known to have */
#define LANDING_HAS_COPY	1	/* copy-data, and space can be asked */
#define LANDING_HAS_RENAME	2	/* a hidden file can be opened */

struct landing_conf {
	uint64_t size;			/* of the local file, when opened */
	int	 in_place;		/* an old file is cut last, not first */
	int	 preserve;		/* LANDING_ATTRS is wanted */
	unsigned int number;		/* of the hidden name, if it is free */
};

struct landing;			/* private to landing.c */

/* Returns NULL if out of memory. */
struct landing *landing_new(const struct landing_conf *);
void	landing_free(struct landing *);		/* accepts NULL */

/* The file was there before. */
void	landing_set_old(struct landing *);

/*
 * While the file moves, and when nothing is dealt any more and no range is
 * under way. Return 1 and what is to be asked, or 0. landing_end() is called
 * until landing_has_ended(), or landing_reverts(), which returns 1 once: the
 * file goes on from landing_kept(), over one link.
 */
int	landing_move(struct landing *, const struct landing_now *,
    struct landing_ask *);
int	landing_end(struct landing *, const struct landing_now *,
    struct landing_ask *);
int	landing_has_ended(const struct landing *);
int	landing_reverts(struct landing *, const struct landing_now *);

/*
 * A reply has come. Returns 1 if the error is to be told to the user.
 * landing_looked(), landing_found() and landing_space() come before it, with
 * what a reply that is no error says: bytes. What is no regular file is left
 * alone.
 */
int	landing_reply(struct landing *, const struct landing_ask *, int ok,
    const struct landing_now *);
void	landing_looked(struct landing *, int is_regular, uint64_t size);
void	landing_found(struct landing *, unsigned int number, int is_regular,
    uint64_t size, uint64_t mtime);
void	landing_space(struct landing *, uint64_t available, uint64_t rest);

/*
 * Where the byte "off" is written: returns 1 if into the second file, and sets
 * "*at". A WRITE there that failed is not told: the file reverts.
 */
int	landing_place(const struct landing *, uint64_t off, uint64_t *at);
void	landing_lost_second(struct landing *);

/* More links may write. */
int	landing_is_wide(const struct landing *);

/* The file is on its way back to one link: nothing more is dealt. */
int	landing_is_reverting(const struct landing *);

/* Bytes that are complete in the file itself */
uint64_t landing_kept(const struct landing *, uint64_t frontier);

/* Returns 1 if the file is not complete, because the server failed. */
int	landing_has_failed(const struct landing *);

/*
 * What the server would keep if all ended now: the file under its hidden name,
 * perhaps so, or a second file.
 */
enum landing_left {
	LANDING_LEFT_NOTHING,
	LANDING_LEFT_HIDDEN,
	LANDING_LEFT_PERHAPS,
	LANDING_LEFT_SECOND
};

enum landing_left landing_left(const struct landing *);

#endif /* HAYATE_LANDING_H */
