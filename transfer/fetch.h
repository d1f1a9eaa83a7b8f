/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * fetch: one large file that is got over several connections.
 *
 * Each connection opens the file. Ranges of it are read by whichever has least
 * under way, and written in order: what comes early waits in memory, at most
 * FETCH_SPREAD behind the first byte that is missing, and in about FETCH_PIECES
 * pieces, however short a server's replies are. So the local file never has a
 * hole, whatever is interrupted, and a copy of it can be resumed.
 *
 * Behind the size that is expected ranges are read one at a time, until the
 * server says that the file ends. The ranges of a connection that is lost are
 * read by the others.
 *
 * Link 0 is the connection that was there before, and never ends. The caller
 * sends what the actions say and reports each reply. No I/O, no clock, no
 * upstream header. Called by fetch-hook.c, and alone by
 * regress/unit/fetch-replay.c. Not thread safe.
 */

#ifndef HAYATE_FETCH_H
#define HAYATE_FETCH_H

#include <stdint.h>

#define FETCH_LINKS	8
#define FETCH_SPREAD	(64 * 1024 * 1024)
#define FETCH_PIECES	4096		/* that may wait or be under way */

struct fetch;			/* private to fetch.c */

enum fetch_op {
	FETCH_OPEN = 1,		/* fetch_opened() */
	FETCH_LOOK,		/* attributes of the file; fetch_looked() */
	FETCH_READ,		/* fetch_data(), or fetch_ended() */
	FETCH_CLOSE,		/* fetch_closed() */
	FETCH_WRITE		/* "data" at "off"; and then fetch_written() */
};

struct fetch_action {
	enum fetch_op op;
	unsigned int link;
	uint32_t id;		/* of a request */
	uint64_t off;
	uint32_t len;
	const unsigned char *data;
};

/* "unit" bytes are read by one request. Returns NULL if out of memory. */
struct fetch *fetch_new(uint64_t size, uint32_t unit, uint32_t first_id);
void	fetch_free(struct fetch *);		/* accepts NULL */

/* The link can be used, or has ended. */
void	fetch_up(struct fetch *, unsigned int link);
void	fetch_down(struct fetch *, unsigned int link);

/* So many bytes may be under way on the link; one request always may. */
void	fetch_set_credit(struct fetch *, unsigned int link, uint64_t bytes);

/*
 * Sets "*a" to what is to be done next, with "ready" a bit for each link that
 * can take more. Returns 1; 0 if a reply has to come first or if all is done;
 * -1 if out of memory.
 */
int	fetch_next(struct fetch *, unsigned int ready, struct fetch_action *a);

/* Returns 0, or -1 if no request "id" is under way on the link. */
int	fetch_find(const struct fetch *, unsigned int link, uint32_t id,
    struct fetch_action *a);

/* Replies. "ok": it is no error; of FETCH_LOOK: it is the same file. */
void	fetch_opened(struct fetch *, uint32_t id, int ok);
void	fetch_looked(struct fetch *, uint32_t id, int ok);
void	fetch_closed(struct fetch *, uint32_t id);

/* Link 0 has opened the file. It is read from "off" on. */
void	fetch_start(struct fetch *, uint64_t off);

/*
 * Data has come. Returns 1 if it is to be written now, by the caller, who then
 * calls fetch_written(); 0 if it waits or is of no use; -1 if out of memory; -2
 * if it is none, or more than was asked for.
 */
int	fetch_data(struct fetch *, uint32_t id, const unsigned char *data,
    uint32_t len);

/* No data has come: the file ended before the range, or an error. */
void	fetch_ended(struct fetch *, uint32_t id, int is_eof);

/* FETCH_WRITE has been done. If not "ok", nothing more is written. */
void	fetch_written(struct fetch *, int ok);

/* Nothing more is read; what is under way is waited for. */
void	fetch_stop(struct fetch *);

int	fetch_is_done(const struct fetch *);

/* Bytes that are complete from the start */
uint64_t fetch_frontier(const struct fetch *);

unsigned int fetch_pieces(const struct fetch *);
uint32_t fetch_next_id(const struct fetch *);
unsigned int fetch_links(const struct fetch *);	/* that read */

#endif /* HAYATE_FETCH_H */
