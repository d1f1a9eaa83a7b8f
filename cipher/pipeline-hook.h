/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * pipeline-hook: seals and opens packets on several cores, in the order of the
 * stream.
 *
 * No packet needs the one before it (stream-position.h), so each is a job of
 * its own (packetq.h, pool.h). Each thread has its own cipher and MAC contexts
 * for each direction (sealer-hook.h).
 *
 * Upstream's code does the work until there is something to gain (autoscale.h)
 * or CipherThreads gives a number. From then on, until the next keys of that
 * direction, every packet comes through here, even when there is no thread:
 * upstream's own cipher context has not followed the stream.
 *
 * Sending: a packet is queued when upstream has padded it, and written from the
 * queue when it is sealed. What lies in upstream's output buffer is older.
 *
 * Receiving: packets are found in what has been read, and opened before they
 * are asked for, but never beyond a KEXINIT that has not been answered, because
 * NEWKEYS may follow. They are opened where they lie. When more is to be read
 * before all of them are open, it goes into another buffer: the threads have
 * work while the owner reads.
 *
 * No thread starts before pipeline_allow_threads(). One connection in a
 * process; not thread safe. Memory of each direction: at most PACKETQ_BYTES and
 * one packet on the wire, and as much in plain, in buffers that may be half
 * empty; for receiving the reads as well, and the channels get more packets at
 * once.
 */

#ifndef HAYATE_PIPELINE_HOOK_H
#define HAYATE_PIPELINE_HOOK_H

#include <sys/types.h>

#include "stream-position.h"

struct ssh;
struct sshbuf;
struct newkeys;

/* Of packet.c's struct packet_state: where the next packet stands */
#define PIPELINE_POSITION(state) (struct stream_position){ \
		.seqnr = (state).seqnr, .packets = (state).packets, \
		.blocks = (state).blocks, .bytes = (state).bytes }

/*
 * For the client's and the server's loop (pipeline-hook.c).
 */

/* The session's loop begins: from here on threads may start. */
void	pipeline_allow_threads(void);

/*
 * For packet.c, both directions (pipeline-hook.c). Errors are SSH_ERR_*.
 */

/*
 * The keys of a direction have changed, as of the next packet. Packets that are
 * sealed with the old keys go to "output". An incoming packet behind NEWKEYS
 * that has old keys is an error. Returns 0 or an error.
 */
int	pipeline_change_keys(struct ssh *, int mode, struct sshbuf *output);

/* The connection ends: jobs end, keys are wiped, threads are joined. */
void	pipeline_close(struct ssh *);

/*
 * As ssh_packet_get_bytes(), but also of a connection that is closed, as it is
 * before the end if the peer breaks the protocol.
 */
void	pipeline_get_bytes(struct ssh *, u_int64_t *in, u_int64_t *out);

/*
 * For packet.c, sending (sending-hook.c)
 */

/*
 * Takes a padded packet to be sealed and sent. Returns 1 and leaves an empty,
 * wiped buffer in its place; or 0 when upstream's code has to seal the packet.
 * If sealing fails, pipeline_write_output() returns the error in its turn. Many
 * packets go to "output", as upstream's do: it takes less for each, and ends a
 * connection that has 128 MiB to write.
 */
int	pipeline_seal_packet(struct ssh *, const struct newkeys *,
    struct sshbuf *output, struct stream_position, struct sshbuf **packet);

/* Whether packets are queued, so that pipeline_write_output() has to write. */
int	pipeline_has_packets(struct ssh *);

/*
 * Writes as write(2) does, what is in "output" first. Returns 0, also when
 * nothing can be written now, or an error.
 */
int	pipeline_write_output(struct ssh *, int fd, struct sshbuf *output);

/* Bytes to be written, in "output" and in the queue. */
size_t	pipeline_output_len(struct ssh *, const struct sshbuf *output);

/*
 * The same, less the packets that other cores have to have in hand: as in
 * stock, what counts is what waits for the path.
 */
size_t	pipeline_output_backlog(struct ssh *, const struct sshbuf *output);

/*
 * For packet.c, receiving (receiving-hook.c)
 */

#define PIPELINE_PASS	1	/* upstream's code has to open the packet */
#define PIPELINE_OPENED	2	/* "packet" is opened and verified */

/*
 * Takes the next packet out of "input", or out of an earlier read, and opens
 * it. Returns PIPELINE_OPENED, with the value of its length field in "packlen";
 * or PIPELINE_PASS; 0 when no whole packet is there; or the error that
 * upstream's code would have returned. "packlen" is not 0 while upstream's code
 * is in the middle of a packet.
 */
int	pipeline_open_packet(struct ssh *, const struct newkeys *,
    struct stream_position, struct sshbuf *input,
    struct sshbuf **packet, u_int *packlen);

/*
 * Reads as sshbuf_read() does. Packets that are still being opened keep their
 * buffer: "input" is another one then. Returns 0 or an error.
 */
int	pipeline_read_input(struct ssh *, int fd, struct sshbuf **input,
    size_t most, struct stream_position, size_t *len);

/*
 * For benchmarks: microseconds that sealing and opening took in all threads, of
 * the packets that came through here and are no longer needed.
 */
u_int64_t pipeline_crypto_us(void);

#endif /* HAYATE_PIPELINE_HOOK_H */
