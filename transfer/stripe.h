/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * stripe: one large file that is put, over as many channels as it takes.
 *
 * The file begins as any other: under its name, in order, on the first
 * channel. If the server's window is the limit, more channels are asked for, 10
 * in all at most (width.h). A refusal is the limit.
 *
 * If the user wants so many connections, they are asked for at once, but one
 * after the other, and take the place of channels. If not even one can be had,
 * there are channels as before.
 *
 * When the second channel is there, landing.h says where its bytes may go: not
 * under the name of the file, but into a hidden one. If that cannot be written,
 * the file is continued on one channel. The ranges of a channel that is lost
 * are dealt again.
 *
 * Channel 0 is the connection that was there before. The caller sends what the
 * actions say and reports each reply. No I/O, no clock, no upstream header.
 * Called by stripe-hook.c. Not thread safe.
 */

#ifndef HAYATE_STRIPE_H
#define HAYATE_STRIPE_H

#include <stdint.h>

#include "landing.h"

#define STRIPE_CHANNELS	10		/* with channel 0 */

/* A smaller file, or rest of a file, is not worth more channels: bytes */
#define STRIPE_LEAST	(32 * 1024 * 1024)

/* A smaller rest is not worth one more connection: bytes */
#define STRIPE_REST	(4 * 1024 * 1024)

struct stripe;			/* private to stripe.c */

enum stripe_op {
	STRIPE_OPEN_NEW = 1,	/* the file, which must not exist */
	STRIPE_OPEN_OLD,	/* the file, as it is put without stripes */
	STRIPE_LOOK,		/* attributes of the file that is open */
	STRIPE_FIND,		/* attributes of the hidden name "number" */
	STRIPE_SWEEP,		/* remove that file */
	STRIPE_CONNECT,		/* channel; stripe_up() or stripe_down() */
	STRIPE_LOGIN,		/* connection, likewise */
	STRIPE_HIDE,		/* rename the file to its hidden name */
	STRIPE_OPEN_SECOND,	/* a hidden file, which must not exist */
	STRIPE_SPACE,		/* of the hidden file's file system */
	STRIPE_JOIN,		/* open the hidden file on a channel */
	STRIPE_WRITE,		/* "len" bytes at "off" of the local file */
	STRIPE_COPY,		/* "len" bytes, second file to file; 0: all */
	STRIPE_OWN,		/* attributes of the hidden name: there? */
	STRIPE_TRUNCATE,		/* the file to "off" bytes */
	STRIPE_ATTRS,		/* set those of the local file */
	STRIPE_SHOW,		/* rename the hidden file to its name */
	STRIPE_LEAVE,		/* close the hidden file on a channel */
	STRIPE_CLOSE_SECOND,
	STRIPE_REMOVE_SECOND,
	STRIPE_CLOSE		/* the file, on channel 0 */
};

struct stripe_action {
	enum stripe_op op;
	unsigned int chan;
	uint32_t id;		/* of the request */
	uint64_t off;		/* of the local file, bytes */
	uint64_t at;		/* of the remote file that is written or read */
	uint32_t len;
	int	 second;	/* STRIPE_WRITE: into the second file */
	unsigned int number;	/* of the hidden name */
};

struct stripe_conf {
	uint64_t size;		/* of the local file, when it was opened */
	uint32_t unit;		/* bytes of one WRITE */
	uint32_t first_id;	/* of the requests, on all channels */
	int	 in_place;	/* an old file is cut last, not first */
	int	 preserve;	/* STRIPE_ATTRS is wanted */
	int	 may_stripe;
	unsigned int number;	/* of the hidden name, if it is free */
	unsigned int streams;	/* connections that are wanted; 0: no matter */
};

/* Returns NULL if out of memory. */
struct stripe *stripe_new(const struct stripe_conf *);
void	stripe_free(struct stripe *);		/* accepts NULL */

/*
 * Sets "*a" to what is to be done next, with "ready" a bit for each channel
 * that can take more data. Returns 1; 0 if a reply has to come first or if all
 * is done; -1 if out of memory. After STRIPE_WRITE follows stripe_sent().
 */
int	stripe_next(struct stripe *, unsigned int ready,
    struct stripe_action *a);

/*
 * The WRITE "id" was sent with "len" bytes: less than asked is the end of the
 * local file, and with 0 nothing was sent.
 */
void	stripe_sent(struct stripe *, uint32_t id, uint32_t len);

/* Returns 0, or -1 if no request "id" is under way on the channel. */
int	stripe_find(const struct stripe *, unsigned int chan, uint32_t id,
    struct stripe_action *a);

/*
 * The reply to the request "id" has come at "now", microseconds of a clock that
 * only goes forward. "ok": it is no error. Returns 1 if the error is to be told
 * to the user.
 */
int	stripe_reply(struct stripe *, uint32_t id, int ok, uint64_t now);

/* A reply to STRIPE_LOOK that is no error; before stripe_reply() */
void	stripe_looked(struct stripe *, int is_regular, uint64_t size);

/*
 * A reply to STRIPE_FIND that is no error; before stripe_reply(). What is no
 * regular file is left alone.
 */
void	stripe_found(struct stripe *, unsigned int number, int is_regular,
    uint64_t size, uint64_t mtime);

/* A reply to STRIPE_SPACE that is no error; bytes; before stripe_reply() */
void	stripe_space(struct stripe *, uint64_t available);

/*
 * The channel speaks SFTP, and the server has LANDING_HAS_*; or the channel has
 * ended, at any time, or was refused. Channel 0 never ends.
 */
void	stripe_up(struct stripe *, unsigned int chan, int has);
void	stripe_down(struct stripe *, unsigned int chan);

/* When an action was sent, at "now": the age of its reply is measured. */
void	stripe_clock(struct stripe *, uint64_t now);

/* Bytes that may be under way while there is one channel */
void	stripe_set_window(struct stripe *, uint64_t bytes);

/* So many connections are wanted now. Has no effect if "streams" was 0. */
void	stripe_set_streams(struct stripe *, unsigned int streams);

/* Nothing more is sent of the file; what was sent is brought to an end. */
void	stripe_stop(struct stripe *);

int	stripe_is_open(const struct stripe *);
int	stripe_is_done(const struct stripe *);

/* Bytes that are complete from the start */
uint64_t stripe_frontier(const struct stripe *);

/* Bytes that were acknowledged; for the progress meter */
uint64_t stripe_acked(const struct stripe *);

uint32_t stripe_next_id(const struct stripe *);
unsigned int stripe_channels(const struct stripe *);	/* that take data */

/* What the server would keep if all ended now */
enum landing_left stripe_left(const struct stripe *);

/* Returns 1 if the file is not complete, because the server failed. */
int	stripe_has_failed(const struct stripe *);

#endif /* HAYATE_STRIPE_H */
