/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * sealer-hook: one packet, sealed or opened with upstream's ciphers and MACs at
 * any place of its stream.
 *
 * What a packet needs is known before the packet before it is done: GCM's nonce
 * is the IV plus the number of packets of this key, CTR's counter the IV plus
 * the number of blocks, ChaCha20 and the MACs take the sequence number. A
 * sealer holds a cipher and a MAC context of its own, so that several threads
 * can do several packets with the same keys, and the bytes are upstream's.
 *
 * "len" is a packet's length on the wire without what authenticates it: length
 * field to padding. Errors are SSH_ERR_*. A sealer is for one thread at a time;
 * what they share, struct sealing, changes while none of them is at work.
 *
 * RFC 5647, section 7.1; RFC 4344, section 4; RFC 4253, section 6.4
 */

#ifndef SEALER_HOOK_H
#define SEALER_HOOK_H

#include <sys/types.h>

#include "mac.h"

struct newkeys;
struct pipeline_at;
struct sshcipher_ctx;

/* The keys of a direction and what follows from them; zeroed before first use. */
struct sealing {
	const struct newkeys *keys;	/* upstream's, and freed by it */
	int	 mode;			/* MODE_IN, MODE_OUT */
	u_int	 authlen, maclen, aadlen, block_size;
	int	 etm;
	u_char	 iv[16];
	u_int	 iv_len;
};

/* Zeroed before first use */
struct sealer {
	struct sshcipher_ctx *cc;
	struct sshmac mac;
	int	 placed;	/* the cipher, where "next" packet or block begins */
	u_int64_t next;
};

/* 0, or -1 if no packet can be sealed before the one before it (CBC). */
int	sealing_init(struct sealing *, const struct newkeys *, int mode);
void	sealing_wipe(struct sealing *);

int	sealer_init(struct sealer *, const struct sealing *);
void	sealer_free(struct sealer *);

/* "out" has room for "len", authlen and maclen. */
int	sealer_seal(struct sealer *, const struct sealing *,
    const struct pipeline_at *, const u_char *plain, u_int len, u_char *out);

/* "in" holds "len" bytes and what authenticates them, "out" gets "len". */
int	sealer_open(struct sealer *, const struct sealing *,
    const struct pipeline_at *, const u_char *in, u_int len, u_char *out);

/*
 * The length field of the packet at "in", of which "have" bytes are there; 0
 * if they are too few to tell. It need not be true: nothing was verified.
 */
u_int	sealer_length(struct sealer *, const struct sealing *,
    const struct pipeline_at *, const u_char *in, size_t have);

#endif /* SEALER_HOOK_H */
