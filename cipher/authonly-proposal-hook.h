/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * authonly-proposal-hook: adds the modes of authonly.h to our KEXINIT, as
 * authonly-proposal.h decides, and removes them again.
 *
 * Upstream keeps our proposal in kex->my and sends it again with each key
 * exchange. Each rewrite first restores the user's own proposal, so that it is
 * sent whenever no mode is named.
 *
 * For authonly-hook.c only. One connection per process. Not thread safe.
 */

#ifndef HAYATE_AUTHONLY_PROPOSAL_HOOK_H
#define HAYATE_AUTHONLY_PROPOSAL_HOOK_H

#include "authonly-proposal.h"

struct ssh;

/*
 * Whether our proposal names a mode. The peer's proposal is taken into account
 * only if it arrived before ours was rewritten; otherwise it counts as one that
 * names no mode. With AUTHONLY_WITHHELD_ALL the key exchange is going to fail,
 * because in at least one direction both sides have no cipher in common.
 */
enum authonly_proposed {
	AUTHONLY_NAMED,		/* it names a mode */
	AUTHONLY_NOT_NAMED,	/* it names none, and neither does the peer's */
	AUTHONLY_WITHHELD,	/* it names none, but the peer's does */
	AUTHONLY_WITHHELD_ALL	/* as WITHHELD, and no cipher can be chosen */
};

/*
 * Rewrites ssh->kex->my from the user's own proposal. If "may_name" is set,
 * adds the modes that fit both sides, of which there may be none; otherwise
 * adds no mode. A client puts modes before its ciphers, a server behind them.
 * With "none" the lists of MACs may change as well.
 *
 * A server that begins the key exchange does not know yet which modes the
 * client will name. Therefore it names only "in_force", the mode in which it
 * receives data now; "" if that data is encrypted, and then it names no mode.
 * If the mode is "none", it repeats the MACs of its last answer. A client
 * ignores "in_force". If the server's proposal has arrived, a client also saves
 * its lists, as authonly_proposal_note_server() does.
 *
 * Sets the result and returns 0, or returns SSH_ERR_* if a proposal cannot be
 * parsed or written; the key exchange must not go on then. The process ends if
 * out of memory.
 */
int	authonly_proposal_rewrite(struct ssh *, int may_name,
    const char *in_force, enum authonly_proposed *);

/* Returns 1 if the last proposal that was rewritten named a mode; 0 before. */
int	authonly_proposal_has_modes(void);

/*
 * For a client
 */

/*
 * Saves the lists of the server's last proposal, from ssh->kex->peer; in the
 * first key exchange also whether it named "none". Keeps the earlier ones if it
 * cannot be parsed.
 */
void	authonly_proposal_note_server(struct ssh *);

/*
 * Returns 1 if the server's first proposal named "none" in both directions; 0
 * before it was saved, and in a server.
 */
int	authonly_proposal_server_has_none(void);

/*
 * Returns 1 if our present proposal and the server's saved one share a MAC for
 * "none" in each direction; 0 also if either is not known.
 */
int	authonly_proposal_none_is_usable(struct ssh *);

/*
 * Call it when the server has refused the modes in a direction, with the MAC
 * that was negotiated there. If the cipher uses no MAC, do not call it: "mac"
 * must not be NULL. Returns 1, with a line at -v, if our last proposal had the
 * MACs in another order than the user's, and the user's order leads to another
 * MAC than "mac", or to none: the caller then has to repeat the key exchange
 * with the user's order. Returns 0 otherwise.
 */
int	authonly_proposal_displaced(enum authonly_dir, const char *mac);

#endif /* HAYATE_AUTHONLY_PROPOSAL_HOOK_H */
