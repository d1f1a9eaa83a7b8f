/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * xlink-hook: an SFTP connection on which many requests are under way.
 *
 * Upstream's functions send a request and wait for its reply. While one side
 * waits to send, the other may wait as well, because a server stops reading
 * when nobody takes its replies. Here both directions move in one poll().
 *
 * The descriptors are non-blocking from xlink_new() to xlink_free(). Errors of
 * the connection are fatal, as they are in upstream, after "before_fatal"; but
 * one that "may_end" is only lost.
 * Called by xtree-hook.c, xput-hook.c, xget-hook.c, xglob-hook.c and
 * xstripe-hook.c. Main thread only.
 */

#ifndef HAYATE_XLINK_HOOK_H
#define HAYATE_XLINK_HOOK_H

#include <sys/types.h>
#include <stddef.h>
#include <stdint.h>

struct sshbuf;
struct xlink;

/* So many links can be moved together. */
#define XLINK_MOST	16

struct xlink_conf {
	int	fd_in, fd_out;
	int	may_end;		/* and the process goes on; a socket */
	void	(*before_fatal)(void *);	/* NULL: nothing */
	void	*arg;
};

struct xlink *xlink_new(const struct xlink_conf *);
void	xlink_free(struct xlink *);

/*
 * Begins a request; the caller appends its fields to the buffer that is
 * returned, and then calls xlink_end(), or xlink_cancel() to forget it.
 */
struct sshbuf *xlink_begin(struct xlink *, u_char code, uint32_t id);
void	xlink_end(struct xlink *);
void	xlink_cancel(struct xlink *);

/* How many bytes wait to be sent */
size_t	xlink_backlog(const struct xlink *);

/*
 * Waits until something can be sent or received, a signal, or at most "ms"
 * milliseconds (-1: no limit), and does it. None of the links may be lost
 * already.
 */
void	xlink_move(struct xlink *, int ms);
void	xlink_move_all(struct xlink *const *, size_t n, int ms);

/* Returns 1 if nothing waits to be sent or taken, not even part of a message */
int	xlink_is_idle(const struct xlink *);

/* Returns 1 if the connection has ended. Messages may be left to be taken. */
int	xlink_is_lost(const struct xlink *);

/*
 * Returns the next message that has arrived whole, or NULL. It is valid until
 * the next call.
 */
struct sshbuf *xlink_take(struct xlink *);

/* Takes type and ID out of a reply. */
void	xlink_head(struct xlink *, struct sshbuf *, u_char *type, uint32_t *id);

/*
 * Takes out the status. A reply of the type "wanted" has none: SSH2_FX_OK. Any
 * other breaks the protocol; "path" is what it is about.
 */
u_int	xlink_status(struct xlink *, struct sshbuf *, u_char type,
    u_char wanted, const char *path);

/* Ends the process after "before_fatal". "what" says what the server did. */
void	xlink_fatal(struct xlink *, const char *what, ...)
    __attribute__((format(printf, 2, 3), noreturn));

#endif /* HAYATE_XLINK_HOOK_H */
