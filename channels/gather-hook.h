/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * gather-hook: the data of a channel is sealed from where it lies.
 *
 * packet.c puts a packet together in a buffer and seals it from there into its
 * output. So what a channel has read, or has in a slot of shared memory
 * (ring.h), is copied once only to be read by the cipher. Here the buffer gets
 * no more than room for the data, which stays outside (sshbuf_put_external()),
 * and the cipher takes the packet in three pieces: what stands before the data,
 * the data, and what stands behind it. The bytes on the wire are the same.
 *
 * The data is outside during one call of sshpkt_send(). Whoever else reads the
 * packet meanwhile gets all of it: a packet that waits for new keys and one for
 * a thread are joined, and what is compressed is not put outside. A packet that
 * was sent and whose data nobody asked for ends the process before a byte of it
 * is written.
 *
 * Not for ciphers that need whole blocks, nor where a MAC is computed from what
 * is not encrypted yet (segments-hook.h). external-hook.h tells the cipher. One
 * connection; main thread only.
 */

#ifndef HAYATE_GATHER_HOOK_H
#define HAYATE_GATHER_HOOK_H

#include <sys/types.h>

struct ssh;
struct sshbuf;
struct newkeys;

/*
 * In channels.c: puts a string behind what the packet has, and sends it.
 * Returns 0 or SSH_ERR_*, and then the connection has to end.
 */
int	gather_send(struct ssh *, const u_char *, size_t len);

/*
 * For the module that seals: the connection's next packet will be put together
 * in "*packet", which stays the place of that pointer, and may be sealed in
 * pieces. No keys: it may not, or the connection ends.
 */
void	gather_set_packet(struct ssh *, struct sshbuf **packet,
    const struct newkeys *);

#endif /* HAYATE_GATHER_HOOK_H */
