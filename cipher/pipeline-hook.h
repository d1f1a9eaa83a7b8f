/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * pipeline-hook: seals and opens packets on several cores, and keeps the order
 * of the stream.
 *
 * No packet needs the result of the one before it (stream-position.h), so each
 * is a separate job (packetq.h, pool.h). Each thread has its own cipher and MAC
 * contexts for each direction (sealer-hook.h).
 *
 * Upstream's code does the work until threads promise a gain (autoscale.h) or
 * CipherThreads sets a number. From then on, until the next keys of that
 * direction, every packet goes through the pipeline, even when there are no
 * threads: upstream's own cipher context has not followed the stream.
 *
 * Sending: a packet is queued when upstream has padded it, and written from the
 * queue when it is sealed. Bytes in upstream's output buffer are older than the
 * queue.
 *
 * Receiving: packets are recognised in the input and opened before they are
 * asked for, but one by one after we have sent a KEXINIT, until NEWKEYS. They
 * are decrypted from where they lie in the input into buffers of their own. If
 * more is read before all of them are open, it goes into another input buffer,
 * so that the threads work while the owner reads.
 *
 * No thread starts before pipeline_allow_threads(). One connection per process;
 * main thread only. Memory per direction: PACKETQ_BYTES plus one packet for
 * sealed packets, and the same for plaintext, in buffers that may be half
 * empty; for receiving also PACKETQ_READS input buffers.
 */

#ifndef HAYATE_PIPELINE_HOOK_H
#define HAYATE_PIPELINE_HOOK_H

#include <sys/types.h>

#include "stream-position.h"

struct ssh;
struct sshbuf;
struct newkeys;

/* The position of the next packet, from packet.c's struct packet_state */
#define PIPELINE_POSITION(state) (struct stream_position){ \
		.seqnr = (state).seqnr, .packets = (state).packets, \
		.blocks = (state).blocks, .bytes = (state).bytes }

/*
 * For the client's and the server's loop (pipeline-hook.c).
 */

/*
 * Call it when the session's loop begins. Starts the threads now if
 * CipherThreads is a number; autoscale.h may start some from now on if it is
 * "auto".
 */
void	pipeline_allow_threads(void);

/*
 * For packet.c, both directions (pipeline-hook.c). Errors are SSH_ERR_*.
 */

/*
 * Call it when the keys of a direction change, before upstream frees the old
 * ones. Queued outgoing packets are sealed with the old keys into "output". A
 * queued incoming packet is an error, because it followed NEWKEYS with old
 * keys. Returns 0 or SSH_ERR_*.
 */
int	pipeline_change_keys(struct ssh *, int mode, struct sshbuf *output);

/*
 * Call it when the connection ends, before upstream frees its state: waits for
 * jobs and discards their packets, wipes keys, joins threads, and notes the
 * bytes for pipeline_get_bytes().
 */
void	pipeline_close(struct ssh *);

/*
 * As ssh_packet_get_bytes(), but works also for a connection that was closed
 * already, as happens when the peer violates the protocol.
 */
void	pipeline_get_bytes(struct ssh *, u_int64_t *in, u_int64_t *out);

/*
 * For packet.c, sending (sending-hook.c)
 */

/*
 * Queues a padded packet to be sealed and sent. Returns 1 with "*packet"
 * replaced by an empty, wiped buffer; or 0 if upstream's code has to seal the
 * packet. If sealing fails later, pipeline_write_output() returns the error.
 * The 1024th queued packet moves the whole queue, sealed, to "output", which
 * needs less memory for each. The process ends if that fails, as at 128 MiB in
 * "output", or if there is no memory.
 */
int	pipeline_seal_packet(struct ssh *, const struct newkeys *,
    struct sshbuf *output, struct stream_position, struct sshbuf **packet);

/* Returns 1 if packets are queued that pipeline_write_output() has to write. */
int	pipeline_has_packets(struct ssh *);

/*
 * Writes "output", then sealed packets of the queue, as far as "fd" accepts
 * them. Blocks on no descriptor, but may seal a packet, or wait for a thread
 * that seals it. Returns 0, also if nothing was written, or SSH_ERR_*.
 */
int	pipeline_write_output(struct ssh *, int fd, struct sshbuf *output);

/* Returns the bytes to be written, in "output" and in the queue. */
size_t	pipeline_output_len(struct ssh *, const struct sshbuf *output);

/*
 * The same without packets that are still being sealed, if there is at most one
 * for each thread and the owner: as in stock, the backlog is what waits for the
 * network (packetq_backlog()).
 */
size_t	pipeline_output_backlog(struct ssh *, const struct sshbuf *output);

/*
 * For packet.c, receiving (receiving-hook.c)
 */

/* Results of pipeline_open_packet() besides 0 and SSH_ERR_* (negative) */
#define PIPELINE_PASS	1	/* upstream's code has to open the packet */
#define PIPELINE_OPENED	2	/* "packet" holds a verified packet */

/*
 * Opens the next packet of the stream, from "input" or an earlier input buffer.
 * Returns PIPELINE_OPENED with the plaintext in "*packet" and its length field
 * in "*packlen"; PIPELINE_PASS for upstream's code, also if that is in the
 * middle of a packet ("*packlen" is not 0); 0 if the packet is incomplete, and
 * at most once between two reads if the threads need work and more can be read;
 * or the error that upstream's code would have returned, after the same log
 * line and disconnect message.
 */
int	pipeline_open_packet(struct ssh *, const struct newkeys *,
    struct stream_position, struct sshbuf *input,
    struct sshbuf **packet, u_int *packlen);

/*
 * Reads as sshbuf_read() does, and queues the packets. If packets in "*input"
 * are still being opened, they keep that buffer, and "*input" becomes another
 * one. Returns 0 or SSH_ERR_*.
 */
int	pipeline_read_input(struct ssh *, int fd, struct sshbuf **input,
    size_t most, struct stream_position, size_t *len);

/*
 * For benchmarks: returns the time that sealing and opening took in all
 * threads, microseconds, of the packets that have left the pipeline.
 */
u_int64_t pipeline_crypto_us(void);

#endif /* HAYATE_PIPELINE_HOOK_H */
