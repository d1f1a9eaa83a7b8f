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
#include "sealer-hook.h"
#include "stream-position.h"

#define UMAC64_LEN	8

/*
 * Keys
 */

int
sealer_set_keys(struct sealer_keys *keys, const struct newkeys *k, int mode)
{
	u_int authlen = cipher_authlen(k->enc.cipher);

	if ((authlen == 0 && match_pattern_list(k->enc.name, "aes*-ctr,none",
	    0) != 1) || k->enc.iv_len > sizeof(keys->iv))
		return -1;
	keys->newkeys = k;
	keys->mode = mode;
	keys->authlen = authlen;
	keys->maclen = authlen == 0 ? k->mac.mac_len : 0;
	keys->etm = authlen == 0 && k->mac.etm;
	keys->aadlen = authlen != 0 || keys->etm ? 4 : 0;
	keys->block_size = k->enc.block_size;
	keys->iv_len = k->enc.iv_len;
	memcpy(keys->iv, k->enc.iv, keys->iv_len);
	return 0;
}

void
sealer_wipe_keys(struct sealer_keys *keys)
{
	explicit_bzero(keys, sizeof(*keys));
}

int
sealer_init(struct sealer *s, const struct sealer_keys *keys)
{
	const struct newkeys *k = keys->newkeys;
	int r;

	if (keys->authlen == 0) {
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
	    keys->mode == MODE_OUT ? CIPHER_ENCRYPT : CIPHER_DECRYPT);
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

/* Adds "n" to a big endian number of "len" bytes, which wraps around. */
static void
add_big_endian(u_char *number, u_int len, u_int64_t n)
{
	while (len-- > 0 && n > 0) {
		n += number[len];
		number[len] = (u_char)n;
		n >>= 8;
	}
}

/*
 * Encrypts or decrypts a packet at its position in the stream. GCM counts
 * packets, CTR blocks. The cipher needs no new IV when this sealer has done the
 * packet before this one.
 */
static int
crypt_packet(struct sealer *s, const struct sealer_keys *keys,
    const struct stream_position *at, u_char *out, const u_char *in, u_int len)
{
	u_char iv[sizeof(keys->iv)];
	u_int64_t here = keys->authlen != 0 ? at->packets : at->blocks;
	int r;

	if (!s->placed || s->next != here) {
		memcpy(iv, keys->iv, sizeof(iv));
		if (keys->authlen == 0)
			add_big_endian(iv, keys->iv_len, here);
		else if (keys->iv_len > 8)
			add_big_endian(iv + keys->iv_len - 8, 8, here);
		if ((r = cipher_seek(s->cc, iv, keys->iv_len)) != 0)
			return r;
	}
	s->placed = 0;
	if ((r = cipher_crypt(s->cc, at->seqnr, out, in, len - keys->aadlen,
	    keys->aadlen, keys->authlen)) != 0)
		return r;
	s->next = here + (keys->authlen != 0 ? 1 : len / keys->block_size);
	s->placed = 1;
	return 0;
}

/*
 * Computes as mac_compute(), which cannot be used in threads: it has a static
 * buffer.
 */
static int
compute_mac(const struct sealer *s, u_int32_t seqnr, const u_char *data,
    u_int len, u_char *mac)
{
	u_char nonce[8] = { 0 };	/* big endian; HMAC takes half */
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

/* Verifies as mac_check(). */
static int
verify_mac(const struct sealer *s, u_int32_t seqnr, const u_char *data,
    u_int len, const u_char *mac)
{
	u_char ours[SSH_DIGEST_MAX_LENGTH];
	int r;

	if ((r = compute_mac(s, seqnr, data, len, ours)) != 0)
		return r;
	return timingsafe_bcmp(ours, mac, s->mac.mac_len) == 0 ? 0 :
	    SSH_ERR_MAC_INVALID;
}

int
sealer_seal(struct sealer *s, const struct sealer_keys *keys,
    const struct stream_position *at, const u_char *plain, u_int len,
    u_char *out)
{
	int r;

	if (keys->maclen != 0 && !keys->etm &&
	    (r = compute_mac(s, at->seqnr, plain, len, out + len)) != 0)
		return r;
	if ((r = crypt_packet(s, keys, at, out, plain, len)) != 0)
		return r;
	if (keys->maclen != 0 && keys->etm)
		return compute_mac(s, at->seqnr, out, len, out + len);
	return 0;
}

int
sealer_open(struct sealer *s, const struct sealer_keys *keys,
    const struct stream_position *at, const u_char *in, u_int len, u_char *out)
{
	int r;

	if (keys->maclen != 0 && keys->etm &&
	    (r = verify_mac(s, at->seqnr, in, len, in + len)) != 0)
		return r;
	if ((r = crypt_packet(s, keys, at, out, in, len)) != 0)
		return r;
	if (keys->maclen != 0 && !keys->etm)
		return verify_mac(s, at->seqnr, out, len, in + len);
	return 0;
}

u_int
sealer_read_length(struct sealer *s, const struct sealer_keys *keys,
    const struct stream_position *at, const u_char *in, size_t have)
{
	u_char block[16];
	u_int packlen = 0;

	if (keys->aadlen != 0)
		return cipher_get_length(s->cc, &packlen, at->seqnr, in,
		    have) == 0 ? packlen : 0;
	if (have < keys->block_size ||
	    crypt_packet(s, keys, at, block, in, keys->block_size) != 0)
		return 0;
	return PEEK_U32(block);
}
