/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * gather-hook: seals the data of a channel from where it lies (gather I/O).
 *
 * packet.c assembles a packet in a buffer and seals it from there into its
 * output. So data that a channel has read, or has in a slot of shared memory
 * (ring.h), is copied there just for the cipher to read it. Here the data stays
 * in its place (sshbuf_put_external()), the packet's buffer has a gap instead,
 * and the cipher takes the packet in three segments: the bytes before the data,
 * the data, and the bytes behind it. The bytes on the wire are the same.
 *
 * The data is external during one call of sshpkt_send(). Other code that reads
 * the packet meanwhile gets all of it: the data is copied into the gap before a
 * packet is queued for new keys or given to a thread, and a compressed packet
 * never has external data. As a last check, external_end() (external-hook.h)
 * ends the process if a packet was sealed without its data, before a byte of it
 * is written to the socket.
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
 * and sends the packet, as sshpkt_put_string() and sshpkt_send() do. The data
 * is read once, from where it lies. But it is copied, by these two functions,
 * if it has less than 8 KiB, if packets are compressed, or if
 * gather_set_packet() has set no keys for this connection. In both cases the
 * caller may free it after the call. Returns 0, or SSH_ERR_*, and then the
 * connection has to end.
 */
int	gather_send(struct ssh *, const u_char *, size_t len);

/*
 * For the pipeline (cipher/), at each packet: sets the connection, the buffer
 * in which its next packet will be assembled, and its keys. All three are kept,
 * not copied. The caller passes NULL in place of keys that do not support
 * segments, if there are threads, and before the keys or the connection are
 * freed; gather_send() then copies the data, and the others may be NULL, too.
 */
void	gather_set_packet(struct ssh *, struct sshbuf **packet,
    const struct newkeys *);

#endif /* HAYATE_GATHER_HOOK_H */
