/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

#include "packetq.h"

/*
 * Jobs per thread while the owner makes one read, which takes about as long as
 * opening this number of packets of 32 KiB
 */
#define SUPPLY		8

/*
 * Bytes in progress beyond which another read only adds memory: the threads
 * have enough until its packets could be used.
 */
#define READ_ON_BYTES	(PACKETQ_BYTES / 2)

void
packetq_add(struct packetq *q, struct packet_job *job)
{
	job->next = NULL;
	job->state = PACKET_WAITING;
	job->result = 0;
	if (q->first == NULL)
		q->first = job;
	else
		q->last->next = job;
	q->last = job;
	q->count++;
	q->bytes += job->wire_len;
}

struct packet_job *
packetq_remove_first(struct packetq *q)
{
	struct packet_job *job = q->first;

	if (job == NULL)
		return NULL;
	if ((q->first = job->next) == NULL)
		q->last = NULL;
	q->count--;
	q->bytes -= job->wire_len;
	q->written -= q->written < job->wire_len ? q->written : job->wire_len;
	return job;
}

int
packetq_is_long(const struct packet_job *job)
{
	return job->len >= PACKETQ_SHORT;
}

void
packetq_submit(struct packet_job *job)
{
	job->state = PACKET_SUBMITTED;
	pool_submit(&job->pool);
}

int
packetq_finish(struct packet_job *job)
{
	if (job->state == PACKET_WAITING)
		job->pool.run(&job->pool, 0);
	else if (job->state == PACKET_SUBMITTED)
		pool_wait(&job->pool);
	job->state = PACKET_FINISHED;
	return job->result;
}

int
packetq_is_finished(struct packet_job *job)
{
	return job->state == PACKET_FINISHED ||
	    (job->state == PACKET_SUBMITTED && pool_is_done(&job->pool));
}

/*
 * Sending
 */

int
packetq_collect(const struct packetq *q, struct iovec *iov, int max)
{
	struct packet_job *job;
	size_t sent = q->written;
	int n = 0;

	for (job = q->first; job != NULL && n < max; job = job->next) {
		if (!packetq_is_finished(job) || job->result != 0)
			break;
		iov[n].iov_base = job->out + sent;
		iov[n++].iov_len = job->wire_len - sent;
		sent = 0;
	}
	return n;
}

void
packetq_add_written(struct packetq *q, size_t len)
{
	q->written += len;
}

int
packetq_first_is_written(const struct packetq *q)
{
	return q->first != NULL && q->written >= q->first->wire_len;
}

size_t
packetq_unwritten(const struct packetq *q)
{
	return q->bytes - q->written;
}

size_t
packetq_backlog(const struct packetq *q, size_t before, unsigned int cores)
{
	size_t len = before + packetq_unwritten(q), in_flight = 0;
	struct packet_job *job;
	unsigned int n = 0;

	if (len >= PACKETQ_BYTES)
		return len;
	for (job = q->first; job != NULL; job = job->next) {
		if (packetq_is_finished(job))
			continue;
		in_flight += job->wire_len;
		n++;
	}
	return len - in_flight + (n > cores ? in_flight / cores : 0);
}

/*
 * Receiving
 */

size_t
packetq_bytes_in_read(const struct packetq *q, const void *source)
{
	const struct packet_job *job;
	size_t bytes = 0;

	for (job = q->first; job != NULL; job = job->next) {
		if (job->source == source)
			bytes += job->wire_len;
	}
	return bytes;
}

int
packetq_wants_more(const struct packetq *q, unsigned int threads)
{
	return threads > 0 && q->count < PACKETQ_AHEAD &&
	    q->bytes < PACKETQ_BYTES;
}

int
packetq_may_defer_first(const struct packetq *q, unsigned int threads,
    unsigned int queued, unsigned int reads)
{
	return q->first != NULL && q->first->state == PACKET_SUBMITTED &&
	    !packetq_is_finished(q->first) && queued < SUPPLY * threads &&
	    reads < PACKETQ_READS && q->bytes < READ_ON_BYTES;
}
