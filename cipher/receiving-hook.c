/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * The receiving half of pipeline-hook.h: packets are opened where they lie in
 * what was read, and handed out in the order of the stream.
 */

#include "includes.h"

#include <sys/types.h>
#include <sys/ioctl.h>

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cipher.h"
#include "kex.h"
#include "log.h"
#include "misc.h"
#include "packet.h"
#include "sshbuf.h"
#include "ssherr.h"

#include "direction-hook.h"
#include "pipeline-hook.h"

#define PACKET_MAX	(256 * 1024)	/* packet.c's PACKET_MAX_SIZE */

static struct direction *const in = &pipeline_directions[MODE_IN];

static struct {
	struct sshbuf	*held[PACKETQ_READS];	/* with queued packets */
	unsigned int	 nheld;
	struct sshbuf	*spare;		/* empty; or NULL */
	int		 fd;	/* last read; -1: a packet was deferred */
} reads = { .fd = -1 };

/*
 * Reads
 */

void
receiving_release_reads(void)
{
	struct packet_job *first = in->queue.first;
	struct sshbuf *b;

	while (reads.nheld > 0 &&
	    (first == NULL || first->source != reads.held[0])) {
		b = reads.held[0];
		memmove(reads.held, reads.held + 1,
		    --reads.nheld * sizeof(*reads.held));
		if (reads.spare != NULL ||
		    sshbuf_consume(b, sshbuf_len(b)) != 0)
			sshbuf_free(b);
		else
			reads.spare = b;
	}
}

void
receiving_close(void)
{
	receiving_release_reads();
	sshbuf_free(reads.spare);
	reads.spare = NULL;
}

/*
 * The packets of the queue that lie in "input" must not move. Keeps that buffer
 * and sets "input" to another one, with the bytes behind them. If no more reads
 * can be held, waits for the packets, which may move then. Returns 0 or
 * SSH_ERR_*.
 */
static int
hold_read(struct sshbuf **input)
{
	size_t queued = packetq_bytes_in_read(&in->queue, *input);
	struct sshbuf *next;
	struct packet_job *job;
	int r;

	if (reads.nheld == PACKETQ_READS) {
		for (job = in->queue.first; job != NULL; job = job->next)
			packetq_finish(job);
		return 0;
	}
	if (queued == 0)
		return 0;
	if ((next = reads.spare) == NULL && (next = sshbuf_new()) == NULL)
		return SSH_ERR_ALLOC_FAIL;
	reads.spare = NULL;
	if ((r = sshbuf_put(next, sshbuf_ptr(*input) + queued,
	    sshbuf_len(*input) - queued)) != 0) {
		sshbuf_free(next);
		return r;
	}
	reads.held[reads.nheld++] = *input;
	*input = next;
	return 0;
}

/*
 * Packets in what was read
 */

/* The length field of the next packet, not verified; 0 if it is not there. */
static u_int
read_length(const u_char *data, size_t have,
    const struct stream_position *position)
{
	return sealer_read_length(&in->sealer[0], &in->keys, position, data,
	    have);
}

static int
is_plausible(u_int packlen)
{
	return packlen >= 1 + 4 && packlen <= PACKET_MAX &&
	    (packlen + 4 - in->keys.aadlen) % in->keys.block_size == 0;
}

/*
 * Queues the packets behind those that are queued, as far as that is worth it,
 * and at least one if there is one. While keys are exchanged packets are opened
 * one by one, because NEWKEYS changes the keys. Returns 0 or SSH_ERR_*.
 */
static int
queue_packets(struct ssh *ssh, struct sshbuf *input,
    struct stream_position position)
{
	size_t queued = packetq_bytes_in_read(&in->queue, input);
	const u_char *data = sshbuf_ptr(input) + queued;
	size_t left = sshbuf_len(input) - queued;
	struct packet_job *p;
	struct crypt_job *j;
	u_int packlen;

	for (p = in->queue.first; p != NULL; p = p->next)
		stream_position_advance(&position, p->len,
		    in->keys.block_size);
	while (in->queue.first == NULL || (ssh->kex->done &&
	    packetq_wants_more(&in->queue, pipeline_threads()))) {
		packlen = read_length(data, left, &position);
		if (!is_plausible(packlen) || left < 4 + packlen +
		    in->keys.authlen + in->keys.maclen)
			break;
		if ((j = direction_queue_packet(in, position,
		    4 + packlen)) == NULL)
			return SSH_ERR_ALLOC_FAIL;
		j->packet.source = input;
		j->in = data;
		direction_submit(j);
		data += j->packet.wire_len;
		left -= j->packet.wire_len;
		stream_position_advance(&position, j->packet.len,
		    in->keys.block_size);
	}
	return 0;
}

int
pipeline_read_input(struct ssh *ssh, int fd, struct sshbuf **input, size_t most,
    struct stream_position position, size_t *len)
{
	int ours = in->ssh == ssh && in->state == KEYS_PIPELINE, r;

	if (ours && (r = hold_read(input)) != 0)
		return r;
	if ((r = sshbuf_read(fd, *input, most, len)) != 0)
		return r;
	reads.fd = fd;
	return ours && ssh->kex->done ?
	    queue_packets(ssh, *input, position) : 0;
}

/*
 * The next packet
 */

/*
 * There is no whole packet in "input". Returns 0 if there may be one when more
 * has been read, or says what is wrong with its length. Where the length is not
 * encrypted, upstream's code does that. Else the connection ends as
 * ssh_packet_start_discard() ends it for a cipher that is not CBC.
 */
static int
check_length(struct ssh *ssh, struct sshbuf *input,
    const struct stream_position *position)
{
	size_t left = sshbuf_len(input);
	u_int packlen = read_length(sshbuf_ptr(input), left, position);
	u_int block_size = in->keys.block_size;
	u_int need = packlen + 4 - block_size;
	int r;

	if (is_plausible(packlen) ||
	    (packlen == 0 && left < MAXIMUM(block_size, 4)))
		return 0;
	if (in->keys.aadlen != 0)
		return PIPELINE_PASS;
	if (packlen < 1 + 4 || packlen > PACKET_MAX)
		logit("Bad packet length %u.", packlen);
	else
		logit("padding error: need %d block %d mod %d", need,
		    block_size, need % block_size);
	if ((r = sshpkt_disconnect(ssh, "Packet corrupt")) != 0)
		return r;
	return SSH_ERR_MAC_INVALID;
}

/* A packet did not open: says so as upstream's code does. Returns SSH_ERR_*. */
static int
report_failure(struct ssh *ssh, int failure)
{
	int r;

	if (failure != SSH_ERR_MAC_INVALID || in->keys.authlen != 0)
		return failure;
	logit("Corrupted MAC on input.");
	if (!in->keys.etm &&
	    (r = sshpkt_disconnect(ssh, "Packet corrupt")) != 0)
		return r;
	return failure;
}

/*
 * Returns 1 if the first packet should be left to the threads for now, because
 * they will soon need more work and there is more to read. This happens at most
 * once between two reads, and the loop calls again at once.
 */
static int
defer_to_threads(struct ssh *ssh, const struct packet_job *first)
{
	int there;

	if (reads.fd == -1 || !ssh->kex->done ||
	    !packetq_may_defer_first(&in->queue, pipeline_threads(),
	    pool_count_queued(), reads.nheld) ||
	    ioctl(reads.fd, FIONREAD, &there) == -1 ||
	    there < (int)first->wire_len)
		return 0;
	reads.fd = -1;
	return 1;
}

/* The first packet is open: swaps it with "packet" and removes it. */
static int
return_first(struct sshbuf *input, struct sshbuf **packet, u_int *packlen)
{
	struct crypt_job *j = direction_first(in);
	struct sshbuf *used = *packet;
	int r = 0;

	*packlen = (u_int)j->packet.len - 4;
	*packet = j->plain;
	j->plain = used;
	if (j->packet.source == input)
		r = sshbuf_consume(input, j->packet.wire_len);
	direction_remove_first(in);
	receiving_release_reads();
	return r == 0 ? PIPELINE_OPENED : r;
}

int
pipeline_open_packet(struct ssh *ssh, const struct newkeys *k,
    struct stream_position position, struct sshbuf *input,
    struct sshbuf **packet, u_int *packlen)
{
	struct packet_job *first;
	int r;

	if (*packlen != 0 || !pipeline_takes_packet(ssh, in, k, &position))
		return PIPELINE_PASS;
	if ((r = queue_packets(ssh, input, position)) != 0)
		return r;
	if ((first = in->queue.first) == NULL)
		return check_length(ssh, input, &position);
	if (defer_to_threads(ssh, first))
		return 0;
	if ((r = packetq_finish(first)) != 0)
		return report_failure(ssh, r);
	return return_first(input, packet, packlen);
}
