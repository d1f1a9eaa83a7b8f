/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * gmac: AES-GCM that encrypts nothing (NIST SP 800-38D, section 3: GMAC).
 *
 * All of a packet is associated data. The nonce, the tag and the order of the
 * fields are those of aes128-gcm@openssh.com (RFC 5647), by upstream's code.
 *
 * Called from patches/200-cipher-gmac.patch.
 */

#ifndef HAYATE_GMAC_H
#define HAYATE_GMAC_H

#include <sys/types.h>

/* If "gmac" is set, makes all of a packet associated data. */
static inline void
gmac_extend_aad(int gmac, u_int *aadlen, u_int *len)
{
	if (gmac) {
		*aadlen += *len;
		*len = 0;
	}
}

#endif /* HAYATE_GMAC_H */
