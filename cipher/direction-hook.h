/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * direction-hook: one direction (sending or receiving) of the pipeline: its
 * keys, the cipher contexts of its threads, and the packets in progress.
 *
 * A direction belongs to the connection that used it first, until that closes.
 * The states of its keys:
 *
 *	KEYS_UPSTREAM -- direction_use_keys() -+-> KEYS_PIPELINE
 *	                                       +-> KEYS_UNSUPPORTED, if it fails
 *
 * direction_forget_keys() leads back to KEYS_UPSTREAM from both.
 *
 * For the files of pipeline-hook.h only, and for the thread that owns the pool.
 * Only the jobs themselves run in other threads.
 */

#ifndef HAYATE_DIRECTION_HOOK_H
#define HAYATE_DIRECTION_HOOK_H

#include <sys/types.h>

#include "packetq.h"
#include "pool.h"
#include "sealer-hook.h"
#include "stream-position.h"

struct ssh;
struct sshbuf;
struct newkeys;

enum keys_state {
	KEYS_UPSTREAM,		/* upstream's code seals and opens packets */
	KEYS_UNSUPPORTED,	/* the same, because we cannot use these keys */
	KEYS_PIPELINE		/* every packet comes through the pipeline */
};

/*
 * A packet, with the input of the thread that seals or opens it. Between
 * direction_submit() and packetq_finish() only the pool may touch it. The
 * struct owns both buffers; "wire" is empty in incoming packets.
 */
struct crypt_job {
	struct packet_job packet;	/* must be first: the queue's part */
	struct direction *direction;
	struct stream_position position;
	struct sshbuf	*plain;		/* plaintext: input or result */
	struct sshbuf	*wire;		/* outgoing: the sealed packet */
	const u_char	*in;		/* incoming: sealed, as it was read */
};

struct direction {
	const int	 mode;		/* MODE_IN, MODE_OUT */
	struct ssh	*ssh;		/* its connection; NULL: none yet */
	enum keys_state	 state;
	struct sealer_keys keys;	/* in KEYS_PIPELINE; else zero */
	struct sealer	 sealer[POOL_MAX + 1];	/* by worker (pool.h) */
	unsigned int	 nsealers;	/* initialised; [0] is the owner's */
	struct packetq	 queue;		/* of struct crypt_job, oldest first */
	struct packet_job *spare;	/* unused jobs, for new packets */
	unsigned int	 nspare;	/* number of spare jobs */
	u_int64_t	 seen_bytes;	/* position.bytes of the last packet */
	u_int64_t	 crypto_us;	/* sum of the "us" of removed jobs */
};

extern struct direction pipeline_directions[];	/* by MODE_IN, MODE_OUT */

/*
 * Makes the cipher contexts for "keys", which must be set, that the owner and
 * this number of threads lack, at most POOL_MAX; an error is logged for
 * debugging. Returns the number of threads that have a context: more than
 * "threads" if there were more, fewer if some could not be made, -1 if not even
 * the owner has one.
 */
int	direction_make_sealers(struct direction *, unsigned int threads);

/*
 * Goes over to KEYS_PIPELINE with these keys, which upstream owns and must keep
 * until direction_forget_keys(). Returns 1; or 0 if the cipher is unsupported
 * (CBC) or there is no memory for the contexts of all threads, with a debug
 * line: upstream's code has to go on then, until the next keys. In
 * KEYS_UNSUPPORTED it only returns 0.
 */
int	direction_use_keys(struct direction *, const struct newkeys *,
    unsigned int threads);

/*
 * Goes back to KEYS_UPSTREAM, frees all contexts and zeroes "keys". The queue
 * must be empty.
 */
void	direction_forget_keys(struct direction *);

/*
 * Queues a packet of "len" bytes, from its length field to its padding, as
 * PACKET_WAITING. Returns its job, which the direction owns, or NULL if out of
 * memory, with nothing queued. The caller then swaps the plaintext of an
 * outgoing packet with "plain", or sets "in" and "packet.source" of an incoming
 * one, and calls direction_submit(). The bytes at "in" must stay in place until
 * the job is finished.
 */
struct crypt_job *direction_queue_packet(struct direction *,
    struct stream_position, size_t len);

/*
 * Restarts threads that have ended for lack of work, and gives them the job. If
 * no threads are wanted, or the packet is shorter than PACKETQ_SHORT, nothing
 * happens, and the owner does it later, in packetq_finish(). The plaintext is
 * wiped when it has been sealed.
 */
void	direction_submit(struct crypt_job *);

/* Returns the oldest packet of the queue, or NULL. */
struct crypt_job *direction_first(struct direction *);

/*
 * Removes the oldest packet, whose job must be finished, adds its time to
 * "crypto_us", and keeps the job with its buffers for a later packet. Once the
 * queue is empty, only five such jobs are kept. The queue must not be empty.
 */
void	direction_remove_first(struct direction *);

/*
 * Finishes and discards all packets, whatever their results, forgets the keys,
 * frees all memory, and makes the direction free for another connection.
 * Returns when no thread has a job of it.
 */
void	direction_close(struct direction *);

/*
 * In pipeline-hook.c
 */

/*
 * Returns 1 if this packet goes through the pipeline, 0 if upstream's code has
 * to process it: without keys or with unsupported ones, before
 * pipeline_allow_threads(), with "CipherThreads off", while autoscale.h is
 * AUTOSCALE_OFF, and on another connection than the direction's. Call it once
 * for each packet, because it counts bytes. May first change the number of
 * threads, and give the direction this connection and these keys. Once it has
 * returned 1, it does so until the keys change.
 */
int	pipeline_takes_packet(struct ssh *, struct direction *,
    const struct newkeys *, const struct stream_position *);

/*
 * Restarts threads that have ended for lack of work. Returns how many there
 * are; if the system starts fewer, that becomes the wanted number.
 */
unsigned int pipeline_start_threads(void);

/*
 * Finishes and removes all queued packets, waiting for threads. If "r" is 0,
 * the sealed bytes that are not written yet are appended to "output", up to the
 * first packet that fails. If "r" is an earlier error, all are discarded; the
 * caller must pass one if incoming packets are queued. Returns "r" if it is not
 * 0; else 0 or SSH_ERR_* of the first failure.
 */
int	pipeline_drain(struct direction *, struct sshbuf *output, int r);

/*
 * Returns the wanted number of threads, 0 for none; some may have ended for
 * lack of work.
 */
unsigned int pipeline_threads(void);

/*
 * In receiving-hook.c
 */

/*
 * Releases the input buffers that hold no queued packet any more, but keeps one
 * of them for the next read. The buffer of the last read is packet.c's and
 * stays.
 */
void	receiving_release_reads(void);

/* Frees all input buffers but packet.c's own. The queue must be empty. */
void	receiving_close(void);

#endif /* HAYATE_DIRECTION_HOOK_H */
