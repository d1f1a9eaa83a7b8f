/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * authonly: decides whether data may be sent with authentication only, that is
 * unencrypted, and explains why not.
 *
 * There are two modes. Cipher "none" with an encrypt-then-MAC MAC is known to
 * HPN-SSH as well. AUTHONLY_GMAC, an AEAD that authenticates and does not
 * encrypt, is known to Hayate only (PROTOCOL, section 3). A mode begins with a
 * key exchange after authentication, in which the client names it and the
 * server accepts it.
 *
 * Three parties decide:
 * - the user: NoneSwitch asks for a mode, NoneEnabled permits it;
 * - the administrator: NoneEnabled of the server, also in a Match block;
 * - the data: only a session that asked for the mode itself, and that runs a
 *   command or a subsystem without a terminal, may be sent so. Before the
 *   first byte of anything else on a connection, encryption is restored, and it
 *   stays until the connection ends.
 *
 * No I/O and no upstream header. authonly-hook.c carries out the decisions.
 */

#ifndef HAYATE_AUTHONLY_H
#define HAYATE_AUTHONLY_H

/*
 * Names of the modes. A client that names both puts the faster one first. The
 * order in AUTHONLY_ALL means nothing, nor does the order in a server's list.
 */
#define AUTHONLY_NONE	"none"
#define AUTHONLY_GMAC	"aes128-gmac@hayate.invalid"
#define AUTHONLY_ALL	AUTHONLY_NONE "," AUTHONLY_GMAC

/*
 * Why encryption is required: the first such reason holds until the end. Hooks
 * of the client set AUTHONLY_TYPED and AUTHONLY_MUX; authonly_classify_*() find
 * the others.
 */
enum authonly_private {
	AUTHONLY_PUBLIC,	/* encryption is not required */
	AUTHONLY_TTY,		/* a terminal */
	AUTHONLY_AGENT,		/* forwarding of an agent */
	AUTHONLY_X11,		/* forwarding of X11 */
	AUTHONLY_TYPED,		/* typed input of a session without terminal */
	AUTHONLY_SHELL,		/* a shell without a terminal */
	AUTHONLY_FORWARD,	/* ports, sockets, stdio, other channels */
	AUTHONLY_PROXY,		/* a client of "ssh -O proxy" */
	AUTHONLY_MUX,		/* a session of another ssh that did not ask */
	AUTHONLY_OTHER,		/* a request that we do not know */
	AUTHONLY_NPRIVATE	/* the number of values, not one of them */
};

/* Input of the decision at a key exchange. All but "private" are 0 or 1. */
struct authonly_facts {
	int	server;		/* we are the server */
	int	serving;	/* authenticated, and the session has begun */
	int	enabled;	/* NoneEnabled is yes, and Hayate is not no */
	/* Read only if we are the client */
	int	asked;		/* NoneSwitch is yes */
	int	peer;		/* the server knows a mode */
	int	usable;		/* both sides can use one of these modes */
	int	refused;	/* the server refused the modes we named */
	/* Read on both sides */
	enum authonly_private private;
};

enum authonly_answer {
	AUTHONLY_OFFER,		/* name the modes; the others: why not */
	AUTHONLY_NOT_AUTHENTICATED,	/* or the session has not begun */
	AUTHONLY_NOT_ASKED,	/* NoneSwitch is not yes; client only */
	AUTHONLY_NOT_ENABLED,	/* in our own configuration */
	AUTHONLY_PRIVATE,	/* for the reason in authonly_private */
	AUTHONLY_NOT_SUPPORTED,	/* by the server */
	AUTHONLY_NO_MAC,	/* only "none" fits, and no MAC for it */
	AUTHONLY_REFUSED	/* by the server */
};

/*
 * Returns AUTHONLY_OFFER if our KEXINIT may name the modes, or the first answer
 * in the order above that says why not. Remembers nothing.
 */
enum authonly_answer authonly_decide(const struct authonly_facts *);

/*
 * Returns an answer as a clause for the user ("the server refused"), also
 * AUTHONLY_OFFER ("it is allowed"). For AUTHONLY_PRIVATE it gives that reason;
 * with any other answer the second argument is ignored. The text is constant.
 */
const char *authonly_explain_answer(enum authonly_answer,
    enum authonly_private);

/*
 * Return why a channel request (RFC 4254, section 6), a channel of this type
 * (on the wire, or in channel_new()), or a client's global request (section 4)
 * requires encryption; AUTHONLY_PUBLIC if it does not, as for "session", "exec"
 * and "subsystem". The type must not be NULL, and its case counts. Unknown
 * types require it: such a request is AUTHONLY_OTHER, such a channel
 * AUTHONLY_FORWARD. Channels of X11 and of agents are AUTHONLY_FORWARD as well;
 * their requests are not. Of the local channels of a ControlMaster only
 * "mux-proxy" requires encryption. "window-change" is AUTHONLY_TTY, as
 * "pty-req" is.
 */
enum authonly_private authonly_classify_request(const char *type);
enum authonly_private authonly_classify_channel(const char *type);
enum authonly_private authonly_classify_global(const char *type);

/* Returns 1 if the cipher, which must not be NULL, is one of the two modes. */
int	authonly_is_mode(const char *cipher);

/*
 * Returns how many bytes one key may protect, or 0 if upstream's limit is
 * right. The caller uses it unless Hayate is no, and a lower RekeyLimit counts.
 * Upstream derives its limit from the block size alone:
 *
 * - The modes do not encrypt, so no block of a key stream can repeat. An HMAC
 *   or UMAC with SSH's 32-bit sequence number needs a new key before the number
 *   wraps (RFC 4344, section 3.1); OpenSSH counts packets for that. GMAC's
 *   nonce is a 64-bit counter (RFC 5647, section 7.1). A forged packet of 256
 *   KiB is accepted with a probability of 2^-114 at most (McGrew and Viega
 *   2004: its blocks divided by 2^128), and one that is not accepted ends the
 *   connection.
 * - ChaCha20's nonce is the sequence number. The birthday bound on blocks of 8
 *   bytes, for which upstream replaces its key after 1 GiB, does not apply.
 *
 * All of these ciphers get the limit of AES: 2^32 blocks of 16 bytes.
 */
unsigned long long authonly_max_key_bytes(const char *cipher);

#endif /* HAYATE_AUTHONLY_H */
