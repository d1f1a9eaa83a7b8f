/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * The sending half of pipeline-hook.h: packets are sealed in any order, and
 * written in the order of the stream.
 */

#include "includes.h"

#include <sys/types.h>
#include <sys/uio.h>

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include "cipher.h"
#include "kex.h"
#include "log.h"
#include "misc.h"
#include "packet.h"
#include "sshbuf.h"
#include "ssherr.h"

#include "direction-hook.h"
#include "gather-hook.h"
#include "external-hook.h"
#include "segments-hook.h"
#include "pipeline-hook.h"

#define IOV	16		/* packets of one write: about 512 KiB */

/* Packets, reached if a peer reads no replies. A job takes 1 KiB. */
#define QUEUE_MAX	1024

static struct direction *const out = &pipeline_directions[MODE_OUT];
static int fresh;		/* a thread got a packet after */

int
pipeline_seal_packet(struct ssh *ssh, const struct newkeys *k,
    struct sshbuf *output, struct stream_position position,
    struct sshbuf **packet)
{
	struct sshbuf *empty;
	struct crypt_job *j;
	int takes, r;

	takes = pipeline_takes_packet(ssh, out, k, &position);
	gather_set_packet(ssh, packet, k != NULL && segments_supported(k) &&
	    pipeline_threads() == 0 ? k : NULL);
	if (!takes)
		return 0;
	if (pipeline_threads() > 0)
		external_linearize();
	if ((j = direction_queue_packet(out, position,
	    sshbuf_len(*packet))) == NULL)
		fatal_f("out of memory");
	empty = j->plain;
	j->plain = *packet;
	*packet = empty;
	direction_submit(j);
	if (j->packet.state == PACKET_SUBMITTED)
		fresh = 1;
	else
		packetq_finish(&j->packet);
	if (out->queue.count >= QUEUE_MAX &&
	    (r = pipeline_drain(out, output, 0)) != 0)
		fatal_fr(r, "pipeline_drain");
	return 1;
}

/*
 * Collects the bytes that can be written now, oldest first. Returns the number
 * of vectors.
 */
static int
collect_output(struct iovec *iov, struct sshbuf *output)
{
	int n = 0;

	if (sshbuf_len(output) > 0) {
		iov[n].iov_base = sshbuf_mutable_ptr(output);
		iov[n++].iov_len = sshbuf_len(output);
	}
	return n + packetq_collect(&out->queue, iov + n, IOV - n);
}

/* Removes "len" written bytes from "output", then from the queue. */
static int
consume_output(struct sshbuf *output, size_t len)
{
	size_t n = MINIMUM(len, sshbuf_len(output));
	int r;

	if ((r = sshbuf_consume(output, n)) != 0)
		return r;
	packetq_add_written(&out->queue, len - n);
	while (packetq_first_is_written(&out->queue))
		direction_remove_first(out);
	return 0;
}

/* Writes as ssh_packet_write_poll(), but also from the queue. */
int
pipeline_write_output(struct ssh *ssh, int fd, struct sshbuf *output)
{
	struct iovec iov[IOV];
	ssize_t len;
	int n, r, was_fresh = fresh;

	fresh = 0;
	n = collect_output(iov, output);
	if (n == 0 && out->queue.first != NULL) {
		/* The loop may bring more packets for the threads first. */
		if (was_fresh)
			return 0;
		if ((r = packetq_finish(out->queue.first)) != 0)
			return r;
		n = collect_output(iov, output);
	}
	if (n == 0)
		return 0;
	if ((len = writev(fd, iov, n)) == -1)
		return errno == EINTR || errno == EAGAIN ||
		    errno == EWOULDBLOCK ? 0 : SSH_ERR_SYSTEM_ERROR;
	if (len == 0)
		return SSH_ERR_CONN_CLOSED;
	return consume_output(output, (size_t)len);
}

int
pipeline_has_packets(struct ssh *ssh)
{
	return out->ssh == ssh && out->queue.first != NULL;
}

size_t
pipeline_output_len(struct ssh *ssh, const struct sshbuf *output)
{
	size_t len = sshbuf_len(output);

	return pipeline_has_packets(ssh) ?
	    len + packetq_unwritten(&out->queue) : len;
}

size_t
pipeline_output_backlog(struct ssh *ssh, const struct sshbuf *output)
{
	size_t len = sshbuf_len(output);

	return pipeline_has_packets(ssh) ?
	    packetq_backlog(&out->queue, len, 1 + pipeline_threads()) : len;
}
