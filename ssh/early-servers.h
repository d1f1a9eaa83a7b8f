/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * early-servers: which servers can be sent requests before they have replied to
 * the earlier ones, by their banners.
 *
 * A login of stock sends one request after the other, and each costs a round
 * trip: the service, "none" for the methods, a query for a key, the signature.
 * RFC 4252 lets a client send the next request at once, and requires replies in
 * order, but some servers fail then. Each implementation named here was
 * tried; regress/login.bats tries them again.
 *
 * Banners are with or without "SSH-2.0-". A banner may say anything, so nothing
 * that is secret or executed depends on it alone. No I/O and no upstream
 * header; early-auth-hook.c sends and receives.
 */

#ifndef HAYATE_EARLY_SERVERS_H
#define HAYATE_EARLY_SERVERS_H

/*
 * Returns 1 if the implementation takes requests before it has replied to the
 * one before; else 0. Others are treated as by stock until the login cache has
 * an entry for them.
 */
int	early_server_is_allowed(const char *banner);

/*
 * Returns 1 for OpenSSH and its forks; else 0. OpenSSH rejects a request that
 * it cannot use, and continues, so a query that turns out to be superfluous
 * costs nothing.
 */
int	early_server_is_openssh(const char *banner);

/*
 * Returns 1 for OpenSSH from 9.0 on and its forks; else 0. They execute the
 * requests for a session that arrive before they have replied to the signature,
 * or reject all of them.
 */
int	early_server_takes_session(const char *banner);

/*
 * Returns 1 if the implementation ignores the first message of a key exchange
 * when that was guessed and is wrong, as RFC 4253, section 7.1, says; else 0.
 */
int	early_server_skips_guess(const char *banner);

/*
 * Returns 1 for HPN-SSH, which rekeys when the session begins, with ChaCha20
 * and with AES-CTR; else 0.
 */
int	early_server_rekeys(const char *banner);

/*
 * Returns 1 if publickey is the first of the preferred methods that the server
 * offers and that are enabled; else 0. "preferred" and "offered" are lists with
 * commas; enabled() returns 1 if the user permits a method.
 */
int	early_key_is_first(const char *preferred, const char *offered,
    int (*enabled)(const char *method));

#endif /* HAYATE_EARLY_SERVERS_H */
