/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * keypair-hook: the key pair of a key exchange is made before it is wanted.
 *
 * That of sntrup761, which servers before OpenSSH 9.9 choose, takes tens of
 * milliseconds. A client that knows that it will be asked for makes it while it
 * waits for the connection. It is used once, and the next exchange makes its
 * own.
 *
 * For upstream's kexsntrup761x25519.c, for which build-aux/overlay.mk renames a
 * call, and ssh/guess-hook.c. Main thread only.
 */

#ifndef HAYATE_KEYPAIR_HOOK_H
#define HAYATE_KEYPAIR_HOOK_H

/* Whether the method of key exchange has a pair that takes long. */
int	keypair_is_slow(const char *method);

/* Makes a pair for the next exchange of such a method. */
void	keypair_prepare(void);

/* The exchange is over: a pair that was not used is wiped. */
void	keypair_forget(void);

/* As upstream's crypto_kem_sntrup761_keypair(): that pair, or a new one. */
int	keypair_sntrup761(unsigned char *public, unsigned char *secret);

#endif /* HAYATE_KEYPAIR_HOOK_H */
