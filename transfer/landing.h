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
 * A file that is put grows under its name, in order, over one link. No byte is
 * written behind a hole there. Before it is opened, its name, the directory and
 * all hidden names are looked at, in one round trip. Then
 *
 *   a file that is new and for which several links are wanted is made under a
 *   hidden name, and gets its own when it is complete, or is cut behind its
 *   last byte without a hole;
 *
 *   any other begins under its name. If a second link comes it gets, in order,
 *   what is complete in a hidden second file, which the server itself copies.
 *
 * What stands under its name is never renamed, nor replaced: it may be another
 * program's. Two copies of one new file each have a hidden file of their own,
 * and the second one to show it fails, and removes it.
 *
 * A further link opens the hidden file by its name, which another user may have
 * given to another file if he may write in the directory. So there is only one
 * link where others may, unless the directory is sticky. And the first link
 * sets a time of the file that nobody can know, by its handle: what another
 * link has opened counts if it has that time and owner, and so does what has
 * the file's name at the end. If it has not, the copy has failed.
 *
 * What was left over by a copy that was killed is removed (left.h). If the
 * second file cannot be written, the first is continued over one link.
 *
 * A file that is put over one link in any case can have a landing that only
 * does that ("only_sweeps"). It has no part in how the file is opened, written
 * and closed: landing_move() looks while the file moves, and landing_end(),
 * when the file is closed, waits if something was found.
 *
 * What is asked for a put goes over link 0, which never ends. The caller sends
 * it and reports each reply. No I/O, no clock, no upstream header. Not thread
 * safe.
 */

#ifndef HAYATE_LANDING_H
#define HAYATE_LANDING_H

#include <stdint.h>

struct left_file;
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
	/* Before the file is open: attributes of what has its name, of */
	LANDING_TARGET = 1,
	LANDING_DIR,		/* its directory, */
	LANDING_FIND,		/* and the hidden name "number" */
	LANDING_SWEEP,		/* remove that file */
	LANDING_LOOK,		/* attributes of the file that is open */
	LANDING_OPEN_SECOND,	/* a hidden file, which must not exist */
	LANDING_MARK,		/* sets the time, of the open hidden file */
	LANDING_KNOW,		/* attributes, likewise */
	LANDING_SPACE,		/* of the hidden file's file system */
	LANDING_COPY,		/* "len" bytes, second file to file; 0: all */
	LANDING_OWN,		/* what has the hidden name: is it the file? */
	LANDING_TRUNCATE,	/* the file to "off" bytes */
	LANDING_SHOW,		/* rename the hidden file to its name */
	LANDING_SHOWN,		/* what has its name: is it the file? */
	LANDING_ATTRS,		/* set those of the local file */
	LANDING_CLOSE_SECOND,
	LANDING_REMOVE_SECOND,
	LANDING_CLOSE,		/* the file */
	LANDING_DROP		/* remove the hidden file */
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
	int	 again;			/* what is there will be put anew */
	int	 is_wanted;		/* more than one link */
	int	 may_widen;		/* a further link is up, and helps */
	int	 told;			/* LANDING_HAS_*, once it is */
};

/* What the server is known to have */
#define LANDING_HAS_COPY	1	/* copy-data, and space can be asked */

struct landing_conf {
	uint64_t size;			/* of the local file, when opened */
	int	 in_place;		/* an old file is cut last, not first */
	int	 preserve;		/* LANDING_ATTRS is wanted */
	int	 is_locked;		/* its mode lets nobody open it again */
	unsigned int number;		/* of the hidden name, if it is free */
	int	 only_sweeps;		/* what was left over; see below */
};

struct landing;			/* private to landing.c */

/* Returns NULL if out of memory. */
struct landing *landing_new(const struct landing_conf *);
void	landing_free(struct landing *);		/* accepts NULL */

/*
 * Before the file is open: returns 1 and what is to be asked, or 0. When all is
 * answered, landing_opens() says how it is opened. After the reply
 * landing_open() returns 1 if it is to be opened in another way.
 */
enum landing_way {
	LANDING_WAITS,
	LANDING_IS_HIDDEN,	/* as new, under the hidden name "number" */
	LANDING_IS_NEW,		/* as new, under its name */
	LANDING_IS_OLD		/* it may be there */
};
int	landing_begin(struct landing *, const struct landing_now *,
    struct landing_ask *);
enum landing_way landing_opens(struct landing *, const struct landing_now *);
int	landing_open(struct landing *, int ok);
enum landing_way landing_way(const struct landing *, unsigned int *number);

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
 * The functions behind it come before, with what a reply that is no error says:
 * bytes. What is no regular file is left alone. "is_marked": the file has the
 * time that was set. "is_same": it is the file of the handle. An owner is that
 * of the file that LOOK or KNOW is about. One that was there may be of another
 * user, and counts only where nobody else may write in the directory.
 */
int	landing_reply(struct landing *, const struct landing_ask *, int ok,
    const struct landing_now *);
void	landing_dir(struct landing *, int is_safe);
void	landing_looked(struct landing *, int is_regular, uint64_t size);
void	landing_found(struct landing *, unsigned int number,
    const struct left_file *);
void	landing_known(struct landing *, int is_marked);
void	landing_owner(struct landing *, uint32_t owner);
void	landing_saw(struct landing *, enum landing_op, int is_same);
void	landing_space(struct landing *, uint64_t available, uint64_t rest);

/*
 * Where the byte "off" is written: returns 1 if into the second file, and sets
 * "*at". A WRITE there that failed is not told: the file reverts.
 */
int	landing_place(const struct landing *, uint64_t off, uint64_t *at);
void	landing_lost_second(struct landing *);

/* More links may write. MARK and KNOW are about the second file. */
int	landing_is_wide(const struct landing *);
int	landing_has_second(const struct landing *);

/* The file is on its way back to one link: nothing more is dealt. */
int	landing_is_reverting(const struct landing *);

/* Bytes that are complete in the file itself */
uint64_t landing_kept(const struct landing *, uint64_t frontier);

/* Returns 1 if the file is not complete, because the server failed. */
int	landing_has_failed(const struct landing *);

/*
 * Return 1 if the file has to be put once more, over one link: it has not got
 * its name, which is free; or it was not cut, and has old bytes at its end.
 */
int	landing_goes_again(const struct landing *);
int	landing_is_uncut(const struct landing *);

/* The hidden file got the name, or did not. */
int	landing_is_shown(const struct landing *);
int	landing_is_unshown(const struct landing *);

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
