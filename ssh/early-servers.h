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
 * RFC 4252 lets a client send the next request at once, and the server replies
 * in order, but not every server does. Each implementation named here was
 * tried; regress/login.bats tries them again.
 *
 * Banners are with or without "SSH-2.0-". They may say anything, so nothing
 * that is secret or executed depends on them alone. The functions return 1 or
 * 0. No I/O and no upstream header; early-auth-hook.c sends and receives.
 */

#ifndef HAYATE_EARLY_SERVERS_H
#define HAYATE_EARLY_SERVERS_H

/*
 * The implementation takes requests before it has replied to the one before.
 * Others are treated as by stock until the login cache has an entry for them.
 */
int	early_server_is_allowed(const char *banner);

/*
 * OpenSSH: rejects a request that it cannot use, and continues, so a query that
 * turns out to be superfluous costs nothing.
 */
int	early_server_is_openssh(const char *banner);

/*
 * OpenSSH from 9.0 on and its forks: executes the requests for a session that
 * arrive before it has replied to the signature, or rejects all of them.
 */
int	early_server_takes_session(const char *banner);

/*
 * Ignores the first message of a key exchange if it was guessed and is wrong,
 * as RFC 4253, section 7.1, says.
 */
int	early_server_skips_guess(const char *banner);

/* HPN-SSH: rekeys when the session begins, with ChaCha20 and with AES-CTR. */
int	early_server_rekeys(const char *banner);

/*
 * publickey is enabled, and the first of the preferred methods that the server
 * offers and that are enabled. "preferred" and "offered" are lists with commas;
 * enabled() returns 1 if the user permits a method.
 */
int	early_key_is_first(const char *preferred, const char *offered,
    int (*enabled)(const char *method));

#endif /* HAYATE_EARLY_SERVERS_H */
