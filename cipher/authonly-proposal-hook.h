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
 * names no mode.
 */
enum authonly_proposed {
	AUTHONLY_NAMED,		/* it names a mode */
	AUTHONLY_NOT_NAMED,	/* it names none, and neither does the peer's */
	AUTHONLY_WITHHELD,	/* it names none, but the peer's does */
	AUTHONLY_WITHHELD_ALL	/* WITHHELD; a direction shares no cipher */
};

/*
 * Rewrites ssh->kex->my from the user's own proposal. Names no mode unless
 * "may_name" is set, and then only modes that fit both sides, if there are any:
 * a client before its ciphers, a server behind them; with "none" the lists of
 * MACs may change as well. A server that begins the key exchange does not know
 * yet what the client will ask for. Therefore it names only "in_force", the
 * mode in which it receives now, or no mode if that is "" because it receives
 * encrypted data; its MACs for "none" are those of its last answer. A client
 * also saves the lists of a proposal that has arrived, as
 * authonly_proposal_note_server() does.
 *
 * Sets the result and returns 0, or returns SSH_ERR_* if a proposal cannot be
 * parsed or written. The process ends if out of memory.
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
 * that was negotiated there. Returns 1, with a line at -v, if the key exchange
 * has to be repeated with the user's order of MACs, because the last proposal
 * had another order, and the user's would not have led to "mac". Returns 0
 * otherwise.
 */
int	authonly_proposal_displaced(enum authonly_dir, const char *mac);

#endif /* HAYATE_AUTHONLY_PROPOSAL_HOOK_H */
