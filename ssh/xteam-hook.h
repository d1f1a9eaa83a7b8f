/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * xteam-hook: the further connections of scp and sftp to one server, which
 * -j and TransferStreams ask for.
 *
 * ssh starts them (xlogin-hook.h). One is asked for when the one before speaks
 * SFTP, so at most one is not authenticated. After a refusal none is asked for
 * any more, and the transfer goes on with those that are there. A connection
 * lives as long as the process: what one transfer leaves, the next one uses.
 *
 * Called by xstripe-hook.c, xfetch-hook.c and xtree-hook.c. Main thread only.
 */

#ifndef HAYATE_XTEAM_HOOK_H
#define HAYATE_XTEAM_HOOK_H

#include <stddef.h>
#include <stdint.h>

#define XTEAM_MOST	8		/* with the first */

struct sshbuf;
struct xlink;

/* The descriptor belongs to a new connection. */
void	xteam_forget(int main_fd);

/*
 * Returns how many connections are wanted now, with the first; 1 if no further
 * one is, or can be had. xteam_may_grow() returns 1 if it may become more than
 * that.
 */
unsigned int xteam_wanted(int main_fd);
int	xteam_may_grow(int main_fd);

/*
 * A transfer could use more than one connection: if the user wants them and
 * they would need the user again, one line says so, once..
 */
void	xteam_tell_why_alone(int main_fd);

/*
 * Takes a further connection. Returns its socket, non-blocking, or -1. Its
 * state is one of these two, or what xteam_read_version() has returned.
 */
enum { XTEAM_NEW = -2, XTEAM_ASKED = -1 };	/* no INIT; no VERSION */
int	xteam_take(int main_fd, int *state);

/* It is no longer used. Nothing is under way on it, but maybe VERSION. */
void	xteam_leave(int main_fd, int fd, int state);

/* It ended before VERSION, while "has" connections were there. */
void	xteam_refused(int main_fd, unsigned int has);

/*
 * So much was moved since the last call, while "has" took part, and "rest"
 * bytes are still to be moved; XTEAM_UNKNOWN.
 */
#define XTEAM_UNKNOWN	UINT64_MAX
void	xteam_count(int main_fd, uint64_t bytes, uint64_t rest,
    unsigned int has);

/* A transfer begins. */
void	xteam_pause(int main_fd);

/* Reads the reply to INIT. Returns 0 or a sum of these. */
#define XTEAM_SPEAKS	1		/* version 3 */
#define XTEAM_LIMITS	2		/* limits@openssh.com */
#define XTEAM_COPY	4		/* copy-data */
#define XTEAM_SPACE	8		/* fstatvfs@openssh.com */
int	xteam_read_version(struct xlink *, struct sshbuf *);

/* Sends INIT. */
void	xteam_send_init(struct xlink *);

/*
 * For a transfer that needs no more than links: all of them, the first
 * included. The first link is the caller's.
 */
struct xteam {
	int	 main_fd;
	struct xlink *link[XTEAM_MOST];	/* NULL: none */
	int	 fd[XTEAM_MOST], state[XTEAM_MOST];
	int	 is_full;		/* none is to be asked for */
	struct xlink *also;		/* to another server; NULL: none */
	unsigned int channels;		/* wanted; 0: they are connections */
	void	(*before_fatal)(void *);
	void	*arg;
};

/* "fd", of the main connection, leads to the link. */
void	xteam_begin(struct xteam *, int main_fd, struct xlink *,
    void (*before_fatal)(void *), void *arg);
void	xteam_end(struct xteam *);

/*
 * Links are channels of the first connection, if those can be had but no
 * connections: "channels" of them, which the caller sets, are wanted. They are
 * asked for side by side, and end with the transfer.
 */
void	xteam_use_channels(struct xteam *);

/*
 * Asks for one more connection if one is wanted and none is awaited; for one
 * more channel if one is wanted.
 */
void	xteam_grow(struct xteam *);

/* Returns 1 if requests can be sent on it. */
int	xteam_is_up(const struct xteam *, unsigned int i);
unsigned int xteam_size(const struct xteam *);	/* of those */

/* As xlink_move() of all, and of "also". */
void	xteam_move(struct xteam *, int ms);

/*
 * Returns the next message that is no VERSION, with the link in "*i"; or NULL,
 * with XTEAM_MOST in "*i", or a link that was up and is lost. To be called
 * until it is the former.
 */
struct sshbuf *xteam_next(struct xteam *, unsigned int *i);

#endif /* HAYATE_XTEAM_HOOK_H */
