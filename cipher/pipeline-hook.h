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

/* The position of the next packet: a copy from packet.c's packet_state */
#define PIPELINE_POSITION(state) (struct stream_position){ \
		.seqnr = (state).seqnr, .packets = (state).packets, \
		.blocks = (state).blocks, .bytes = (state).bytes }

/*
 * For the client's and the server's loop (pipeline-hook.c).
 */

/*
 * Call it when the session's loop begins; later calls do nothing. Starts the
 * threads now if CipherThreads is a number, and says at -v if the system starts
 * fewer; autoscale.h may start some from now on if it is "auto" and this
 * process may use two cores or more. Otherwise ("off", "Hayate no", one core)
 * upstream's code does all the work.
 */
void	pipeline_allow_threads(void);

/*
 * For packet.c, both directions (pipeline-hook.c). Errors are SSH_ERR_*.
 */

/*
 * Call it when the keys of a direction (MODE_IN, MODE_OUT) change, before
 * upstream frees the old ones. Queued outgoing packets are sealed with the old
 * keys into "output". A queued incoming packet is an error
 * (SSH_ERR_MAC_INVALID), because it followed NEWKEYS with old keys. In any case
 * the queue is empty afterwards, and the old keys are wiped from all contexts;
 * the next packet decides whether the pipeline is used with the new ones.
 * Returns 0 or SSH_ERR_*.
 */
int	pipeline_change_keys(struct ssh *, int mode, struct sshbuf *output);

/*
 * Call it when the connection ends, before upstream frees its state: waits for
 * jobs and discards their packets, even unsent ones, wipes keys, joins threads,
 * and notes the bytes for pipeline_get_bytes().
 */
void	pipeline_close(struct ssh *);

/*
 * As ssh_packet_get_bytes(), but also works when the connection was closed
 * already, as happens when the peer violates the protocol: the numbers are then
 * those at which it was closed.
 */
void	pipeline_get_bytes(struct ssh *, u_int64_t *in, u_int64_t *out);

/*
 * For packet.c, sending (sending-hook.c)
 */

/*
 * Queues a padded packet to be sealed and sent. Returns 1 with "*packet"
 * replaced by an empty, wiped buffer, which the caller owns in its place; or 0
 * if upstream's code has to seal the packet, which is unchanged then. A short
 * packet, or any without threads, is sealed within this call. If sealing fails,
 * pipeline_write_output() returns the error. Also says to gather-hook.h whether
 * the next packet may have external data. The first packet with new keys that
 * the pipeline does not support is logged at -v.
 *
 * The 1024th queued packet moves the whole queue, sealed, to "output", which
 * needs less memory for each. The process ends if that fails, as at 128 MiB in
 * "output", or if there is no memory.
 */
int	pipeline_seal_packet(struct ssh *, const struct newkeys *,
    struct sshbuf *output, struct stream_position, struct sshbuf **packet);

/*
 * Returns 1 if packets of this connection are queued, sealed or not, that
 * pipeline_write_output() has to write.
 */
int	pipeline_has_packets(struct ssh *);

/*
 * Writes "output", then sealed packets of the queue, as far as one writev(2) on
 * "fd" accepts them, at most 16 pieces, and removes what was written. Blocks on
 * no descriptor. If nothing can be written because the first packet is not
 * sealed, it seals it or waits for the thread that does, but not in the first
 * call after a thread got a packet: that returns 0 without a write. Returns 0,
 * also if "fd" accepts nothing; SSH_ERR_SYSTEM_ERROR with errno,
 * SSH_ERR_CONN_CLOSED, or the error of sealing.
 */
int	pipeline_write_output(struct ssh *, int fd, struct sshbuf *output);

/*
 * Returns the bytes to be written, in "output" and in the queue, with the MACs
 * of packets that are not sealed yet.
 */
size_t	pipeline_output_len(struct ssh *, const struct sshbuf *output);

/*
 * As pipeline_output_len(), but without packets that are still being sealed, if
 * there is at most one for each thread and the owner: as in stock, the backlog
 * is what waits for the network (packetq_backlog()).
 */
size_t	pipeline_output_backlog(struct ssh *, const struct sshbuf *output);

/*
 * For packet.c, receiving (receiving-hook.c)
 */

/* Results of pipeline_open_packet() besides 0 and SSH_ERR_* (negative) */
#define PIPELINE_PASS	1	/* upstream's code has to open the packet */
#define PIPELINE_OPENED	2	/* "packet" holds a verified packet */

/*
 * Opens the next packet of the stream, from "input" or an earlier input buffer,
 * by a thread or at once, and removes it there. Returns
 *
 * - PIPELINE_OPENED with the plaintext, from its length field on, in "*packet",
 *   whose old buffer the pipeline keeps, and the length field in "*packlen";
 * - PIPELINE_PASS for upstream's code, with nothing changed, also if that is in
 *   the middle of a packet ("*packlen" is not 0);
 * - 0 if the packet is incomplete, and at most once between two reads if the
 *   threads need work and more can be read;
 * - or the error that upstream's code would have returned, after the same log
 *   line and disconnect message.
 */
int	pipeline_open_packet(struct ssh *, const struct newkeys *,
    struct stream_position, struct sshbuf *input,
    struct sshbuf **packet, u_int *packlen);

/*
 * Reads up to "most" bytes from "fd", as sshbuf_read() does, which sets "*len",
 * and queues the packets that are complete. If packets in "*input" are still
 * queued, they keep that buffer, and "*input" becomes another one, with the
 * bytes behind them; the pipeline frees or reuses the old one. If PACKETQ_READS
 * buffers are kept, it waits until all queued packets are open. Returns 0 or
 * SSH_ERR_*, those of sshbuf_read() with errno.
 */
int	pipeline_read_input(struct ssh *, int fd, struct sshbuf **input,
    size_t most, struct stream_position, size_t *len);

/*
 * For benchmarks: returns the time that sealing and opening took in all
 * threads, microseconds, of the packets that have left the pipeline.
 */
u_int64_t pipeline_crypto_us(void);

#endif /* HAYATE_PIPELINE_HOOK_H */
