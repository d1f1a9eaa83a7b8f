/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * segments-hook: encrypts a packet that lies in three segments, because
 * gather-hook.h has left its data in external memory.
 *
 * Upstream's code calls EVP_Cipher() for everything after the length field of a
 * packet, and computes the tag or MAC from the encrypted bytes, which are
 * contiguous. So that call can encrypt the three segments one after the other,
 * if the cipher can stop at any byte. build-aux/overlay.mk replaces the call in
 * cipher.c and in cipher-chachapoly-libcrypto.c by segments_cipher().
 *
 * The external memory may be writable by another process. The cipher reads each
 * byte of it once, so whatever was read is both sent and authenticated; GMAC
 * authenticates a copy (gmac-hook.h).
 */

#ifndef HAYATE_SEGMENTS_HOOK_H
#define HAYATE_SEGMENTS_HOOK_H

#include <sys/types.h>

#include <openssl/evp.h>

struct newkeys;

/*
 * Returns 1 if packets with these keys may have external data: AES-GCM, GMAC,
 * AES-CTR with an encrypt-then-MAC MAC, and ChaCha20 where upstream uses that
 * of libcrypto. Returns 0 for all others, "none" included.
 */
int	segments_supported(const struct newkeys *);

/*
 * As EVP_Cipher(), of a packet that may have external data in this thread
 * (external-hook.h) and whose byte 4, behind the length field, is at "from".
 * External data is encrypted from where it lies into its place, and is no
 * longer external then, also after an error. Without such data it only calls
 * EVP_Cipher(). Returns a negative number on error, otherwise the result of the
 * last segment.
 */
int	segments_cipher(EVP_CIPHER_CTX *, unsigned char *,
    const unsigned char *, unsigned int);

#endif /* HAYATE_SEGMENTS_HOOK_H */
