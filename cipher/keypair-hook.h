/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * keypair-hook: generates the key pair of a key exchange in advance.
 *
 * A pair for sntrup761, which servers before OpenSSH 9.9 choose, takes tens of
 * milliseconds. A client that expects this method generates it while it waits
 * for the connection. The pair is used once; later exchanges generate their
 * own.
 *
 * For ssh/guess-hook.c, and for upstream's kexsntrup761x25519.c, in which
 * build-aux/overlay.mk renames a call. Main thread only.
 */

#ifndef HAYATE_KEYPAIR_HOOK_H
#define HAYATE_KEYPAIR_HOOK_H

/*
 * Returns 1 if it pays to call keypair_prepare() for this kex method, which is
 * sntrup761x25519-sha512, also with "@openssh.com" appended; else 0. The name
 * must not be NULL.
 */
int	keypair_is_slow(const char *method);

/*
 * Generates the pair for the next key exchange, unless there is one. If that
 * fails, there is none, and no message. Does nothing in a build without
 * sntrup761.
 */
void	keypair_prepare(void);

/*
 * Wipes a pair that was not used. Call it after the first key exchange,
 * whatever its method was.
 */
void	keypair_forget(void);

/*
 * As upstream's crypto_kem_sntrup761_keypair(), which it calls if no pair is
 * prepared; otherwise copies that pair, wipes it, and says so at -v. Returns 0,
 * or upstream's error. Only in builds with sntrup761.
 */
int	keypair_sntrup761(unsigned char *public, unsigned char *secret);

#endif /* HAYATE_KEYPAIR_HOOK_H */
