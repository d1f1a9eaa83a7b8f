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

/* A packet, with the input of the thread that seals or opens it */
struct crypt_job {
	struct packet_job packet;	/* must be first: the queue's part */
	struct direction *direction;
	struct stream_position position;
	struct sshbuf	*plain;		/* plaintext, the input or result */
	struct sshbuf	*wire;		/* outgoing: the sealed packet */
	const u_char	*in;		/* incoming: sealed, as it was read */
};

struct direction {
	const int	 mode;		/* MODE_IN, MODE_OUT */
	struct ssh	*ssh;		/* its connection; NULL: none yet */
	enum keys_state	 state;
	struct sealer_keys keys;	/* KEYS_PIPELINE: upstream owns them */
	struct sealer	 sealer[POOL_MAX + 1];	/* by worker (pool.h) */
	unsigned int	 nsealers;	/* initialised entries of "sealer" */
	struct packetq	 queue;		/* of struct crypt_job, oldest first */
	struct packet_job *spare;	/* unused jobs, for new packets */
	unsigned int	 nspare;	/* its length */
	u_int64_t	 seen_bytes;	/* bytes before the last packet */
	u_int64_t	 crypto_us;	/* total duration of removed jobs */
};

extern struct direction pipeline_directions[];	/* by MODE_IN, MODE_OUT */

/*
 * Makes the cipher contexts that the owner and this number of threads lack.
 * Returns for how many threads besides the owner there are contexts: more if
 * there were more, fewer if some could not be made, -1 if not even the owner
 * has one.
 */
int	direction_make_sealers(struct direction *, unsigned int threads);

/*
 * Goes over to KEYS_PIPELINE with these keys, which upstream owns and must keep
 * until direction_forget_keys(). Returns 1; or 0 if the cipher is unsupported
 * (CBC) or there is no memory for the contexts of all threads: upstream's code
 * has to go on then, until the next keys.
 */
int	direction_use_keys(struct direction *, const struct newkeys *,
    unsigned int threads);

/* Goes back to KEYS_UPSTREAM, frees all contexts. The queue must be empty. */
void	direction_forget_keys(struct direction *);

/*
 * Queues a packet of "len" bytes, from its length field to its padding. The
 * caller then sets its input ("plain", or "in" and "packet.source") and calls
 * direction_submit(). Returns NULL if out of memory.
 */
struct crypt_job *direction_queue_packet(struct direction *,
    struct stream_position, size_t len);

/*
 * Gives the job to the threads, and restarts those that have ended, unless the
 * packet is too short for that or no threads are wanted. In that case the owner
 * does it later, in packetq_finish().
 */
void	direction_submit(struct crypt_job *);

/* Returns the oldest packet of the queue, or NULL. */
struct crypt_job *direction_first(struct direction *);

/*
 * Removes the oldest packet, whose job must be finished, and keeps its buffers
 * for later packets.
 */
void	direction_remove_first(struct direction *);

/* Finishes and discards all packets, forgets the keys, frees all memory. */
void	direction_close(struct direction *);

/*
 * In pipeline-hook.c
 */

/*
 * Returns 1 if this packet goes through the pipeline, 0: upstream's code. May
 * first change the number of threads, and give the direction this connection
 * and these keys.
 */
int	pipeline_takes_packet(struct ssh *, struct direction *,
    const struct newkeys *, const struct stream_position *);

/* Restarts threads that have ended for lack of work; returns how many run. */
unsigned int pipeline_start_threads(void);

/*
 * Finishes and removes all queued packets. Outgoing ones are appended, sealed,
 * to "output", up to one that fails. If "r", an earlier error, is not 0, all
 * are discarded, as incoming packets must be. Returns "r", or 0 or SSH_ERR_*.
 */
int	pipeline_drain(struct direction *, struct sshbuf *output, int r);

/* Returns the wanted number of threads. */
unsigned int pipeline_threads(void);

/*
 * In receiving-hook.c
 */

/* Releases the input buffers in which no queued packet lies any more. */
void	receiving_release_reads(void);

/* Frees all input buffers. The queue must be empty. */
void	receiving_close(void);

#endif /* HAYATE_DIRECTION_HOOK_H */
