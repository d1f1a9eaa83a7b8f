/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * early-auth-hook: a login that does not wait for what it knows
 * (early-servers.h, login-cache.h).
 *
 * Three ways begin a login, with keyword EarlyLogin and without "Hayate no":
 *
 *   known      the server's methods are remembered, and a key comes first: the
 *              key is offered behind the request for the service, and signed at
 *              once if it was accepted before
 *   none       behind the request for the service the first question of stock,
 *              and, from OpenSSH, behind the server's EXT_INFO the first key
 *   as stock   an unknown kind of server, or one that took us by surprise
 *
 * All of it follows the verification of the host key. The answers are read by
 * stock's handlers, which ours stand before; a refused key therefore leads to
 * the next one as in stock. Nothing is asked of the user before the server has
 * answered: no passphrase, no PIN, no touch of a token. An agent that asks its
 * user by itself does not say so, and signs with the key of the last login.
 *
 * Called from patches/248-sshconnect2-early.patch.
 */

#ifndef HAYATE_EARLY_AUTH_HOOK_H
#define HAYATE_EARLY_AUTH_HOOK_H

struct cauthmethod;
struct ssh;
struct sshkey;

/*
 * The service was requested, and the handlers are stock's. "method" and "list"
 * are the variables of the authentication that runs; "key" is the method
 * publickey, and offer() tries the next key and returns whether it sent.
 */
void	early_auth_begin(struct ssh *, const char *user, const char *host,
    struct cauthmethod **method, char **list, struct cauthmethod *key,
    int (*offer)(struct ssh *));

/* Whether the server's banner is of the kind, or the user trusts any. */
int	early_auth_allows(const struct ssh *, int (*kind)(const char *banner));

/*
 * Whether the banner is of that kind of OpenSSH, and so are the extensions: a
 * banner may say anything, and no other server names
 * publickey-hostbound@openssh.com.
 */
int early_auth_is_verified(const struct ssh *, int (*kind)(const char *banner));

/* Whether the first request has been sent already. */
int	early_auth_request_sent(void);

/*
 * Whether the key may be signed with instead of asking for it: the server has
 * accepted it before, and no user is needed.
 */
int	early_auth_may_sign(const struct sshkey *, int agent, const char *file);

/* The key is being signed with. */
void	early_auth_note_key(const struct sshkey *);

/*
 * A received packet is wrong, perhaps changed on the path: the login ends as in
 * stock, and is not restarted.
 */
void	early_auth_note_fault(void);

/*
 * From cleanup_exit(). If the connection ended, perhaps because of an early
 * request, this updates the cache, which may begin a back-off, re-executes ssh
 * with EarlyLogin=no, and does not return. It returns, and the caller ends, if
 * only an early session was pending, and if ssh cannot be re-executed.
 */
void	early_auth_cleanup(void);

#endif /* HAYATE_EARLY_AUTH_HOOK_H */
