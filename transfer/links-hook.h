/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * links-hook: the further links of scp and sftp to one server: connections,
 * which -j and TransferStreams ask for, or channels of the first one.
 *
 * ssh starts them (login-hook.h). One is asked for when the one before speaks
 * SFTP, so at most one is not authenticated, of each host. After a refusal none
 * is asked for any more, and the transfer goes on with those that are there. A
 * connection lives as long as the process: what one transfer leaves, the next
 * one uses.
 *
 * With TransferHosts connections go to several hosts (hosts-hook.h): the next
 * one to that which has the fewest. One to another host than the first is up
 * when it is proven, in each transfer, that it sees the same files
 * (proof-hook.h).
 *
 * Called from patches/192-scp-channels.patch as well. Main thread only.
 */

#ifndef HAYATE_LINKS_HOOK_H
#define HAYATE_LINKS_HOOK_H

#include <stddef.h>
#include <stdint.h>

#include "hosts-hook.h"
#include "width.h"

#define LINKS_MOST	32		/* with the first; a bit for each */

struct sshbuf;
struct link;
struct proof;
struct proof_where;
struct witness;

/*
 * In scp: channels are wanted if the last of the arguments is at a server and
 * the others, with what is in them, are together large. What will be got is not
 * known before the login. sftp does not know what will be moved.
 */
void	links_judge(int argc, char **argv);

/*
 * "fd" leads to an ssh that was just started. It is told whether channels are
 * wanted in any case, or only where the user wants more connections.
 */
void	links_wish(int fd);

/*
 * What a server has of further connections between transfers. All 0: nothing.
 * A state is as in struct links.
 */
struct links_kept {
	int	 is_refused;
	int	 is_told;		/* why there is only one */
	struct width automatic;
	struct hosts hosts;
	struct {
		int fd, state;
		unsigned int host;
	} spare[WIDTH_MOST];
	size_t	 nspare;
};

/* The first connection has ended. */
void	links_drop(struct links_kept *);

/* Takes out of a VERSION what it offers, a sum. Returns 0 or SSH_ERR_*. */
#define LINKS_SPEAKS	1		/* version 3 */
#define LINKS_LIMITS	2		/* limits@openssh.com */
#define LINKS_COPY	4		/* copy-data */
#define LINKS_SPACE	8		/* fstatvfs@openssh.com */
#define LINKS_FSYNC	16		/* fsync@openssh.com */
#define LINKS_HASHES	32		/* check-file, or perhaps */
#define LINKS_FIGURES	64		/* figures@hayate.invalid */
int	links_offers(struct sshbuf *, int *offers);

/*
 * For a transfer that needs no more than links: all of them, the first
 * included. The first link is the caller's.
 */
struct links {
	int	 main_fd;
	struct links_kept *kept;
	struct link *link[LINKS_MOST];	/* NULL: none */
	unsigned int end;		/* none is from this place on */
	int	 fd[LINKS_MOST];
	int	 told[LINKS_MOST];	/* of LINKS_*, or one of these: */
#define LINKS_NEW	(-2)		/* no INIT */
#define LINKS_ASKED	(-1)		/* no VERSION */
	int	 is_full;		/* none is to be asked for */
	unsigned int host[LINKS_MOST];	/* of each; 0: the first */
	int	 is_proven[LINKS_MOST];	/* what another one sees */
	struct proof *proof[LINKS_MOST];
	struct witness *witness;	/* NULL: none; for all of these */
	unsigned int tries;		/* of places for it */
	int	 is_closing;		/* no proof begins any more */
	unsigned int shut;		/* a bit for each host: none to it */
	/*
	 * Says where to prove, at the n-th try. Returns 0, or -1 if there is
	 * no such place now. NULL: nowhere.
	 */
	int	(*where)(void *, unsigned int n, struct proof_where *);
	struct link *also;		/* to another server; NULL: none */
	enum { LINKS_LOGINS, LINKS_CHANNELS } kind;
	unsigned int channels;		/* wanted, if they are channels */
	int	 takes_channels;
	void	(*before_fatal)(void *);
	void	*arg;
};

/* "fd", of the main connection, leads to the link. */
void	links_begin(struct links *, int main_fd, struct links_kept *,
    struct link *, void (*before_fatal)(void *), void *arg);
void	links_end(struct links *);

/*
 * Links are channels of the first connection, if those can be had but no
 * connections. "channels" of them, which the caller sets, are wanted. They are
 * asked for side by side, and end with the transfer.
 */
void	links_take_channels(struct links *);

/*
 * Asks for one more connection if one is wanted and none is awaited; for one
 * more channel if one is wanted.
 */
void	links_grow(struct links *);

/*
 * Tells how many bytes were moved since the last call, and how many the
 * transfer has left, or LINKS_UNKNOWN.
 */
#define LINKS_UNKNOWN	UINT64_MAX
void	links_count(struct links *, uint64_t bytes, uint64_t rest);

/* Before each links_move(): begins and ends the proofs that can be. */
void	links_tend_proofs(struct links *);

/*
 * No proof begins any more, and those under way leave nothing behind.
 * links_owe() returns 1 while the first link has replies to come for them.
 */
void	links_stop_proofs(struct links *);
int	links_owe(const struct links *);

/* The hidden file that would be left behind now, or NULL */
const char *links_left(const struct links *);

/* A bit for each link that goes to another host than the first */
unsigned int links_apart(const struct links *);

/* Returns 1 if requests can be sent on it. */
int	links_is_up(const struct links *, unsigned int i);
unsigned int links_size(const struct links *);	/* of those */

/* As link_move() of all, and of "also" */
void	links_move(struct links *, int wake_fd, int ms);

/*
 * Returns the next message that is no VERSION, with the link in "*i"; or NULL,
 * with LINKS_MOST in "*i", or a link that was up and is lost. To be called
 * until it is the former.
 */
struct sshbuf *links_next(struct links *, unsigned int *i);

#endif /* HAYATE_LINKS_HOOK_H */
