/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * peer: how two Hayates recognise each other.
 *
 * Each side names itself once, in the SSH2_MSG_EXT_INFO (RFC 8308) that
 * stock OpenSSH sends right after the first key exchange anyway: one more
 * name, which everybody else ignores. PROTOCOL section 1 has the layout.
 *
 * No I/O and no upstream header; the message itself is peer-hook.c's.
 */

#ifndef HAYATE_PEER_H
#define HAYATE_PEER_H

#include <stddef.h>

#define PEER_EXT_NAME	"hayate@hayate.invalid"
#define PEER_EXT_VALUE	"2"		/* the protocol version we speak */
#define PEER_VERSION_AUTHONLY 2		/* the first with data in clear */

/*
 * The version in the value a peer sent: the decimal number it starts with,
 * whatever follows, at most 65535. 0 means that the value is none of ours:
 * no number, the number 0, or a NUL byte anywhere.
 */
unsigned int peer_version(const unsigned char *value, size_t len);

#endif /* HAYATE_PEER_H */
