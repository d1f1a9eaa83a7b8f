/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * kexguess: decides whether a kex guess was right: whether the first message of
 * a key exchange, which a client may send before it has the server's proposal,
 * belongs to the negotiated method.
 *
 * By RFC 4253, section 7.1, a guess is right if both sides name the same key
 * exchange method first, and the same host key algorithm first. The server
 * ignores a guess that is wrong. By this rule a guess may be wrong although it
 * names what is negotiated. Two sides that both name kexguess2@matt.ucc.asn.au,
 * dropbear's extension, apply another rule: the guess is right if the client's
 * first names are those that are negotiated.
 *
 * Lists are those of a KEXINIT (namelist.h), and come from the peer. No state,
 * no upstream header.
 */

#ifndef HAYATE_KEXGUESS_H
#define HAYATE_KEXGUESS_H

/* Stands in the list of key exchange methods, but is none */
#define KEXGUESS_NAME	"kexguess2@matt.ucc.asn.au"

/* The part of one side's proposal that counts */
struct kexguess_lists {
	const char	*kex;	/* methods of key exchange */
	const char	*key;	/* algorithms of host keys */
};

/* Returns 1 if both sides name KEXGUESS_NAME, so that its rule applies. */
int	kexguess_is_named(const struct kexguess_lists *client,
    const struct kexguess_lists *server);

/*
 * Returns 1 if a guess of the client's first names is right by the rule that
 * applies. KEXGUESS_NAME is not skipped: if both sides name it and the client
 * names it first, the guess is wrong.
 */
int	kexguess_is_right(const struct kexguess_lists *client,
    const struct kexguess_lists *server);

/*
 * Returns a copy of the list with "name" moved to its front, which the caller
 * frees; NULL if "name" is not one name of the list, or out of memory.
 */
char	*kexguess_put_first(const char *list, const char *name);

#endif /* HAYATE_KEXGUESS_H */
