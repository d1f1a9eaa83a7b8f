/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * pieces-hook: AES-GCM of a packet that lies in pieces, and GMAC.
 *
 * GMAC is AES-GCM that encrypts nothing (NIST SP 800-38D, section 3): all of a
 * packet is associated data. The nonce, the tag and the order of the fields are
 * those of aes128-gcm@openssh.com (RFC 5647). A packet in pieces is one whose
 * data gather-hook.h has left where it lies.
 *
 * What lies outside may be in memory that others can write. So the tag is that
 * of the bytes that are sent, whatever was read, and each is read once.
 *
 * Upstream's contexts are private to cipher.c, which defines CIPHER_SEEK_HERE
 * and includes this file. Called from patches/200-cipher-gmac.patch.
 */

#ifndef HAYATE_PIECES_HOOK_H
#define HAYATE_PIECES_HOOK_H

#include <sys/types.h>

struct sshcipher;

/* Whether packets of this cipher may lie in pieces. */
int	pieces_fit(const struct sshcipher *);

#ifdef CIPHER_SEEK_HERE
#include "gather-hook.h"

int
pieces_fit(const struct sshcipher *c)
{
	return c->auth_len != 0 && (c->flags & CFLAG_CHACHAPOLY) == 0;
}

/* As memcpy(), of a packet in pieces. */
static void
pieces_copy(u_char *dest, const u_char *src, size_t len,
    struct sshbuf_outside o)
{
	size_t behind = o.at + o.len;

	memcpy(dest, src, o.at);
	memcpy(dest + o.at, o.data, o.len);
	memcpy(dest + behind, src + behind, len - behind);
}

/* As EVP_Cipher(), of a packet in pieces. Returns less than 0 on error. */
static int
pieces_encrypt(EVP_CIPHER_CTX *evp, u_char *dest, const u_char *src, size_t len,
    struct sshbuf_outside o)
{
	size_t behind = o.at + o.len;

	if (EVP_Cipher(evp, dest, src, (u_int)o.at) < 0 ||
	    EVP_Cipher(evp, dest + o.at, o.data, (u_int)o.len) < 0 ||
	    EVP_Cipher(evp, dest + behind, src + behind,
	    (u_int)(len - behind)) < 0)
		return -1;
	return 0;
}

/* Nonce, and the tag to be verified */
static int
pieces_begin(struct sshcipher_ctx *cc, const u_char *tag, u_int authlen)
{
	u_char last[1];

	if (EVP_CIPHER_CTX_ctrl(cc->evp, EVP_CTRL_GCM_IV_GEN, 1, last) <= 0 ||
	    (!cc->encrypt && EVP_CIPHER_CTX_ctrl(cc->evp, EVP_CTRL_GCM_SET_TAG,
	    (int)authlen, (void *)tag) <= 0))	/* libcrypto only reads it */
		return SSH_ERR_LIBCRYPTO_ERROR;
	return 0;
}

static int
pieces_body(struct sshcipher_ctx *cc, u_char *dest, const u_char *src,
    u_int len, u_int aadlen)
{
	struct sshbuf_outside o = gather_take(src);

	if ((cc->cipher->flags & CFLAG_GMAC) != 0) {
		pieces_copy(dest, src, aadlen + len, o);
		return EVP_Cipher(cc->evp, NULL, cc->encrypt ? dest : src,
		    aadlen + len);
	}
	o.at -= aadlen;
	memcpy(dest, src, aadlen);
	if (EVP_Cipher(cc->evp, NULL, dest, aadlen) < 0)
		return -1;
	return pieces_encrypt(cc->evp, dest + aadlen, src + aadlen, len, o);
}

static int
pieces_end(struct sshcipher_ctx *cc, u_char *tag, u_int authlen)
{
	if (EVP_Cipher(cc->evp, NULL, NULL, 0) < 0)
		return cc->encrypt ? SSH_ERR_LIBCRYPTO_ERROR :
		    SSH_ERR_MAC_INVALID;
	if (cc->encrypt && EVP_CIPHER_CTX_ctrl(cc->evp, EVP_CTRL_GCM_GET_TAG,
	    (int)authlen, tag) <= 0)
		return SSH_ERR_LIBCRYPTO_ERROR;
	return 0;
}

/* As cipher_crypt(), where pieces_due() */
static int
pieces_crypt(struct sshcipher_ctx *cc, u_char *dest, const u_char *src,
    u_int len, u_int aadlen, u_int authlen)
{
	int r;

	if (authlen != cipher_authlen(cc->cipher) ||
	    len % cc->cipher->block_size != 0)
		return SSH_ERR_INVALID_ARGUMENT;
	if ((r = pieces_begin(cc, src + aadlen + len, authlen)) != 0)
		return r;
	if (pieces_body(cc, dest, src, len, aadlen) < 0)
		return SSH_ERR_LIBCRYPTO_ERROR;
	return pieces_end(cc, dest + aadlen + len, authlen);
}

/* Upstream's code does neither GMAC nor pieces. */
static int
pieces_due(const struct sshcipher_ctx *cc, const u_char *src)
{
	return (cc->cipher->flags & CFLAG_GMAC) != 0 ||
	    (cc->encrypt && gather_has(src));
}
#endif

#endif /* HAYATE_PIECES_HOOK_H */
