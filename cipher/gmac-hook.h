/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * gmac-hook: AES-GCM that encrypts nothing (NIST SP 800-38D, section 3: GMAC).
 *
 * The whole packet is associated data. The nonce, the tag and the order of the
 * fields are those of aes128-gcm@openssh.com (RFC 5647). A packet may have
 * external data (segments-hook.h): it is copied first, and the tag is that of
 * the copy.
 *
 * Upstream's contexts are private to cipher.c, which defines CIPHER_SEEK_HERE
 * and includes this file. Called from patches/200-cipher-gmac.patch.
 */

#ifndef HAYATE_GMAC_HOOK_H
#define HAYATE_GMAC_HOOK_H
#ifdef CIPHER_SEEK_HERE

#include "external-hook.h"

/*
 * As memcpy(), of a packet whose first byte is at "src" and which may have
 * external data. Such data is read once, copied to its place in "dest", and no
 * longer external.
 */
static void
gmac_copy(u_char *dest, const u_char *src, size_t len)
{
	struct sshbuf_external o = external_take(src, 0);
	size_t behind = o.at + o.len;

	memcpy(dest, src, o.at);
	memcpy(dest + o.at, o.data, o.len);
	memcpy(dest + behind, src + behind, len - behind);
}

/*
 * As cipher_crypt(), with "len" bytes of associated data and no other: copies
 * them to "dest" and increments the nonce. When sealing, appends a tag of
 * "authlen" bytes; when opening, verifies the tag behind "src" and returns
 * SSH_ERR_MAC_INVALID if it is wrong, with the forged bytes in "dest". Other
 * errors are SSH_ERR_INVALID_ARGUMENT for a wrong "authlen" and
 * SSH_ERR_LIBCRYPTO_ERROR.
 */
static int
gmac_crypt(struct sshcipher_ctx *cc, u_char *dest, const u_char *src,
    u_int len, u_int authlen)
{
	u_char last[1];

	if (authlen != cipher_authlen(cc->cipher))
		return SSH_ERR_INVALID_ARGUMENT;
	if (EVP_CIPHER_CTX_ctrl(cc->evp, EVP_CTRL_GCM_IV_GEN, 1, last) <= 0 ||
	    (!cc->encrypt && EVP_CIPHER_CTX_ctrl(cc->evp, EVP_CTRL_GCM_SET_TAG,
	    (int)authlen, (void *)(src + len)) <= 0))
		return SSH_ERR_LIBCRYPTO_ERROR;
	gmac_copy(dest, src, len);
	if (EVP_Cipher(cc->evp, NULL, dest, len) < 0)
		return SSH_ERR_LIBCRYPTO_ERROR;
	if (EVP_Cipher(cc->evp, NULL, NULL, 0) < 0)
		return cc->encrypt ? SSH_ERR_LIBCRYPTO_ERROR :
		    SSH_ERR_MAC_INVALID;
	if (cc->encrypt && EVP_CIPHER_CTX_ctrl(cc->evp, EVP_CTRL_GCM_GET_TAG,
	    (int)authlen, dest + len) <= 0)
		return SSH_ERR_LIBCRYPTO_ERROR;
	return 0;
}

#endif
#endif /* HAYATE_GMAC_HOOK_H */
