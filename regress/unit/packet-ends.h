/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * packet-ends: upstream's packet layer without a connection, for drivers that
 * seal and open packets. What is sent is found in ssh_packet_get_output(), and
 * what is put into ssh_packet_get_input() is received.
 *
 * The driver exits with status 2 if an algorithm is not available.
 */

#ifndef HAYATE_PACKET_ENDS_H
#define HAYATE_PACKET_ENDS_H

#include <sys/types.h>

struct ssh;

struct end_keys {
	const char *cipher, *mac;	/* mac: NULL for an AEAD */
	u_char	bytes[64];		/* keys and nonces begin with these */
	const u_char *iv;		/* if not NULL, nonces with these */
	int	 compresses;		/* from USERAUTH_SUCCESS on */
};

/*
 * Proposes the modes of cipher/authonly.h, as a client that may propose them.
 * The module refuses keys for a mode that was not proposed. Call it before
 * end_new().
 */
void	ends_offer_modes(void);

/*
 * An end that only sends (MODE_OUT) or only receives (MODE_IN). What is written
 * goes to "fd", unless that is -1.
 */
struct ssh *end_new(const struct end_keys *, int mode, int fd);

/* Sets other keys of the same algorithms, for the next NEWKEYS. */
void	end_next_keys(struct ssh *, const struct end_keys *, int mode);
void	end_free(struct ssh *);

u_char	*end_copy(const u_char *, size_t);

#endif /* HAYATE_PACKET_ENDS_H */
