/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * kexguess-hook: dropbear's rule for a kex guess (kexguess.h) in upstream's key
 * exchange, and the moment when a client may send a guess.
 *
 * sshd names the rule in its proposal, and applies it if the client names it
 * too. Of the client's message sshd reads no more for this than the two lists
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
 * In kex_choose_conf(), in a server: returns 1 if both proposals name
 * dropbear's rule and the client's guess is right by it, so that upstream need
 * not apply RFC 4253's. Returns 0 in a client.
 */
int	kexguess_fits(const struct kex *, char **my, char **peer);

/*
 * Called in kex_exchange_identification(), after our banner was sent and before
 * the peer's is read: calls kexguess_at_banner(), if that is set.
 */
void	kexguess_banner_sent(struct ssh *);

extern void (*kexguess_at_banner)(struct ssh *);

/* As upstream's match_list(), but never chooses KEXGUESS_NAME. */
char	*kexguess_match_list(const char *client, const char *server,
    unsigned int *);

/*
 * As kex_setup(), in sshd-auth. Adds KEXGUESS_NAME to the key exchange methods
 * in "proposal", whose string it replaces and frees, but not with "Hayate no".
 */
int	kexguess_setup(struct ssh *, char **proposal);

#endif /* HAYATE_KEXGUESS_HOOK_H */
