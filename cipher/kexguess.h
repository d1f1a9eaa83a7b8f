/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * kexguess: whether the first message of a key exchange, which a client may
 * send before it has the server's proposal, is of the method that is chosen.
 *
 * RFC 4253, section 7.1, calls such a guess right if both sides name the same
 * key exchange method first, and the same algorithm of a host key. A server
 * ignores one that is wrong. By this rule many a guess is wrong that names what
 * is chosen. Two sides that both name kexguess2@matt.ucc.asn.au, which is
 * dropbear's, go by another: the guess is right if the client's first names are
 * those that are chosen.
 *
 * Lists are those of a KEXINIT, as in namelist.h, and come from the peer. No
 * upstream header.
 */

#ifndef HAYATE_KEXGUESS_H
#define HAYATE_KEXGUESS_H

/* Not a method, and never chosen */
#define KEXGUESS_NAME	"kexguess2@matt.ucc.asn.au"

/* What one side proposes */
struct kexguess_lists {
	const char	*kex;	/* methods of key exchange */
	const char	*key;	/* algorithms of host keys */
};

/* Whether both sides go by the other rule. */
int	kexguess_is_named(const struct kexguess_lists *client,
    const struct kexguess_lists *server);

/* Whether a guess of the client's first names is right by the rule in force. */
int	kexguess_is_right(const struct kexguess_lists *client,
    const struct kexguess_lists *server);

/*
 * Returns the list with this name of it in front, which the caller frees; NULL
 * if it has no such name, or if out of memory.
 */
char	*kexguess_put_first(const char *list, const char *name);

#endif /* HAYATE_KEXGUESS_H */
