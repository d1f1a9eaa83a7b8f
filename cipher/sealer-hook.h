/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * sealer-hook: seals or opens one packet, at any position of its stream, with
 * upstream's ciphers and MACs.
 *
 * A packet does not need the result of the one before it: GCM's nonce is the IV
 * plus the number of packets with this key, CTR's counter is the IV plus the
 * number of blocks, ChaCha20 and the MACs take the sequence number. Each sealer
 * has its own cipher and MAC context, so several threads can work on packets
 * with the same keys. The bytes on the wire are those of upstream's code.
 *
 * "len" is a packet's length from length field to padding, without the MAC or
 * tag. Errors are SSH_ERR_*. A sealer is for one thread at a time. The threads
 * share struct sealer_keys, which may change only while none of them has a job.
 *
 * RFC 5647, section 7.1; RFC 4344, section 4; RFC 4253, section 6.4
 */

#ifndef HAYATE_SEALER_HOOK_H
#define HAYATE_SEALER_HOOK_H

#include <sys/types.h>

#include "mac.h"

struct newkeys;
struct stream_position;
struct sshcipher_ctx;

/* A direction's keys and what follows from them; zeroed before first use */
struct sealer_keys {
	const struct newkeys *newkeys;	/* upstream owns and frees them */
	int	 mode;			/* MODE_IN, MODE_OUT */
	u_int	 authlen;		/* of the AEAD's tag, or 0 */
	u_int	 maclen;		/* of the MAC, or 0 */
	u_int	 aadlen;		/* bytes that are not encrypted */
	u_int	 block_size;
	int	 etm;			/* MAC of the encrypted bytes */
	u_char	 iv[16];
	u_int	 iv_len;
};

/* Zeroed before first use */
struct sealer {
	struct sshcipher_ctx *cc;
	struct sshmac mac;
	int	 placed;	/* the cipher stands at "next" */
	u_int64_t next;		/* packet (AEAD) or block (CTR) */
};

/* Returns 0, or -1 if a packet needs the one before it (CBC). */
int	sealer_set_keys(struct sealer_keys *, const struct newkeys *, int mode);
void	sealer_wipe_keys(struct sealer_keys *);

/* Makes the contexts. After an error, sealer_free() frees what was made. */
int	sealer_init(struct sealer *, const struct sealer_keys *);
void	sealer_free(struct sealer *);

/* "out" has room for "len", authlen and maclen bytes. */
int	sealer_seal(struct sealer *, const struct sealer_keys *,
    const struct stream_position *, const u_char *plain, u_int len,
    u_char *out);

/* "in" holds "len" bytes and their tag or MAC. "out" has room for "len". */
int	sealer_open(struct sealer *, const struct sealer_keys *,
    const struct stream_position *, const u_char *in, u_int len, u_char *out);

/*
 * Returns the length field of the packet at "in", of which "have" bytes are
 * there; 0 if they are too few. It is not verified and may be anything.
 */
u_int	sealer_read_length(struct sealer *, const struct sealer_keys *,
    const struct stream_position *, const u_char *in, size_t have);

#endif /* HAYATE_SEALER_HOOK_H */
