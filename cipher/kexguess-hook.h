/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * kexguess-hook: the second rule of kexguess.h in upstream's key exchange, and
 * the moment when a client may send a guess.
 *
 * sshd names the rule in its proposal, and goes by it if the client names it
 * too. Nothing else of the client's message is read for it than the two lists
 * that upstream reads.
 *
 * Called from patches/215-kex-guess.patch, by upstream's kex.c and sshd-auth.c,
 * for which build-aux/overlay.mk renames calls, and by ssh/guess-hook.c.
 */

#ifndef HAYATE_KEXGUESS_HOOK_H
#define HAYATE_KEXGUESS_HOOK_H

struct kex;
struct ssh;

/*
 * kex_choose_conf(), in a server: whether the client's guess is right by the
 * second rule, so that the first has no say. "my" and "peer" are proposals.
 */
int	kexguess_fits(const struct kex *, char **my, char **peer);

/* kex_exchange_identification(): ours is sent, the peer's is not yet read. */
void	kexguess_banner_sent(struct ssh *);

/* What that calls, if it is set */
extern void (*kexguess_at_banner)(struct ssh *);

/* As upstream's match_list(); the name of the rule is never chosen. */
char	*kexguess_match_list(const char *client, const char *server,
    unsigned int *);

/* As kex_setup(), in sshd-auth; names the rule, but for "Hayate no". */
int	kexguess_setup(struct ssh *, char **proposal);

#endif /* HAYATE_KEXGUESS_HOOK_H */
