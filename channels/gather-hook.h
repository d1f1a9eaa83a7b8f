/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * gather-hook: seals the data of a channel from where it lies (gather I/O).
 *
 * packet.c assembles a packet in a buffer and seals it from there into its
 * output. So data that a channel has read, or has in a slot of shared memory
 * (ring.h), is copied there just for the cipher to read it. Here the packet's
 * buffer gets a gap instead, the data stays outside (sshbuf_put_external()),
 * and the cipher takes the packet in three segments: what precedes the data,
 * the data, and what follows it. The bytes on the wire are the same.
 *
 * The data is external during one call of sshpkt_send(). Any other code that
 * reads the packet meanwhile gets all of it: a packet that is queued for new
 * keys or given to a thread is linearized first, and a compressed one never has
 * external data. As a last check, external_end() ends the process if a packet
 * was sealed without its data, before a byte of it is written to the socket.
 *
 * Not used with ciphers that need whole blocks, nor with a MAC of the plaintext
 * (segments-hook.h). One connection; main thread only.
 */

#ifndef HAYATE_GATHER_HOOK_H
#define HAYATE_GATHER_HOOK_H

#include <sys/types.h>

struct ssh;
struct sshbuf;
struct newkeys;

/*
 * For channels.c: appends "len" bytes as a string to the packet that was begun,
 * and sends the packet, as sshpkt_put_string() and sshpkt_send() do. With less
 * than 8 KiB, if packets are compressed, or if gather_set_packet() has set no
 * keys for this connection, it only calls these, which copy the data; otherwise
 * the data is read once, from where it lies. In both cases the caller may free
 * it after the call. Returns 0, or SSH_ERR_*, and then the connection has to
 * end.
 */
int	gather_send(struct ssh *, const u_char *, size_t len);

/*
 * For the pipeline (cipher/), at each packet: sets the connection, the buffer
 * in which its next packet will be assembled, and its keys. All three are kept,
 * not copied. The caller passes NULL keys if they do not support segments, if
 * there are threads, or before the keys or the connection are freed;
 * gather_send() copies the data then.
 */
void	gather_set_packet(struct ssh *, struct sshbuf **packet,
    const struct newkeys *);

#endif /* HAYATE_GATHER_HOOK_H */
