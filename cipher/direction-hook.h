/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * direction-hook: one direction of the pipeline: its keys, the contexts of its
 * threads, and the packets that are being sealed or opened.
 *
 * A direction belongs to the connection that used it first, until that closes:
 *
 *	KEYS_UPSTREAM -- direction_use_keys() --> KEYS_PIPELINE
 *	   |   ^                                     |
 *	   |   +------ direction_forget_keys() ------+
 *	   v                                         |
 *	KEYS_UNSUPPORTED (CBC, or no memory) --------------+
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
	KEYS_UPSTREAM,		/* upstream's code seals and opens */
	KEYS_UNSUPPORTED,	/* the same, because we cannot use these keys */
	KEYS_PIPELINE		/* every packet comes through the pipeline */
};

/* A packet, with what a thread needs to seal or open it */
struct crypt_job {
	struct packet_job packet;	/* first: all that the queue knows */
	struct direction *direction;
	struct stream_position position;
	struct sshbuf	*plain, *wire;	/* incoming packets do not use "wire" */
	const u_char	*in;		/* incoming: the packet on the wire */
};

struct direction {
	const int	 mode;		/* MODE_IN, MODE_OUT */
	struct ssh	*ssh;		/* the owner; NULL: none yet */
	enum keys_state	 state;
	struct sealer_keys keys;
	struct sealer	 sealer[POOL_MAX + 1];	/* one for each worker */
	unsigned int	 nsealers;
	struct packetq	 queue;		/* of struct crypt_job */
	struct packet_job *spare;	/* kept for the next packets */
	unsigned int	 nspare;
	u_int64_t	 seen_bytes;	/* of the stream, when last asked */
	u_int64_t	 crypto_us;	/* that removed packets took, in all */
};

extern struct direction pipeline_directions[];	/* by mode */

/*
 * Makes contexts for the owner and for so many threads. Returns for how many
 * threads there are contexts, which is fewer if some could not be made; -1 if
 * not even the owner has one.
 */
int	direction_make_sealers(struct direction *, unsigned int threads);

/*
 * Makes the pipeline use these keys. Returns 0 if they are unfit, or if there
 * is no memory for contexts of all threads: upstream's code goes on then.
 */
int	direction_use_keys(struct direction *, const struct newkeys *,
    unsigned int threads);

/* Wipes the keys. No job may be left. */
void	direction_forget_keys(struct direction *);

/*
 * Queues a packet of "len" bytes, length field to padding. The caller sets what
 * it is made from, and submits it. NULL if out of memory.
 */
struct crypt_job *direction_queue_packet(struct direction *,
    struct stream_position, size_t len);

/* Lets a thread do the job if it is worth it and there are threads. */
void	direction_submit(struct crypt_job *);

/* The first packet, or NULL. */
struct crypt_job *direction_first(struct direction *);

/* The first packet is no longer needed; its buffers are kept for later. */
void	direction_remove_first(struct direction *);

/* Ends and removes all packets, and frees what was kept for more of them. */
void	direction_close(struct direction *);

/*
 * In pipeline-hook.c
 */

/* Whether this packet goes through the pipeline, or through upstream's code. */
int	pipeline_takes_packet(struct ssh *, struct direction *,
    const struct newkeys *, const struct stream_position *);

/* Threads, of which those that ended for lack of work are started again. */
unsigned int pipeline_start_threads(void);

/*
 * Seals what is queued into "output", behind what it has. Returns "r" if that
 * is not 0, or SSH_ERR_*; the queue is empty in any case.
 */
int	pipeline_drain(struct direction *, struct sshbuf *output, int r);

/* Threads that there should be. */
unsigned int pipeline_threads(void);

/*
 * In receiving-hook.c
 */

/* Frees the reads that no queued packet lies in. */
void	receiving_release_reads(void);

/* The connection ends; its packets are gone. */
void	receiving_close(void);

#endif /* HAYATE_DIRECTION_HOOK_H */
