/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * authonly-proposal-hook: puts the modes of authonly-proposal.h into our
 * KEXINIT and takes them out again.
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

/* How our proposal treats the modes; the peer's counts if it came first */
enum authonly_proposed {
	AUTHONLY_NAMED,		/* it names a mode */
	AUTHONLY_NOT_NAMED,	/* it names none, and neither does the peer's */
	AUTHONLY_WITHHELD,	/* it names none, but the peer's does */
	AUTHONLY_WITHHELD_ALL	/* likewise, and no other cipher is shared */
};

/*
 * Rewrites ssh->kex->my from the user's own proposal, and names modes only if
 * "may_name" is set: a client before its ciphers, a server behind them. If a
 * server begins the key exchange, it names just "in_force", the mode in which
 * it receives now ("" if it receives encrypted data), and the MACs of its last
 * answer. Sets the result. Returns 0 or SSH_ERR_*.
 */
int	authonly_proposal_rewrite(struct ssh *, int may_name,
    const char *in_force, enum authonly_proposed *);

/* Returns 1 if the last proposal named a mode. */
int	authonly_proposal_has_modes(void);

/*
 * For a client
 */

/* Saves the lists of the server's last proposal, from ssh->kex->peer. */
void	authonly_proposal_note_server(struct ssh *);

/* Returns 1 if the server named "none" in its first proposal. */
int	authonly_proposal_server_has_none(void);

/* Returns 1 if both sides share a MAC for "none" in each direction. */
int	authonly_proposal_none_is_usable(struct ssh *);

/*
 * Returns 1 if the last proposal changed the order of the user's MACs, so that
 * "mac" was chosen and the user's order would have led to another one.
 */
int	authonly_proposal_displaced(enum authonly_dir, const char *mac);

#endif /* HAYATE_AUTHONLY_PROPOSAL_HOOK_H */
