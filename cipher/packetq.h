/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * packetq: the packets of one direction that are being sealed or opened, in the
 * order of the stream, and what is decided about them.
 *
 * Each packet is a job. A thread of the pool does it (pool.h), or the owner of
 * the queue does it when it needs the result:
 *
 *	PACKET_WAITING ----- packetq_finish() runs it -----> PACKET_FINISHED
 *	   |                                                     ^
 *	   +-- packetq_submit() --> PACKET_SUBMITTED ------------+
 *	                                      packetq_finish() waits for it
 *
 * Packets are queued, used and removed in the order of the stream, whatever the
 * order in which their jobs end. The queue owns no memory and knows no cipher:
 * the job's function does the work.
 *
 * For the thread that owns the pool. No upstream header.
 */

#ifndef HAYATE_PACKETQ_H
#define HAYATE_PACKETQ_H

#include <sys/uio.h>

#include <stddef.h>
#include <stdint.h>

#include "pool.h"

/*
 * Bytes on the wire that a queue may hold before it takes no more: as much as
 * some threads do in a millisecond or two. One packet more may be added.
 */
#define PACKETQ_BYTES	(1024 * 1024)

/*
 * Packets that are opened before they are asked for: enough for POOL_MAX
 * threads to have two each.
 */
#define PACKETQ_AHEAD	32

/* A shorter packet is done sooner than another core learns of it. Bytes */
#define PACKETQ_SHORT	2048

/* Reads whose packets may be under way while the next one is made */
#define PACKETQ_READS	4

enum packet_state {
	PACKET_WAITING,		/* no thread will do it */
	PACKET_SUBMITTED,	/* the pool has it, or had it */
	PACKET_FINISHED		/* "result" and "out" are valid */
};

struct packet_job {
	struct pool_job	 pool;		/* first: all that the pool knows */
	struct packet_job *next;
	enum packet_state state;
	int		 result;	/* 0 or an error; set by the job */
	unsigned int	 us;		/* that it took; set by the job */
	size_t		 len;		/* length field to padding */
	size_t		 wire_len;	/* with what authenticates it */
	const void	*source;	/* the read that it lies in; or NULL */
	uint8_t		*out;		/* the sealed bytes, or the plaintext */
};

/* Zeroed before its first use */
struct packetq {
	struct packet_job *first, *last;
	unsigned int	 count;
	size_t		 bytes;		/* on the wire, of all of these */
	size_t		 written;	/* bytes of the first that were sent */
};

/* The caller keeps the packet's memory until it has removed it. */
void	packetq_add(struct packetq *, struct packet_job *);

/*
 * Removes the first packet, and what was written of it from the count; NULL if
 * there is none.
 */
struct packet_job *packetq_remove_first(struct packetq *);

/* Whether a packet is worth the attention of another core. */
int	packetq_is_long(const struct packet_job *);

/* Lets a thread of the pool do the packet. */
void	packetq_submit(struct packet_job *);

/* Runs the job or waits for it. Returns its result. */
int	packetq_finish(struct packet_job *);

int	packetq_is_finished(struct packet_job *);

/*
 * Sending
 */

/*
 * Fills "iov" with the sealed bytes that can be sent now, oldest first, at most
 * "max" packets. A packet that failed stops the stream. Returns how many.
 */
int	packetq_collect(const struct packetq *, struct iovec *iov, int max);

/* So many bytes of the stream have been sent. */
void	packetq_add_written(struct packetq *, size_t);

/* Whether the first packet has been sent as a whole, and may be removed. */
int	packetq_first_is_written(const struct packetq *);

/* Bytes that are still to be sent. */
size_t	packetq_unwritten(const struct packetq *);

/*
 * The bytes that wait for the path when "before" bytes wait before the queue.
 * Packets that are still being sealed do not count while each of "cores" has
 * one: the sender has to go on for them to have work.
 */
size_t	packetq_backlog(const struct packetq *, size_t before,
    unsigned int cores);

/*
 * Receiving
 */

/* Bytes of the queue's packets that lie in this read. */
size_t	packetq_bytes_in_read(const struct packetq *, const void *source);

/* Whether one more packet should be queued before it is asked for. */
int	packetq_wants_more(const struct packetq *, unsigned int threads);

/*
 * Whether the first packet may be left to the threads while more is read: they
 * will soon have nothing to begin, of which there are "unbegun" jobs, and there
 * is room for another read beside the "reads" that are held.
 */
int	packetq_may_defer_first(const struct packetq *, unsigned int threads,
    unsigned int queued, unsigned int reads);

#endif /* HAYATE_PACKETQ_H */
