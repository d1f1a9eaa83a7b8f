/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

#include "includes.h"

#include <sys/types.h>

#include <string.h>

#include "cipher.h"
#include "kex.h"

#include "external-hook.h"
#include "segments-hook.h"

/* Bytes of the packet before the encrypted ones */
#define LENGTH_FIELD	4

/*
 * Without libcrypto's ChaCha20 upstream's own code reads the packet, which
 * knows no segments.
 */
#if defined(HAVE_EVP_CHACHA20) && !defined(HAVE_BROKEN_CHACHA20)
# define CHACHA20_FITS	1
#else
# define CHACHA20_FITS	0
#endif

int
segments_supported(const struct newkeys *k)
{
	if (cipher_authlen(k->enc.cipher) == 0)
		return k->mac.etm && strstr(k->enc.name, "-ctr") != NULL;
	return CHACHA20_FITS || strncmp(k->enc.name, "aes", 3) == 0;
}

int
segments_cipher(EVP_CIPHER_CTX *evp, u_char *to, const u_char *from, u_int len)
{
	struct sshbuf_external o;
	size_t behind;

	if (!external_has(from, LENGTH_FIELD))
		return EVP_Cipher(evp, to, from, len);
	o = external_take(from, LENGTH_FIELD);
	behind = o.at + o.len;
	if (EVP_Cipher(evp, to, from, (u_int)o.at) < 0 ||
	    EVP_Cipher(evp, to + o.at, o.data, (u_int)o.len) < 0)
		return -1;
	return EVP_Cipher(evp, to + behind, from + behind,
	    (u_int)(len - behind));
}
