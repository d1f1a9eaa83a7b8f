/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

#include "includes.h"

#include <sys/types.h>

#include <stdarg.h>
#include <string.h>

#include "cipher.h"
#include "digest.h"
#include "hmac.h"
#include "kex.h"
#include "log.h"
#include "match.h"
#include "misc.h"
#include "packet.h"
#include "sshbuf.h"
#include "ssherr.h"
#include "umac.h"

#include "cipher-seek.h"
#include "pipeline-hook.h"
#include "sealer-hook.h"

#define UMAC64_LEN	8

/*
 * Keys
 */

int
sealing_init(struct sealing *d, const struct newkeys *k, int mode)
{
	u_int authlen = cipher_authlen(k->enc.cipher);

	if ((authlen == 0 && match_pattern_list(k->enc.name, "aes*-ctr,none",
	    0) != 1) || k->enc.iv_len > sizeof(d->iv))
		return -1;
	d->keys = k;
	d->mode = mode;
	d->authlen = authlen;
	d->maclen = authlen == 0 ? k->mac.mac_len : 0;
	d->etm = authlen == 0 && k->mac.etm;
	d->aadlen = authlen != 0 || d->etm ? 4 : 0;
	d->block_size = k->enc.block_size;
	d->iv_len = k->enc.iv_len;
	memcpy(d->iv, k->enc.iv, d->iv_len);
	return 0;
}

void
sealing_wipe(struct sealing *d)
{
	explicit_bzero(d, sizeof(*d));
}

int
sealer_init(struct sealer *s, const struct sealing *d)
{
	const struct newkeys *k = d->keys;
	int r;

	if (d->authlen == 0) {
		s->mac.name = k->mac.name;
		if ((r = mac_setup(&s->mac, k->mac.name)) != 0)
			return r;
		s->mac.key = k->mac.key;
		r = mac_init(&s->mac);
		s->mac.key = NULL;	/* upstream's, and freed by it */
		if (r != 0)
			return r;
	}
	return cipher_init(&s->cc, k->enc.cipher, k->enc.key, k->enc.key_len,
	    k->enc.iv, k->enc.iv_len,
	    d->mode == MODE_OUT ? CIPHER_ENCRYPT : CIPHER_DECRYPT);
}

void
sealer_free(struct sealer *s)
{
	cipher_free(s->cc);
	if (s->mac.name != NULL)
		mac_clear(&s->mac);
	memset(s, 0, sizeof(*s));
}

/*
 * One packet
 */

/* Big endian, of as many bytes as count. */
static void
add(u_char *number, u_int len, u_int64_t n)
{
	while (len-- > 0 && n > 0) {
		n += number[len];
		number[len] = (u_char)n;
		n >>= 8;
	}
}

/*
 * Crypts a packet where it stands in the stream: GCM counts packets, CTR blocks.
 * A cipher that has just done the packet before is there already.
 */
static int
crypt_at(struct sealer *s, const struct sealing *d,
    const struct pipeline_at *at, u_char *out, const u_char *in, u_int len)
{
	u_char iv[sizeof(d->iv)];
	u_int64_t here = d->authlen != 0 ? at->packets : at->blocks;
	int r;

	if (!s->placed || s->next != here) {
		memcpy(iv, d->iv, sizeof(iv));
		if (d->authlen == 0)
			add(iv, d->iv_len, here);
		else if (d->iv_len > 8)
			add(iv + d->iv_len - 8, 8, here);
		if ((r = cipher_seek(s->cc, iv, d->iv_len)) != 0)
			return r;
	}
	s->placed = 0;
	if ((r = cipher_crypt(s->cc, at->seqnr, out, in, len - d->aadlen,
	    d->aadlen, d->authlen)) != 0)
		return r;
	s->next = here + (d->authlen != 0 ? 1 : len / d->block_size);
	s->placed = 1;
	return 0;
}

/* As mac_compute(), whose buffer is one for all threads. */
static int
compute(const struct sealer *s, u_int32_t seqnr, const u_char *data, u_int len,
    u_char *mac)
{
	u_char nonce[8] = { 0 };	/* big endian; an HMAC takes half of it */
	union {
		u_char m[SSH_DIGEST_MAX_LENGTH];
		u_int64_t for_umac;
	} u;

	POKE_U32(nonce + 4, seqnr);
	if (s->mac.hmac_ctx != NULL) {
		if (ssh_hmac_init(s->mac.hmac_ctx, NULL, 0) < 0 ||
		    ssh_hmac_update(s->mac.hmac_ctx, nonce + 4, 4) < 0 ||
		    ssh_hmac_update(s->mac.hmac_ctx, data, len) < 0 ||
		    ssh_hmac_final(s->mac.hmac_ctx, u.m, sizeof(u.m)) < 0)
			return SSH_ERR_LIBCRYPTO_ERROR;
	} else if (s->mac.mac_len == UMAC64_LEN) {
		umac_update(s->mac.umac_ctx, data, len);
		umac_final(s->mac.umac_ctx, u.m, nonce);
	} else {
		umac128_update(s->mac.umac_ctx, data, len);
		umac128_final(s->mac.umac_ctx, u.m, nonce);
	}
	memcpy(mac, u.m, s->mac.mac_len);
	return 0;
}

/* As mac_check(). */
static int
verify(const struct sealer *s, u_int32_t seqnr, const u_char *data, u_int len,
    const u_char *mac)
{
	u_char ours[SSH_DIGEST_MAX_LENGTH];
	int r;

	if ((r = compute(s, seqnr, data, len, ours)) != 0)
		return r;
	return timingsafe_bcmp(ours, mac, s->mac.mac_len) == 0 ? 0 :
	    SSH_ERR_MAC_INVALID;
}

int
sealer_seal(struct sealer *s, const struct sealing *d,
    const struct pipeline_at *at, const u_char *plain, u_int len, u_char *out)
{
	int r;

	if (d->maclen != 0 && !d->etm &&
	    (r = compute(s, at->seqnr, plain, len, out + len)) != 0)
		return r;
	if ((r = crypt_at(s, d, at, out, plain, len)) != 0)
		return r;
	if (d->maclen != 0 && d->etm)
		return compute(s, at->seqnr, out, len, out + len);
	return 0;
}

int
sealer_open(struct sealer *s, const struct sealing *d,
    const struct pipeline_at *at, const u_char *in, u_int len, u_char *out)
{
	int r;

	if (d->maclen != 0 && d->etm &&
	    (r = verify(s, at->seqnr, in, len, in + len)) != 0)
		return r;
	if ((r = crypt_at(s, d, at, out, in, len)) != 0)
		return r;
	if (d->maclen != 0 && !d->etm)
		return verify(s, at->seqnr, out, len, in + len);
	return 0;
}

u_int
sealer_length(struct sealer *s, const struct sealing *d,
    const struct pipeline_at *at, const u_char *in, size_t have)
{
	u_char block[16];
	u_int packlen = 0;

	if (d->aadlen != 0)
		return cipher_get_length(s->cc, &packlen, at->seqnr, in,
		    have) == 0 ? packlen : 0;
	if (have < d->block_size ||
	    crypt_at(s, d, at, block, in, d->block_size) != 0)
		return 0;
	return PEEK_U32(block);
}
