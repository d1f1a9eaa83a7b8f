/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * poly1305-hook: upstream's poly1305.h, served by libcrypto.
 *
 * chacha20-poly1305@openssh.com is the default cipher. Upstream takes ChaCha20
 * from libcrypto and computes Poly1305 (RFC 8439, section 2.5) with portable
 * code of its own, which takes longer than the encryption. libcrypto's code
 * uses vectors. The tags are the same, byte for byte.
 *
 * This file has the place and the name of upstream's function, and upstream's
 * is built beside it as poly1305_portable() (build-aux/overlay.mk). That one
 * does short packets, where a context costs more than it saves, and everything
 * where libcrypto has no Poly1305, as with a FIPS provider alone.
 *
 * Thread safe: the one shared object is fetched once and never changes. What a
 * context holds of the key, libcrypto wipes when it frees it.
 */

#include "includes.h"

#include <sys/types.h>

#include <pthread.h>

#include <openssl/evp.h>

#include "log.h"
#include "poly1305.h"

void	poly1305_portable(u_char out[POLY1305_TAGLEN], const u_char *m,
    size_t inlen, const u_char key[POLY1305_KEYLEN]);

#if OPENSSL_VERSION_NUMBER >= 0x30000000L

/*
 * Bytes at which libcrypto takes half as long (regress/unit/poly1305-model
 * speed)
 */
#define LONG_PACKET	1024

static EVP_MAC *poly1305;

static void
fetch_poly1305(void)
{
	if ((poly1305 = EVP_MAC_fetch(NULL, "POLY1305", NULL)) == NULL)
		verbose("libcrypto has no Poly1305: OpenSSH's own is used");
}

/* Returns 1 if libcrypto has made the tag. */
static int
make_tag(u_char out[POLY1305_TAGLEN], const u_char *m, size_t inlen,
    const u_char key[POLY1305_KEYLEN])
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	EVP_MAC_CTX *ctx;
	size_t len;
	int made;

	if (pthread_once(&once, fetch_poly1305) != 0 || poly1305 == NULL ||
	    (ctx = EVP_MAC_CTX_new(poly1305)) == NULL)
		return 0;
	made = EVP_MAC_init(ctx, key, POLY1305_KEYLEN, NULL) == 1 &&
	    EVP_MAC_update(ctx, m, inlen) == 1 &&
	    EVP_MAC_final(ctx, out, &len, POLY1305_TAGLEN) == 1 &&
	    len == POLY1305_TAGLEN;
	EVP_MAC_CTX_free(ctx);
	return made;
}

#else

#define LONG_PACKET	SIZE_MAX
#define make_tag(out, m, inlen, key)	0

#endif

void
poly1305_auth(u_char out[POLY1305_TAGLEN], const u_char *m, size_t inlen,
    const u_char key[POLY1305_KEYLEN])
{
	if (inlen < LONG_PACKET || !make_tag(out, m, inlen, key))
		poly1305_portable(out, m, inlen, key);
}
