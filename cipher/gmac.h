/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * gmac: AES-GCM that encrypts nothing (NIST SP 800-38D, section 3: GMAC).
 *
 * All of a packet is associated data. Upstream's code for AES-GCM does the
 * rest as for aes128-gcm@openssh.com: nonce, tag, order of the fields
 * (RFC 5647).
 *
 * Called from patches/200-cipher-gmac.patch.
 */

#ifndef HAYATE_GMAC_H
#define HAYATE_GMAC_H

#include <sys/types.h>

/* Packet of "aadlen" and "len" bytes: moves the border to its end. */
static inline void
gmac_as_aad(int gmac, u_int *aadlen, u_int *len)
{
	if (gmac) {
		*aadlen += *len;
		*len = 0;
	}
}

#endif /* HAYATE_GMAC_H */
