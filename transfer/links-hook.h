/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * links-hook: the further links of scp and sftp to one server: connections,
 * which -j and TransferStreams ask for, or channels of the first one.
 *
 * ssh starts them (login-hook.h). One is asked for when the one before speaks
 * SFTP, so at most one is not authenticated. After a refusal none is asked for
 * any more, and the transfer goes on with those that are there. A connection
 * lives as long as the process: what one transfer leaves, the next one uses.
 *
 * Called from patches/164 and 192 as well. Main thread only.
 */

#ifndef HAYATE_LINKS_HOOK_H
#define HAYATE_LINKS_HOOK_H

#include <stddef.h>
#include <stdint.h>

#define LINKS_MOST	32		/* with the first; a bit for each */

struct sshbuf;
struct link;

/*
 * In scp: channels are wanted only if the last of the arguments is at a server
 * and the others, with what is in them, are together large. sftp does not know
 * what will be put.
 */
void	links_judge(int argc, char **argv);

/*
 * "fd" leads to an ssh that was just started. "chosen" as in server_begin().
 * Whoever gets files can use connections, but no channels.
 */
void	links_wish(int fd, int chosen);

/* The descriptor belongs to a new connection. */
void	links_forget(int main_fd);

/*
 * Returns how many connections are wanted now, with the first; 1 if no further
 * one is, or can be had. links_may_grow() returns 1 if it may become more than
 * that.
 */
unsigned int links_wanted(int main_fd);
int	links_may_grow(int main_fd);

/*
 * A transfer could use more than one connection: if the user wants them and
 * they would need the user again, one line says so, once.
 */
void	links_tell_why_alone(int main_fd);

/*
 * Takes a further connection. Returns its socket, non-blocking, or -1. Its
 * state is one of these two, or what links_read_version() has returned.
 */
enum { LINKS_NEW = -2, LINKS_ASKED = -1 };	/* no INIT; no VERSION */
int	links_take(int main_fd, int *state);

/* It is no longer used. Nothing is under way on it, but maybe VERSION. */
void	links_leave(int main_fd, int fd, int state);

/* It ended before VERSION, while "has" connections were there. */
void	links_refused(int main_fd, unsigned int has);

/*
 * Tells how many bytes were moved since the last call, while "has" connections
 * took part, and how many the transfer has left, or LINKS_UNKNOWN.
 */
#define LINKS_UNKNOWN	UINT64_MAX
void	links_count(int main_fd, uint64_t bytes, uint64_t rest,
    unsigned int has);

/* A transfer begins. */
void	links_pause(int main_fd);

/* Reads the reply to INIT. Returns 0 or a sum of these. */
#define LINKS_SPEAKS	1		/* version 3 */
#define LINKS_LIMITS	2		/* limits@openssh.com */
#define LINKS_COPY	4		/* copy-data */
#define LINKS_SPACE	8		/* fstatvfs@openssh.com */
int	links_read_version(struct link *, struct sshbuf *);

/* Sends INIT. */
void	links_send_init(struct link *);

/*
 * For a transfer that needs no more than links: all of them, the first
 * included. The first link is the caller's.
 */
struct links {
	int	 main_fd;
	struct link *link[LINKS_MOST];	/* NULL: none */
	int	 fd[LINKS_MOST];
	int	 told[LINKS_MOST];	/* a state, see links_take() */
	int	 is_full;		/* none is to be asked for */
	struct link *also;		/* to another server; NULL: none */
	enum { LINKS_LOGINS, LINKS_CHANNELS } kind;
	unsigned int channels;		/* wanted, if they are channels */
	int	 is_put;
	void	(*before_fatal)(void *);
	void	*arg;
};

/* "fd", of the main connection, leads to the link. */
void	links_begin(struct links *, int main_fd, struct link *,
    void (*before_fatal)(void *), void *arg);
void	links_end(struct links *);

/*
 * Files are put: links are channels of the first connection, if those can be
 * had but no connections. "channels" of them, which the caller sets, are
 * wanted. They are asked for side by side, and end with the transfer.
 */
void	links_put(struct links *);

/*
 * Asks for one more connection if one is wanted and none is awaited; for one
 * more channel if one is wanted.
 */
void	links_grow(struct links *);

/* Returns 1 if requests can be sent on it. */
int	links_is_up(const struct links *, unsigned int i);
unsigned int links_size(const struct links *);	/* of those */

/* As link_move_all() of all, and of "also" */
void	links_move(struct links *, int wake_fd, int ms);

/*
 * Returns the next message that is no VERSION, with the link in "*i"; or NULL,
 * with LINKS_MOST in "*i", or a link that was up and is lost. To be called
 * until it is the former.
 */
struct sshbuf *links_next(struct links *, unsigned int *i);

#endif /* HAYATE_LINKS_HOOK_H */
