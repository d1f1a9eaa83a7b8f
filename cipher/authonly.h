/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * clear: whether data may travel authenticated but in clear, and if not, why.
 *
 * Two modes do it. Cipher "none" with an encrypt-then-MAC MAC is what HPN-SSH
 * knows as well; AUTHONLY_GMAC, an AEAD that authenticates and encrypts nothing,
 * is between two Hayates (PROTOCOL, 3). Either comes with a key exchange
 * after authentication, asked for by the client, granted by the server.
 *
 * Three people decide: the user (NoneSwitch is the wish, NoneEnabled the
 * consent), the administrator (NoneEnabled of the server, in Match as well),
 * and whoever needs privacy. Only sessions that asked themselves, and that run
 * a command or a subsystem without a terminal, are in clear. With the first of
 * anything else on a connection encryption comes back before its first byte,
 * and stays until the connection ends.
 *
 * No I/O and no upstream header. authonly-hook.c does what this says.
 */

#ifndef HAYATE_AUTHONLY_H
#define HAYATE_AUTHONLY_H

#define AUTHONLY_NONE	"none"
#define AUTHONLY_GMAC	"aes128-gmac@hayate.invalid"
#define AUTHONLY_ALL	AUTHONLY_NONE "," AUTHONLY_GMAC

/* What must not be read on the way. Once it is there it stays. */
enum authonly_private {
	AUTHONLY_PUBLIC,
	AUTHONLY_TTY,
	AUTHONLY_AGENT,
	AUTHONLY_X11,
	AUTHONLY_TYPED,		/* at a terminal, for a session without one */
	AUTHONLY_SHELL,		/* without a terminal */
	AUTHONLY_FORWARD,		/* ports, sockets, stdio, tunnels */
	AUTHONLY_PROXY,		/* a client of "ssh -O proxy" */
	AUTHONLY_GUEST,		/* a session of another ssh that did not ask */
	AUTHONLY_OTHER,		/* a request that we do not know */
	AUTHONLY_PRIVATES
};

/* As far as it is known when a key exchange begins */
struct authonly_facts {
	int	server;		/* we are */
	int	serving;	/* authenticated, and in the session's loop */
	int	enabled;	/* NoneEnabled, and not Hayate no */
	int	asked;		/* client: NoneSwitch */
	int	peer;		/* client: the server knows such a mode */
	int	usable;		/* client: and one has what it needs here */
	int	refused;	/* client: the server did not take what we named */
	enum authonly_private private;
};

enum authonly_answer {
	AUTHONLY_OFFER,
	AUTHONLY_EARLY,		/* nobody is authenticated */
	AUTHONLY_UNASKED,
	AUTHONLY_FORBIDDEN,	/* by our own configuration */
	AUTHONLY_NEEDED,		/* encryption is: see authonly_private */
	AUTHONLY_UNKNOWN,		/* to the server */
	AUTHONLY_NO_MAC,		/* for "none", that both sides have */
	AUTHONLY_REFUSED		/* by the server */
};

/* Whether our KEXINIT may name the modes. AUTHONLY_OFFER is the only yes. */
enum authonly_answer authonly_decide(const struct authonly_facts *);

/* The reason for a no, as a clause for the user; never NULL. */
const char *authonly_reason(enum authonly_answer, enum authonly_private);

/*
 * What comes with a channel request (RFC 4254, section 6), a channel of that
 * type (on the wire, or in channel_new()), and a global request (section 4).
 * What is not known is private.
 */
enum authonly_private authonly_request(const char *type);
enum authonly_private authonly_channel(const char *type);
enum authonly_private authonly_global(const char *type);

/* Whether the cipher is one of the modes. */
int	authonly_is(const char *cipher);

/*
 * Bytes that one key may protect (0: as the caller would have it), for what
 * stock OpenSSH judges by the block size alone:
 *
 * The modes encrypt nothing, so no block of a key stream can repeat. An
 * HMAC or UMAC with SSH's 32-bit sequence number wants a new key before it
 * wraps (RFC 4344, section 3.1); OpenSSH counts packets for that. GMAC's
 * nonce is a 64-bit counter (RFC 5647, section 7.1); a forged packet of
 * 256 KiB passes with 2^-114 at most (McGrew and Viega 2004: its blocks
 * divided by 2^128), and one that does not pass ends the connection.
 * ChaCha20 takes the sequence number for its nonce and has no birthday bound
 * on blocks of 8 bytes, which stock makes it rekey each GiB for.
 *
 * All of them get what AES has: 2^32 blocks of 16 bytes.
 */
unsigned long long authonly_key_bytes(const char *cipher);

#endif /* HAYATE_AUTHONLY_H */
