/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * packetq: a queue of the packets of one direction that are being sealed or
 * opened, in the order of the stream.
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
 * For the thread that owns the pool; only the job's function runs in others. No
 * upstream header.
 */

#ifndef HAYATE_PACKETQ_H
#define HAYATE_PACKETQ_H

#include <sys/uio.h>

#include <stddef.h>
#include <stdint.h>

#include "pool.h"

/*
 * Bytes on the wire at which a queue is full: as much as some threads process
 * in a millisecond or two. No packet is opened ahead then, and all bytes count
 * as backlog; packetq_add() still accepts packets.
 */
#define PACKETQ_BYTES	(1024 * 1024)

/*
 * Packets that are opened before they are asked for: enough for POOL_MAX
 * threads to have two each.
 */
#define PACKETQ_AHEAD	32

/* Bytes. The owner does a shorter packet faster than it can wake a thread. */
#define PACKETQ_SHORT	2048

/*
 * The largest number of input buffers that hold queued packets. The buffer into
 * which the next read(2) goes is not counted.
 */
#define PACKETQ_READS	4

enum packet_state {
	PACKET_WAITING,		/* the owner has to do it */
	PACKET_SUBMITTED,	/* a thread does it, or has done it */
	PACKET_FINISHED		/* "result" and "out" are valid */
};

/*
 * One packet. The caller zeroes it before its first use (pool.h), and sets
 * "pool.run", "len", "wire_len" and "source", which is NULL for an outgoing
 * packet. The job's function sets "result", "us" and "out"; these are valid
 * when packetq_is_finished() returns 1.
 */
struct packet_job {
	struct pool_job	 pool;		/* must be first: the pool's part */
	struct packet_job *next;	/* packetq.c's while it is queued */
	enum packet_state state;	/* as the owner knows it */
	int		 result;	/* 0 or an error; set by the job */
	unsigned int	 us;		/* duration of the job, microseconds */
	size_t		 len;		/* bytes from length field to padding */
	size_t		 wire_len;	/* bytes with the MAC or tag */
	const void	*source;	/* the input buffer that holds it */
	uint8_t		*out;		/* sealed or opened; job's memory */
};

/* Zeroed before its first use */
struct packetq {
	struct packet_job *first, *last;	/* NULL: empty */
	unsigned int	 count;		/* length of the queue */
	size_t		 bytes;		/* sum of their wire_len */
	size_t		 written;	/* bytes sent of packets in the queue */
};

/*
 * Appends a packet as PACKET_WAITING, with "result" 0. "pool.run", "len" and
 * "wire_len" must have been set, and not change while the packet is queued. The
 * packet is the caller's and must stay in place until it is removed. There is
 * no limit.
 */
void	packetq_add(struct packetq *, struct packet_job *);

/*
 * Removes and returns the first packet; NULL if there is none. Subtracts the
 * packet's bytes from "written", as far as they were sent. The packet's job
 * must be finished, or never submitted; this function does not run it.
 */
struct packet_job *packetq_remove_first(struct packetq *);

/*
 * Returns 1 if "len" is PACKETQ_SHORT or more, enough to be given to a thread.
 */
int	packetq_is_long(const struct packet_job *);

/*
 * Submits a packet, which must be PACKET_WAITING, to the pool, which may have
 * no threads: packetq_finish() runs it then.
 */
void	packetq_submit(struct packet_job *);

/*
 * Runs a waiting job as worker 0, or waits as pool_wait() does, which may run
 * other jobs. Sets PACKET_FINISHED and returns "result"; a second call only
 * returns it.
 */
int	packetq_finish(struct packet_job *);

/*
 * Returns 1 if the result is there, 0 also for a waiting packet. Does not
 * block, nor change "state".
 */
int	packetq_is_finished(struct packet_job *);

/*
 * Sending
 */

/*
 * Fills "iov" with the sealed bytes that can be sent now, oldest first and
 * without those written before, up to "max" packets; stops at a packet that is
 * unfinished or has failed. Changes nothing else. Returns the number of
 * entries, 0 if there are none. Packets that were sent completely must have
 * been removed.
 */
int	packetq_collect(const struct packetq *, struct iovec *iov, int max);

/*
 * Call it when these bytes were sent, which may be a part of
 * packetq_collect()'s. Removes no packet.
 */
void	packetq_add_written(struct packetq *, size_t);

/* Returns 1 if the first packet was sent completely: remove it. */
int	packetq_first_is_written(const struct packetq *);

/* Returns the bytes on the wire that are not sent yet, sealed or not. */
size_t	packetq_unwritten(const struct packetq *);

/*
 * Returns how many bytes wait for the network: "before", which are in front of
 * the queue, and those of the queue. If PACKETQ_BYTES or more wait, all bytes
 * count. If fewer wait, unsealed packets count less, because the sender has to
 * go on, so that threads have work: up to "cores" unsealed packets count as 0
 * bytes; if there are more of them, the sum of their bytes is divided by
 * "cores". That must not be 0.
 */
size_t	packetq_backlog(const struct packetq *, size_t before,
    unsigned int cores);

/*
 * Receiving
 */

/*
 * Returns the bytes on the wire of queued packets whose "source" is this input
 * buffer; 0 if there are none.
 */
size_t	packetq_bytes_in_read(const struct packetq *, const void *source);

/*
 * Returns 1 if one more packet should be opened before it is asked for: there
 * are threads, and neither PACKETQ_AHEAD nor PACKETQ_BYTES is reached.
 */
int	packetq_wants_more(const struct packetq *, unsigned int threads);

/*
 * Returns 1 if the owner should read more input instead of waiting for the
 * first packet. That is so if the first packet was submitted and is not done,
 * the pool has fewer than 8 queued jobs for each thread (pool_count_queued()),
 * so that the threads will soon run out of work, less than half of
 * PACKETQ_BYTES are in the queue, and fewer than PACKETQ_READS input buffers
 * ("reads") hold queued packets. Else returns 0.
 */
int	packetq_may_defer_first(const struct packetq *, unsigned int threads,
    unsigned int queued, unsigned int reads);

#endif /* HAYATE_PACKETQ_H */
