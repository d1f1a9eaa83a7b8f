/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * segments-hook: encrypts a packet that lies in pieces, because gather-hook.h
 * has left its data where it was.
 *
 * Upstream's code calls EVP_Cipher() for what follows the length field of a
 * packet, and computes the tag or MAC from the encrypted bytes, which lie in
 * one piece. So that call can take the three pieces one after the other, with
 * ciphers that go on at any byte. build-aux/overlay.mk gives it our name in
 * cipher.c and in cipher-chachapoly-libcrypto.c.
 *
 * What lies outside may be in memory that others can write. It is read once,
 * and whatever was read is what is sent and authenticated.
 */

#ifndef HAYATE_SEGMENTS_HOOK_H
#define HAYATE_SEGMENTS_HOOK_H

#include <sys/types.h>

#include <openssl/evp.h>

struct newkeys;

/* Whether packets with these keys may lie in pieces. */
int	segments_supported(const struct newkeys *);

/* As EVP_Cipher(). For any thread; only the main thread has pieces. */
int	segments_cipher(EVP_CIPHER_CTX *, unsigned char *,
    const unsigned char *, unsigned int);

#endif /* HAYATE_SEGMENTS_HOOK_H */
