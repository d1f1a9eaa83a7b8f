/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * external-hook: the packet whose data lies outside of its buffer while it is
 * sealed (sshbuf_put_external()).
 *
 * The module links gather-hook.h, which knows the packet layer, with the
 * ciphers, which do not, and which are linked into programs without one:
 *
 *	NONE -- external_begin(packet) --> SET -- a cipher takes the data,
 *	  ^                                 |     external_linearize(),
 *	  |                                 |     external_end(), or
 *	  +---------------------------------+     external_begin(NULL)
 *
 * The state is per thread; only the main thread ever sets a packet.
 */

#ifndef HAYATE_EXTERNAL_HOOK_H
#define HAYATE_EXTERNAL_HOOK_H

#include <sys/types.h>

#include "sshbuf-hook.h"

struct sshbuf;

/*
 * Sets the packet that is about to be sent; any packet set before is forgotten.
 * The packet stays the caller's and must exist until it is removed. If sending
 * fails, call it with NULL instead of external_end(): it removes the packet and
 * copies nothing.
 */
void	external_begin(struct sshbuf *);

/*
 * Call it when the packet was sent or queued for new keys. Does nothing if a
 * cipher has taken the data. If the packet is queued, copies the data into it
 * and removes it. Ends the process if the packet was sent, and is empty now,
 * although no cipher has taken the data: the packet was sealed without it.
 */
void	external_end(void);

/*
 * Copies the data into the packet and removes it, because code that does not
 * know of it, such as another thread, is going to read the packet. Does nothing
 * if no packet is set, as in any thread but the main one.
 */
void	external_linearize(void);

/*
 * For a cipher that reads the packet's bytes from "p" on, where "p" is byte
 * "at" of the packet. external_has() returns 1 if the packet is the one that is
 * set and a part of it lies outside; else 0. If the data was copied into the
 * packet after external_begin(), no part lies outside any more, and the packet
 * is removed.
 *
 * external_take() returns the outside part and removes the packet, so a second
 * call finds none. The position of the part counts from "p", which must not lie
 * behind the beginning of the part. The data of the part stays in the memory of
 * whoever sends, at least until external_end(). If
 * external_has() would return 0, length and position are 0, and the data is
 * "p".
 */
int	external_has(const u_char *p, size_t at);
struct sshbuf_external external_take(const u_char *p, size_t at);

#endif /* HAYATE_EXTERNAL_HOOK_H */
