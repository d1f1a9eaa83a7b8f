/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * xfetch: one large file that is got over several connections.
 *
 * Each connection opens the file. Ranges of it are read by whichever has least
 * under way, and written in order: what comes early waits in memory, at most
 * XF_SPREAD behind the first byte that is missing, and in about XF_PIECES
 * pieces, however short a server's replies are. So the local file never has a
 * hole, whatever is interrupted, and a copy of it can be resumed.
 *
 * Behind the size that is expected ranges are read one at a time, until the
 * server says that the file ends. The ranges of a connection that is lost are
 * read by the others.
 *
 * Link 0 is the connection that was there before, and never ends. The caller
 * sends what the actions say and reports each reply. No I/O, no clock, no
 * upstream header. Called by xfetch-hook.c, and alone by
 * regress/unit/xfetch-replay.c. Not thread safe.
 */

#ifndef HAYATE_XFETCH_H
#define HAYATE_XFETCH_H

#include <stdint.h>

#define XF_LINKS	8
#define XF_SPREAD	(64 * 1024 * 1024)
#define XF_PIECES	4096		/* that may wait or be under way */

struct xf;			/* private to xfetch.c */

enum xf_op {
	XF_OPEN = 1,		/* xf_opened() */
	XF_LOOK,		/* attributes of the open file; xf_looked() */
	XF_READ,		/* xf_data(), or xf_ended() */
	XF_CLOSE,		/* xf_closed() */
	XF_WRITE		/* "data" at "off"; and then xf_written() */
};

struct xf_action {
	enum xf_op op;
	unsigned int link;
	uint32_t id;		/* of a request */
	uint64_t off;
	uint32_t len;
	const unsigned char *data;
};

/* "unit" bytes are read by one request. Returns NULL if out of memory. */
struct xf *xf_new(uint64_t size, uint32_t unit, uint32_t first_id);
void	xf_free(struct xf *);		/* accepts NULL */

/* The link can be used, or has ended. */
void	xf_up(struct xf *, unsigned int link);
void	xf_down(struct xf *, unsigned int link);

/* So many bytes may be under way on the link; one request always may. */
void	xf_set_credit(struct xf *, unsigned int link, uint64_t bytes);

/*
 * Sets "*a" to what is to be done next, with "ready" a bit for each link that
 * can take more. Returns 1; 0 if a reply has to come first or if all is done;
 * -1 if out of memory.
 */
int	xf_next(struct xf *, unsigned int ready, struct xf_action *a);

/* Returns 0, or -1 if no request "id" is under way on the link. */
int	xf_find(const struct xf *, unsigned int link, uint32_t id,
    struct xf_action *a);

/* Replies. "ok": it is no error; of XF_LOOK: it is the same file. */
void	xf_opened(struct xf *, uint32_t id, int ok);
void	xf_looked(struct xf *, uint32_t id, int ok);
void	xf_closed(struct xf *, uint32_t id);

/* Link 0 has opened the file. It is read from "off" on. */
void	xf_start(struct xf *, uint64_t off);

/*
 * Data has come. Returns 1 if it is to be written now, by the caller, who then
 * calls xf_written(); 0 if it waits or is of no use; -1 if out of memory; -2 if
 * it is none, or more than was asked for.
 */
int	xf_data(struct xf *, uint32_t id, const unsigned char *data,
    uint32_t len);

/* No data has come: the file ended before the range, or an error. */
void	xf_ended(struct xf *, uint32_t id, int is_eof);

/* XF_WRITE has been done. If not "ok", nothing more is written. */
void	xf_written(struct xf *, int ok);

/* Nothing more is read; what is under way is waited for. */
void	xf_stop(struct xf *);

int	xf_is_done(const struct xf *);

/* Bytes that are complete from the start */
uint64_t xf_frontier(const struct xf *);

unsigned int xf_pieces(const struct xf *);
uint32_t xf_next_id(const struct xf *);
unsigned int xf_links(const struct xf *);	/* that read */

#endif /* HAYATE_XFETCH_H */
