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
 * "len" is a packet's length from its length field to its padding, without MAC
 * or tag. A position is that of the packet's first byte (stream-position.h).
 * Functions return 0 or SSH_ERR_*, unless noted, and log nothing. A sealer
 * belongs to one thread at a time. The threads share struct sealer_keys, which
 * may change only while none of them has a job.
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

/*
 * The keys of a direction, and values derived from them, all for reading only.
 * Zero it at first.
 */
struct sealer_keys {
	const struct newkeys *newkeys;	/* upstream owns and frees them */
	int	 mode;			/* MODE_IN, MODE_OUT */
	u_int	 authlen;		/* bytes of the AEAD's tag, or 0 */
	u_int	 maclen;		/* bytes of the MAC, or 0 */
	u_int	 aadlen;		/* 4: length is associated data; or 0 */
	u_int	 block_size;		/* bytes, of the cipher */
	int	 etm;			/* 1: MAC of the encrypted bytes */
	u_char	 iv[16];		/* of the first packet with the keys */
	u_int	 iv_len;		/* bytes used of it */
};

/* The contexts of one thread, private to sealer-hook.c. Zero it at first. */
struct sealer {
	struct sshcipher_ctx *cc;
	struct sshmac mac;
	int	 placed;	/* 1: the context's IV is that of "next" */
	u_int64_t next;		/* number of a packet (AEAD) or block (CTR) */
};

/*
 * Sets all fields from the negotiated keys of a direction: keeps the pointer,
 * and copies the IV. Returns 0; or -1, with nothing changed, if the cipher is
 * not supported, because a packet needs the one before it (CBC).
 */
int	sealer_set_keys(struct sealer_keys *, const struct newkeys *, int mode);

/*
 * Zeroes the structure; upstream's keys stay. All sealers must have been freed.
 */
void	sealer_wipe_keys(struct sealer_keys *);

/*
 * sealer_init() creates the contexts for these keys, in a zeroed or freed
 * sealer. sealer_free() frees the contexts and zeroes the sealer; call it also
 * after an error of sealer_init(). A second call does nothing.
 */
int	sealer_init(struct sealer *, const struct sealer_keys *);
void	sealer_free(struct sealer *);

/*
 * Seals the packet "plain", length field and padding included, into "out",
 * which has room for "len" bytes and the MAC or tag and does not overlap it.
 * After an error discard "out".
 */
int	sealer_seal(struct sealer *, const struct sealer_keys *,
    const struct stream_position *, const u_char *plain, u_int len,
    u_char *out);

/*
 * Verifies and decrypts the packet "in", which has "len" bytes and their tag or
 * MAC, into "out", which has room for "len" bytes and does not overlap it. The
 * tag or MAC is not copied. After an error, as SSH_ERR_MAC_INVALID, discard
 * "out": it may hold decrypted bytes that are forged.
 */
int	sealer_open(struct sealer *, const struct sealer_keys *,
    const struct stream_position *, const u_char *in, u_int len, u_char *out);

/*
 * Returns the decrypted length field of the packet at "in", of which "have"
 * bytes were received: the bytes after that field, without MAC or tag. Returns
 * 0 if there are too few (of a block with a MAC that is not encrypt-then-MAC,
 * else of 4) or on an error. The value is not authenticated and may be
 * anything.
 */
u_int	sealer_read_length(struct sealer *, const struct sealer_keys *,
    const struct stream_position *, const u_char *in, size_t have);

#endif /* HAYATE_SEALER_HOOK_H */
