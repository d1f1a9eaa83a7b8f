/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * link-hook: an SFTP connection on which many requests are under way.
 *
 * Upstream's functions send a request and wait for its reply. While one side
 * waits to send, the other may wait as well, because a server stops reading
 * when nobody takes its replies. Here both directions move in one poll().
 *
 * The descriptors are non-blocking from link_new() to link_free(). Errors of
 * the connection are fatal, as they are in upstream, after "before_fatal"; but
 * one that "may_end" is only lost.
 *
 * Main thread only.
 */

#ifndef HAYATE_LINK_HOOK_H
#define HAYATE_LINK_HOOK_H

#include <sys/types.h>
#include <stddef.h>
#include <stdint.h>

struct sshbuf;
struct link;

/* So many links can be moved together: all to one server, and one more. */
#define LINK_MOST	33

struct link_conf {
	int	fd_in, fd_out;
	int	may_end;		/* and the process goes on; a socket */
	void	(*before_fatal)(void *);	/* NULL: nothing */
	void	*arg;
};

struct link *link_new(const struct link_conf *);
void	link_free(struct link *);

/*
 * Begins a request; the caller appends its fields to the buffer that is
 * returned, and then calls link_end(), or link_cancel() to forget it.
 */
struct sshbuf *link_begin(struct link *, u_char code, uint32_t id);
void	link_end(struct link *);
void	link_cancel(struct link *);

/*
 * Data that ends a request that was begun: returns room for "len" bytes, in
 * memory that ssh reads if that is possible. link_end_data() instead of
 * link_end() sends the first "n" of them.
 */
u_char	*link_data(struct link *, size_t len);
void	link_end_data(struct link *, size_t len, size_t n);

/*
 * Returns 1 if so much waits that more would be of no use. link_move() comes
 * back when that is over.
 */
int	link_is_full(struct link *);

/*
 * Waits until something can be sent or received, a signal, or at most "ms"
 * milliseconds (-1: no limit), and does it. None of the links may be lost
 * already. What can be read from "wake_fd", unless it is -1, ends the waiting.
 */
void	link_move(struct link *const *, size_t n, int wake_fd, int ms);

/* Returns 1 if the connection has ended. Messages may be left to be taken. */
int	link_is_lost(const struct link *);

/*
 * Returns the next message that has arrived whole, or NULL. It is valid until
 * the next call.
 */
struct sshbuf *link_take(struct link *);

/* Returns 1 if that message was there before it was asked for. */
int	link_was_ahead(const struct link *);

/* Takes type and ID out of a reply. */
void	link_head(struct link *, struct sshbuf *, u_char *type, uint32_t *id);

/*
 * Takes out the status. A reply of the type "wanted" has none: SSH2_FX_OK. Any
 * other breaks the protocol; "path" is what it is about.
 */
u_int	link_status(struct link *, struct sshbuf *, u_char type,
    u_char wanted, const char *path);

/* Ends the process after "before_fatal". "what" says what the server did. */
void	link_fatal(struct link *, const char *what, ...)
    __attribute__((format(printf, 2, 3), noreturn));

#endif /* HAYATE_LINK_HOOK_H */
