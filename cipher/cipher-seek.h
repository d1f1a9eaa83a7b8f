/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * cipher-seek: moves a cipher context to another position of its stream.
 *
 * Upstream's contexts go forward only, and their structure is private to
 * cipher.c. So cipher.c defines CIPHER_SEEK_HERE and includes this file behind
 * its structures, which adds one function to it.
 *
 * Called from patches/200-cipher-gmac.patch.
 */

#ifndef HAYATE_CIPHER_SEEK_H
#define HAYATE_CIPHER_SEEK_H

#include <sys/types.h>

struct sshcipher_ctx;

/*
 * Sets the IV of the next packet: the nonce of GCM, or the counter of CTR.
 * Later packets continue from it; the key stays. "len" is the length of the IV
 * in bytes. Does nothing and returns 0 for "none", and for ChaCha20, which uses
 * the sequence number instead. A context belongs to one thread at a time.
 * Returns 0; SSH_ERR_INVALID_ARGUMENT if "len" is not that of the cipher's IV;
 * or SSH_ERR_LIBCRYPTO_ERROR, after which the position is unknown.
 */
int	cipher_seek(struct sshcipher_ctx *, const u_char *iv, u_int len);

#ifdef CIPHER_SEEK_HERE
int
cipher_seek(struct sshcipher_ctx *cc, const u_char *iv, u_int len)
{
	int r;

	if (cc->evp == NULL)
		return 0;
	if (len != cipher_ivlen(cc->cipher))
		return SSH_ERR_INVALID_ARGUMENT;
	if (cipher_authlen(cc->cipher) != 0)
		r = EVP_CIPHER_CTX_ctrl(cc->evp, EVP_CTRL_GCM_SET_IV_FIXED, -1,
		    (void *)iv);	/* libcrypto only reads it */
	else
		r = EVP_CipherInit(cc->evp, NULL, NULL, iv, -1);
	return r > 0 ? 0 : SSH_ERR_LIBCRYPTO_ERROR;
}
#endif

#endif /* HAYATE_CIPHER_SEEK_H */
