/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * xstripe: one large file that is put, over as many channels as it takes.
 *
 * The file begins as any other: under its name, in order, on the first
 * channel. If the server's window is the limit, more channels are asked for, 10
 * in all at most (xwindow.h). A refusal is the limit.
 *
 * If the user wants so many connections, they are asked for at once, but one
 * after the other, and take the place of channels. If not even one can be had,
 * there are channels as before.
 *
 * No byte is written behind a hole under the file's own name. When the second
 * channel is there,
 *
 *   a file that is new is renamed to a hidden name, and gets its name back when
 *   it is complete, or is cut behind its last byte without a hole;
 *
 *   a file that was there before gets, in order, what is complete in a hidden
 *   second file, which the server itself copies.
 *
 * Hidden names have a number (xhidden-hook.h). Before one is taken all are
 * looked at, and again after XST_WATCH_US: a file that has not changed then was
 * left by a copy that was killed, and is removed.
 *
 * If the second file cannot be written, the first is continued on one channel.
 * The ranges of a channel that is lost are dealt again.
 *
 * Channel 0 is the connection that was there before. The caller sends what the
 * actions say and reports each reply. No I/O, no clock, no upstream header.
 * Called by xstripe-hook.c. Not thread safe.
 */

#ifndef HAYATE_XSTRIPE_H
#define HAYATE_XSTRIPE_H

#include <stdint.h>

#define XST_CHANNELS	10		/* with channel 0 */

#define XST_NAMES	8		/* hidden ones; less than 10 */
#define XST_SECOND	4		/* from here on those of second files */

#define XST_WATCH_US	3000000

/* A smaller file, or rest of a file, is not worth more channels: bytes */
#define XST_LEAST	(32 * 1024 * 1024)

/* A smaller rest is not worth one more connection: bytes */
#define XST_REST	(4 * 1024 * 1024)

struct xst;			/* private to xstripe.c */

enum xst_op {
	XST_OPEN_NEW = 1,	/* the file, which must not exist */
	XST_OPEN_OLD,		/* the file, as it is put without stripes */
	XST_LOOK,		/* attributes of the file that is open */
	XST_FIND,		/* attributes of the hidden name "number" */
	XST_SWEEP,		/* remove that file */
	XST_CONNECT,		/* one more channel; xst_up() or xst_down() */
	XST_LOGIN,		/* likewise, over one more connection */
	XST_HIDE,		/* rename the file to its hidden name */
	XST_OPEN_SECOND,	/* a hidden file, which must not exist */
	XST_SPACE,		/* of the hidden file's file system */
	XST_JOIN,		/* open the hidden file on a channel */
	XST_WRITE,		/* "len" bytes at "off" of the local file */
	XST_COPY,		/* "len" bytes, second file to file; 0: all */
	XST_OWN,		/* attributes of the hidden name: there? */
	XST_TRUNCATE,		/* the file to "off" bytes */
	XST_ATTRS,		/* set those of the local file */
	XST_SHOW,		/* rename the hidden file to its name */
	XST_LEAVE,		/* close the hidden file on a channel */
	XST_CLOSE_SECOND,
	XST_REMOVE_SECOND,
	XST_CLOSE		/* the file, on channel 0 */
};

struct xst_action {
	enum xst_op op;
	unsigned int chan;
	uint32_t id;		/* of the request */
	uint64_t off;		/* of the local file, bytes */
	uint64_t at;		/* of the remote file that is written or read */
	uint32_t len;
	int	 second;	/* XST_WRITE: into the second file */
	unsigned int number;	/* of the hidden name */
};

struct xst_conf {
	uint64_t size;		/* of the local file, when it was opened */
	uint32_t unit;		/* bytes of one WRITE */
	uint32_t first_id;	/* of the requests, on all channels */
	int	 in_place;	/* an old file is cut last, not first */
	int	 preserve;	/* XST_ATTRS is wanted */
	int	 may_stripe;
	unsigned int number;	/* of the hidden name, if it is free */
	unsigned int streams;	/* connections that are wanted; 0: no matter */
};

/* What the server is known to have, once one more channel is there */
#define XST_HAS_COPY	1	/* copy-data, and space can be asked for */
#define XST_HAS_RENAME	2	/* the hidden file can be opened again */

/* Returns NULL if out of memory. */
struct xst *xst_new(const struct xst_conf *);
void	xst_free(struct xst *);		/* accepts NULL */

/*
 * Sets "*a" to what is to be done next, with "ready" a bit for each channel
 * that can take more data. Returns 1; 0 if a reply has to come first or if all
 * is done; -1 if out of memory. After XST_WRITE follows xst_sent().
 */
int	xst_next(struct xst *, unsigned int ready, struct xst_action *a);

/*
 * The WRITE "id" was sent with "len" bytes: less than asked is the end of the
 * local file, and with 0 nothing was sent.
 */
void	xst_sent(struct xst *, uint32_t id, uint32_t len);

/* Returns 0, or -1 if no request "id" is under way on the channel. */
int	xst_find(const struct xst *, unsigned int chan, uint32_t id,
    struct xst_action *a);

/*
 * The reply to the request "id" has come at "now", microseconds of a clock that
 * only goes forward. "ok": it is no error. Returns 1 if the error is to be told
 * to the user.
 */
int	xst_reply(struct xst *, uint32_t id, int ok, uint64_t now);

/* A reply to XST_LOOK that is no error; before xst_reply() */
void	xst_looked(struct xst *, int is_regular, uint64_t size);

/*
 * A reply to XST_FIND that is no error; before xst_reply(). What is no regular
 * file is left alone.
 */
void	xst_found(struct xst *, unsigned int number, int is_regular,
    uint64_t size, uint64_t mtime);

/* A reply to XST_SPACE that is no error; bytes; before xst_reply() */
void	xst_space(struct xst *, uint64_t available);

/*
 * The channel speaks SFTP, and the server has XST_HAS_*; or it has ended, at
 * any time, or was refused. Channel 0 never ends.
 */
void	xst_up(struct xst *, unsigned int chan, int has);
void	xst_down(struct xst *, unsigned int chan);

/* When an action was sent, at "now": the age of its reply is measured. */
void	xst_clock(struct xst *, uint64_t now);

/* Bytes that may be under way while there is one channel */
void	xst_set_window(struct xst *, uint64_t bytes);

/* So many connections are wanted now. Has no effect if "streams" was 0. */
void	xst_set_streams(struct xst *, unsigned int streams);

/* Nothing more is sent of the file; what was sent is brought to an end. */
void	xst_stop(struct xst *);

int	xst_is_open(const struct xst *);
int	xst_is_done(const struct xst *);

/* Bytes that are complete from the start */
uint64_t xst_frontier(const struct xst *);

/* Bytes that were acknowledged; for the progress meter */
uint64_t xst_acked(const struct xst *);

uint32_t xst_next_id(const struct xst *);
unsigned int xst_channels(const struct xst *);	/* that take data */

/*
 * What the server would keep if all ended now: the file under its hidden name,
 * perhaps so, or a second file.
 */
enum xst_left {
	XST_LEFT_NOTHING,
	XST_LEFT_HIDDEN,
	XST_LEFT_PERHAPS,
	XST_LEFT_SECOND
};

enum xst_left xst_left(const struct xst *);

/* Returns 1 if the file is not complete, because the server failed. */
int	xst_has_failed(const struct xst *);

#endif /* HAYATE_XSTRIPE_H */
