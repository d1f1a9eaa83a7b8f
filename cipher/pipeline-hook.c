/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * The pipeline as a whole: how many threads there are, which packets come
 * through here, and the ends of keys and connections.
 */

#include "includes.h"

#include <sys/types.h>

#include <stdarg.h>
#include <stdlib.h>

#include "cipher.h"
#include "kex.h"
#include "log.h"
#include "packet.h"
#include "sshbuf.h"
#include "ssherr.h"

#include "autoscale.h"
#include "clock.h"
#include "cores.h"
#include "direction-hook.h"
#include "gather-hook.h"
#include "hayopt.h"
#include "pipeline-hook.h"
#include "pool.h"

static enum {
	THREADS_NOT_YET,	/* or not at all: CipherThreads off */
	THREADS_FIXED,		/* CipherThreads is a number */
	THREADS_AUTO		/* autoscale.h decides */
} policy;
static struct autoscale scale;
static struct autoscale_now total;
static struct { u_int64_t in, out; } closed;	/* bytes, if closed */

/* The number of threads */

/*
 * Starts or ends threads until there are this many, or fewer if there are no
 * contexts or the system starts no more.
 */
static void
set_threads(unsigned int threads)
{
	unsigned int got, had = pool_size();
	struct direction *d;
	int i, made;

	for (i = 0; i < MODE_MAX; i++) {
		d = &pipeline_directions[i];
		if (d->state != KEYS_PIPELINE)
			continue;
		made = direction_make_sealers(d, threads);
		if (made < (int)threads)
			threads = (unsigned int)made;
	}
	got = pool_resize(threads);
	if (got != had)
		debug("packets are sealed and opened by %u threads", got);
	if (policy == THREADS_AUTO)
		autoscale_set_started(&scale, got);
	else
		scale.threads = got;
}

static u_int64_t
crypto_us(void)
{
	return pipeline_directions[MODE_IN].crypto_us +
	    pipeline_directions[MODE_OUT].crypto_us;
}

/* Lets autoscale.h decide, if its interval is over. */
static void
rescale(void)
{
	total.now_us = clock_us();
	if (total.now_us - scale.last.now_us < AUTOSCALE_US)
		return;
	total.crypto_us = crypto_us();
	total.cpu_us = cores_thread_cpu_us();
	total.free_cores = cores_idle(total.now_us);
	if (autoscale_decide(&scale, &total))
		set_threads(scale.threads);
}

unsigned int
pipeline_threads(void)
{
	return scale.threads;
}

unsigned int
pipeline_start_threads(void)
{
	if (scale.threads != 0 && pool_size() < scale.threads)
		set_threads(scale.threads);
	return scale.threads;
}

void
pipeline_allow_threads(void)
{
	int threads = hayopt_get()->cipher_threads;

	if (policy != THREADS_NOT_YET || threads == 0)
		return;
	if (threads == HAYOPT_THREADS_AUTO) {
		if ((total.cores = cores_count()) >= 2)
			policy = THREADS_AUTO;
		return;
	}
	policy = THREADS_FIXED;
	scale.state = AUTOSCALE_STEADY;
	set_threads((unsigned int)threads);
	if (scale.threads < (unsigned int)threads)
		debug("%u of %d threads could be started", scale.threads,
		    threads);
}

/* Choosing packets */

int
pipeline_takes_packet(struct ssh *ssh, struct direction *d,
    const struct newkeys *k, const struct stream_position *position)
{
	if (policy == THREADS_NOT_YET || k == NULL ||
	    (d->ssh != NULL && d->ssh != ssh))
		return 0;
	if (d->seen_bytes != 0)
		total.bytes += position->bytes - d->seen_bytes;
	d->seen_bytes = position->bytes;
	if (policy == THREADS_AUTO)
		rescale();
	if (d->state == KEYS_PIPELINE)
		return 1;
	if (scale.state == AUTOSCALE_OFF)
		return 0;
	d->ssh = ssh;
	return direction_use_keys(d, k, scale.threads);
}

/*
 * The ends of keys and connections
 */

int
pipeline_drain(struct direction *d, struct sshbuf *output, int r)
{
	struct packet_job *first;
	size_t written;
	int sealed;

	/* Whatever fails, no thread may have a job when the keys go. */
	while ((first = d->queue.first) != NULL) {
		written = d->queue.written;
		sealed = packetq_finish(first);
		if (r == 0 && (r = sealed) == 0)
			r = sshbuf_put(output, first->out + written,
			    first->wire_len - written);
		direction_remove_first(d);
	}
	return r;
}

int
pipeline_change_keys(struct ssh *ssh, int mode, struct sshbuf *output)
{
	struct direction *d = &pipeline_directions[mode];
	int r = 0;

	if (mode == MODE_OUT)
		gather_set_packet(ssh, NULL, NULL);
	if (d->ssh != ssh)
		return 0;
	/*
	 * The peer sent these packets before it can have had our half of the
	 * keys.
	 */
	if (mode == MODE_IN && d->queue.first != NULL)
		r = SSH_ERR_MAC_INVALID;
	r = pipeline_drain(d, output, r);
	if (mode == MODE_IN)
		receiving_release_reads();
	direction_forget_keys(d);
	return r;
}

void
pipeline_close(struct ssh *ssh)
{
	struct direction *in = &pipeline_directions[MODE_IN];
	struct direction *out = &pipeline_directions[MODE_OUT];

	ssh_packet_get_bytes(ssh, &closed.in, &closed.out);
	gather_set_packet(NULL, NULL, NULL);
	if (out->ssh == ssh)
		direction_close(out);
	if (in->ssh == ssh) {
		direction_close(in);
		receiving_close();
	}
	if (policy != THREADS_NOT_YET && in->ssh == out->ssh)
		pool_resize(0);
}

u_int64_t
pipeline_crypto_us(void)
{
	return crypto_us();
}

void
pipeline_get_bytes(struct ssh *ssh, u_int64_t *in, u_int64_t *out)
{
	if (ssh->state != NULL)
		ssh_packet_get_bytes(ssh, in, out);
	else {
		*in = closed.in;
		*out = closed.out;
	}
}
