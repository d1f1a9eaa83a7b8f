/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * peer: how two Hayates recognise each other.
 *
 * Each side names itself once, as one more extension in the SSH2_MSG_EXT_INFO
 * (RFC 8308) that stock OpenSSH sends right after the first key exchange. Other
 * implementations ignore it. PROTOCOL, section 1, has the layout.
 *
 * No I/O, no state and no upstream header; peer-hook.c writes and reads the
 * message.
 */

#ifndef HAYATE_PEER_H
#define HAYATE_PEER_H

#include <stddef.h>

#define PEER_EXT_NAME	"hayate@hayate.invalid"	/* of our extension */
#define PEER_EXT_VALUE	"3"		/* our version of PROTOCOL */
#define PEER_VERSION_AUTHONLY 2		/* the first with data in clear */
#define PEER_VERSION_STALL_STATS 3	/* the first with STALL_STATS_REQUEST */

/*
 * Returns the version in the value that a peer sent: the decimal number at its
 * start, 65535 if it is larger; any text behind it is ignored. Returns 0 if the
 * value is invalid: empty, no digit at its start, the number 0, or a NUL byte
 * anywhere. The caller then does not treat the peer as Hayate.
 */
unsigned int peer_parse_version(const unsigned char *value, size_t len);

/*
 * Returns 1 if the banner is that of OpenSSH itself ("SSH-2.0-OpenSSH_10.0p2"),
 * to which a distribution may have added a space and any text without "hpn" in
 * any case. Returns 0 for other programs and for "", for a fork that names
 * itself in the release ("10.2p1_hpn18.8.0", "9.3p1c-GSI"), and for
 * OpenSSH_for_Windows. A peer can claim any banner.
 */
int	 peer_is_openssh(const char *banner);

#endif /* HAYATE_PEER_H */
