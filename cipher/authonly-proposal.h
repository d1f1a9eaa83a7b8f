/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * authonly-proposal: which modes of authonly.h a KEXINIT names, and in which
 * order, from the lists of both sides.
 *
 * "none" needs a MAC that ends in -etm@openssh.com; GMAC needs no MAC. If both
 * are possible, the faster one comes first.
 *
 * Only the tag protects unencrypted data. So a MAC whose tag has less than 128
 * bits is used only if there is nothing else: not if GMAC is possible, and not
 * if both sides have a longer one, whatever the order of the lists. A server
 * can avoid the client's first choice only by leaving it out of its own list.
 *
 * The client's order of MACs counts even if the server refuses "none", and then
 * it should be the order of the user. So the client changes it only where that
 * does no harm:
 *
 * - Where the cipher would be an AEAD, no MAC is used, and the MACs for "none"
 *   come first, sorted by speed.
 * - Otherwise the user's order stays if it leads to a MAC for "none" with a
 *   long tag.
 * - If it does not, a Hayate server is asked for GMAC alone. A server that
 *   named "none" at login is expected to accept it, and the MACs for "none"
 *   come first. If it refuses, the caller repeats the exchange with the user's
 *   order.
 *
 * Whether the modes may be named at all is decided before, in authonly.h.
 *
 * No I/O and no upstream header.
 */

#ifndef HAYATE_AUTHONLY_PROPOSAL_H
#define HAYATE_AUTHONLY_PROPOSAL_H

#include "namelist.h"

enum authonly_dir {
	AUTHONLY_CTOS,		/* client to server */
	AUTHONLY_STOC,		/* server to client */
	AUTHONLY_DIRS		/* the number of directions */
};

/*
 * The lists of one side by direction, comma-separated (namelist.h), which the
 * caller owns; NULL: not known, which only those of a client's peer may be
 */
struct authonly_lists {
	char	*ciphers[AUTHONLY_DIRS];
	char	*macs[AUTHONLY_DIRS];
};

/* Properties of algorithms, which the caller provides */
struct authonly_algorithms {
	/* Returns 1 if the cipher needs no MAC. */
	int	 (*is_aead)(const char *cipher);
	/* Returns the list with the fastest first, which the caller frees. */
	char	*(*sort_macs)(const char *list);
	/* Returns 1 if GMAC is at least as fast as this MAC. */
	int	 (*gmac_is_fastest)(const char *mac);
	/* Returns 1 if the tag has less than 128 bits. */
	int	 (*has_short_tag)(const char *mac);
};

/* One key exchange */
struct authonly_exchange {
	const struct authonly_lists *my;	/* ours, without any mode */
	const struct authonly_lists *peer;	/* the peer's last proposal */
	int	 peer_knows_gmac;	/* 1: the peer knows AUTHONLY_GMAC */
	int	 peer_began;		/* 1: "peer" is of this exchange */
	const struct authonly_algorithms *algorithms;
};

/*
 * Returns 1 if both sides share an encrypt-then-MAC MAC, which "none" needs, in
 * each direction; 0 also if the lists of "peer" are NULL (not known), or if out
 * of memory.
 */
int	authonly_proposal_shares_etm(const struct authonly_lists *my,
    const struct authonly_lists *peer);

/*
 * Returns the modes that a client should name, in order; may be "". If the
 * server began the exchange, they are among those that it named. The text is
 * constant. If "none" is one of them, "macs" is set for each direction to all
 * of our MACs in the order to name them, which the caller frees; otherwise
 * "macs" is unchanged, so set it to NULL before. Returns NULL if out of memory;
 * "macs" may be set for one direction then.
 */
const char *authonly_proposal_client_modes(const struct authonly_exchange *,
    char *macs[AUTHONLY_DIRS]);

/*
 * Returns the modes that a server should name in answer to a client's proposal,
 * of those that the client named; may be "". If both are possible, GMAC is left
 * out if it is slower, and "none" if its MAC has a short tag; otherwise the
 * client's order decides. The text is constant. For a direction in which the
 * server should name other MACs than its own, "macs" is set to them, which the
 * caller frees; else to NULL, or it is unchanged if "none" is not possible.
 * Returns NULL if out of memory.
 */
const char *authonly_proposal_server_modes(const struct authonly_exchange *,
    char *macs[AUTHONLY_DIRS]);

/*
 * Returns 1 if both sides share a cipher in each direction; else 0. The lists
 * must not be NULL.
 */
int	authonly_proposal_shares_ciphers(const struct authonly_lists *client,
    const struct authonly_lists *server);

#endif /* HAYATE_AUTHONLY_PROPOSAL_H */
