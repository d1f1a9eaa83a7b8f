/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
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

#include "clock.h"
#include "direction-hook.h"

/* Jobs that are kept while none is queued: one write needs as many. */
#define SPARE	5

struct direction pipeline_directions[MODE_MAX] = {
	[MODE_IN] = { .mode = MODE_IN },
	[MODE_OUT] = { .mode = MODE_OUT },
};

/*
 * Keys
 */

int
direction_make_sealers(struct direction *d, unsigned int threads)
{
	int r;

	while (d->nsealers <= threads && d->nsealers <= POOL_MAX) {
		if ((r = sealer_init(&d->sealer[d->nsealers],
		    &d->keys)) != 0) {
			debug_fr(r, "%s", d->keys.newkeys->enc.name);
			sealer_free(&d->sealer[d->nsealers]);
			break;
		}
		d->nsealers++;
	}
	return (int)d->nsealers - 1;
}

void
direction_forget_keys(struct direction *d)
{
	while (d->nsealers > 0)
		sealer_free(&d->sealer[--d->nsealers]);
	sealer_wipe_keys(&d->keys);
	d->state = KEYS_UPSTREAM;
}

int
direction_use_keys(struct direction *d, const struct newkeys *k,
    unsigned int threads)
{
	if (d->state == KEYS_UNSUPPORTED)
		return 0;
	if (sealer_set_keys(&d->keys, k, d->mode) != 0 ||
	    direction_make_sealers(d, threads) < (int)threads) {
		debug("%s is sealed and opened without threads",
		    k->enc.name);
		direction_forget_keys(d);
		d->state = KEYS_UNSUPPORTED;
		return 0;
	}
	d->state = KEYS_PIPELINE;
	return 1;
}

/*
 * Jobs
 */

static void
seal_packet(struct crypt_job *j, struct sealer *s)
{
	const struct sealer_keys *keys = &j->direction->keys;
	struct packet_job *p = &j->packet;

	if ((p->result = sshbuf_reserve(j->wire, p->wire_len, &p->out)) == 0)
		p->result = sealer_seal(s, keys, &j->position,
		    sshbuf_ptr(j->plain), (u_int)p->len, p->out);
	sshbuf_reset(j->plain);
}

static void
open_packet(struct crypt_job *j, struct sealer *s)
{
	const struct sealer_keys *keys = &j->direction->keys;
	struct packet_job *p = &j->packet;

	sshbuf_reset(j->plain);
	if ((p->result = sshbuf_reserve(j->plain, p->len, &p->out)) == 0)
		p->result = sealer_open(s, keys, &j->position, j->in,
		    (u_int)p->len, p->out);
}

/*
 * In a thread, or in the owner. It wipes buffers as well, so that the owner
 * does not have to.
 */
static void
run_crypt_job(struct pool_job *pool, unsigned int worker)
{
	struct crypt_job *j = (struct crypt_job *)pool;
	struct sealer *s = &j->direction->sealer[worker];
	uint64_t start = clock_us();

	if (j->direction->mode == MODE_OUT)
		seal_packet(j, s);
	else
		open_packet(j, s);
	j->packet.us = (unsigned int)(clock_us() - start);
}

static void
free_job(struct crypt_job *j)
{
	if (j == NULL)
		return;
	sshbuf_free(j->plain);
	sshbuf_free(j->wire);
	free(j);
}

static struct crypt_job *
new_job(struct direction *d)
{
	struct crypt_job *j = (struct crypt_job *)d->spare;

	if (j != NULL) {
		d->spare = j->packet.next;
		d->nspare--;
		return j;
	}
	if ((j = calloc(1, sizeof(*j))) == NULL ||
	    (j->plain = sshbuf_new()) == NULL ||
	    (j->wire = sshbuf_new()) == NULL) {
		free_job(j);
		return NULL;
	}
	j->direction = d;
	j->packet.pool.run = run_crypt_job;
	return j;
}

static void
free_spare_jobs(struct direction *d, unsigned int keep)
{
	struct packet_job *job;

	while (d->nspare > keep) {
		job = d->spare;
		d->spare = job->next;
		d->nspare--;
		free_job((struct crypt_job *)job);
	}
}

struct crypt_job *
direction_queue_packet(struct direction *d, struct stream_position position,
    size_t len)
{
	struct crypt_job *j;

	if ((j = new_job(d)) == NULL)
		return NULL;
	j->position = position;
	j->packet.source = NULL;
	j->packet.len = len;
	j->packet.wire_len = len + d->keys.authlen + d->keys.maclen;
	packetq_add(&d->queue, &j->packet);
	return j;
}

void
direction_submit(struct crypt_job *j)
{
	if (packetq_is_long(&j->packet) && pipeline_start_threads() > 0)
		packetq_submit(&j->packet);
}

struct crypt_job *
direction_first(struct direction *d)
{
	return (struct crypt_job *)d->queue.first;
}

void
direction_remove_first(struct direction *d)
{
	struct packet_job *job = packetq_remove_first(&d->queue);
	struct crypt_job *j = (struct crypt_job *)job;

	d->crypto_us += job->us;
	if (sshbuf_consume(j->wire, sshbuf_len(j->wire)) != 0) {
		free_job(j);
	} else {
		job->next = d->spare;
		d->spare = job;
		d->nspare++;
	}
	if (d->queue.first == NULL)
		free_spare_jobs(d, SPARE);
}

void
direction_close(struct direction *d)
{
	while (d->queue.first != NULL) {
		packetq_finish(d->queue.first);
		direction_remove_first(d);
	}
	free_spare_jobs(d, 0);
	direction_forget_keys(d);
	d->ssh = NULL;
}
