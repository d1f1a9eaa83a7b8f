/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

#include "includes.h"

#include <sys/types.h>
#include <sys/ioctl.h>
#include <sys/uio.h>

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cipher.h"
#include "kex.h"
#include "log.h"
#include "misc.h"
#include "packet.h"
#include "sshbuf.h"
#include "ssherr.h"

#include "autoscale.h"
#include "clock.h"
#include "cores.h"
#include "hayopt.h"
#include "pipeline-hook.h"
#include "pool.h"
#include "sealer-hook.h"

#define PACKET_MAX	(256 * 1024)	/* packet.c's PACKET_MAX_SIZE */
#define SMALL		2048		/* not worth another core's attention */
#define AHEAD		32		/* packets opened before they are asked for */
#define SPARE		5		/* jobs kept while there are none: one write */
#define IOV		16
#define HELD		4		/* reads that wait for their packets */
#define HELD_BYTES	(PIPELINE_BYTES / 2)	/* of packets in these */
#define SUPPLY		8		/* packets that a thread may do while more is read */

struct job {
	struct pool_job	 pool;		/* first: it is all that the pool knows */
	struct job	*next;
	struct direction *dir;
	struct pipeline_at at;
	int		 given;		/* to the pool; -1: done with */
	int		 r;
	u_int		 len;		/* length field to padding */
	struct sshbuf	*plain, *wire;
	const struct sshbuf *of;	/* what it was read into */
	const u_char	*in;
	u_char		*out;
	u_int		 us;
};

static struct direction {
	int		 mode;
	struct ssh	*ssh;		/* whose it is; NULL: nobody's yet */
	struct sealing	 with;		/* without keys: upstream's code is at work */
	const struct newkeys *unfit;	/* those that we cannot use */
	struct sealer	 sealer[POOL_MOST + 1];	/* the owner's and the threads' */
	unsigned int	 sealers;
	struct job	*first, **last;	/* in the order of the stream */
	size_t		 bytes;		/* on the wire, of all of these */
	struct job	*spare;
	int		 nspare;
	u_int64_t	 moved;		/* bytes, when last seen */
	struct sshbuf	*held[HELD];	/* with packets of the queue, in order */
	unsigned int	 nheld;
	struct sshbuf	*spare_input;
	int		 fd;		/* was read from; -1: not since a packet waited */
} directions[MODE_MAX] = {
	[MODE_IN] = { .mode = MODE_IN, .last = &directions[MODE_IN].first,
	    .fd = -1 },
	[MODE_OUT] = { .mode = MODE_OUT, .last = &directions[MODE_OUT].first },
};

static int serving;		/* threads may start */
static size_t written;			/* of the first job going out */
static int fresh;			/* sealing began since the last write */
static struct autoscale scale;
static struct autoscale_now total;

static size_t
wire_len(const struct job *j)
{
	return j->len + j->dir->with.authlen + j->dir->with.maclen;
}

static void
run(struct pool_job *p, unsigned int worker)
{
	struct job *j = (struct job *)p;
	struct direction *d = j->dir;
	struct sealer *s = &d->sealer[worker];
	struct sshbuf *into = d->mode == MODE_OUT ? j->wire : j->plain;
	uint64_t start = clock_us();

	/* As much as possible is done here: wiping the last packet as well. */
	if (d->mode == MODE_IN)
		sshbuf_reset(into);
	if ((j->r = sshbuf_reserve(into, d->mode == MODE_OUT ? wire_len(j) :
	    j->len, &j->out)) == 0)
		j->r = d->mode == MODE_OUT ?
		    sealer_seal(s, &d->with, &j->at, sshbuf_ptr(j->plain),
		    j->len, j->out) :
		    sealer_open(s, &d->with, &j->at, j->in, j->len, j->out);
	if (d->mode == MODE_OUT)
		sshbuf_reset(j->plain);
	j->us = (u_int)(clock_us() - start);
}

/*
 * Keys
 */

/* For the owner and so many threads. Returns how many it is for, or -1. */
static int
make_sealers(struct direction *d, unsigned int threads)
{
	int r;

	while (d->sealers <= threads) {
		if ((r = sealer_init(&d->sealer[d->sealers],
		    &d->with)) != 0) {
			debug_fr(r, "%s", d->with.keys->enc.name);
			sealer_free(&d->sealer[d->sealers]);
			break;
		}
		d->sealers++;
	}
	return (int)d->sealers - 1;
}

static void
forget_keys(struct direction *d)
{
	while (d->sealers > 0)
		sealer_free(&d->sealer[--d->sealers]);
	sealing_wipe(&d->with);
	d->unfit = NULL;
}

/* 0 if upstream's code has to go on with these keys. */
static int
begin(struct direction *d, const struct newkeys *k)
{
	if (d->unfit == k)
		return 0;
	if (sealing_init(&d->with, k, d->mode) != 0 ||
	    make_sealers(d, scale.threads) < (int)scale.threads) {
		debug("%s is sealed and opened without threads",
		    k->enc.name);
		forget_keys(d);
		d->unfit = k;
		return 0;
	}
	return 1;
}

/*
 * How many threads
 */

static void
apply(unsigned int threads)
{
	unsigned int got, had = pool_size();
	int i, made;

	for (i = 0; i < MODE_MAX; i++) {
		if (directions[i].with.keys == NULL)
			continue;
		made = make_sealers(&directions[i], threads);
		if (made < (int)threads)
			threads = made;
	}
	got = pool_resize(threads);
	if (got != had)
		debug("packets are sealed and opened by %u threads", got);
	scale.threads = got;
}

static void
rescale(void)
{
	total.now_us = clock_us();
	if (total.now_us - scale.last.now_us < AUTOSCALE_US)
		return;
	total.cpu_us = cores_used_us();
	total.free_cores = cores_idle(total.now_us);
	if (autoscale_decide(&scale, &total))
		apply(scale.threads);
}

/* Whether a packet comes through here; else upstream's code does it. */
static int
at_work(struct ssh *ssh, struct direction *d, const struct newkeys *k,
    const struct pipeline_at *at)
{
	if (!serving || k == NULL || (d->ssh != NULL && d->ssh != ssh))
		return 0;
	total.bytes += d->moved == 0 ? 0 : at->bytes - d->moved;
	d->moved = at->bytes;
	if (total.cores != 0)	/* auto */
		rescale();
	if (d->with.keys != NULL)
		return 1;
	if (scale.state == AUTOSCALE_OFF)
		return 0;
	d->ssh = ssh;
	return begin(d, k);
}

void
pipeline_serve(void)
{
	int threads = hayopt_get()->cipher_threads;

	if (serving || threads == 0)
		return;
	if (threads == HAYOPT_THREADS_AUTO) {
		if ((total.cores = cores_count()) < 2)
			return;
	} else {
		scale.state = AUTOSCALE_STEADY;
		apply((unsigned int)threads);
		if (scale.threads < (unsigned int)threads)
			debug("%u of %d threads could be started",
			    scale.threads, threads);
	}
	serving = 1;
}

/*
 * Jobs
 */

static void
job_free(struct job *j)
{
	sshbuf_free(j->plain);
	sshbuf_free(j->wire);
	free(j);
}

static struct job *
job_new(struct direction *d, struct pipeline_at at, u_int len)
{
	struct job *j = d->spare;

	if (j != NULL) {
		d->spare = j->next;
		d->nspare--;
	} else if ((j = calloc(1, sizeof(*j))) == NULL ||
	    (j->plain = sshbuf_new()) == NULL ||
	    (j->wire = sshbuf_new()) == NULL) {
		if (j != NULL)
			job_free(j);
		return NULL;
	}
	j->next = NULL;
	j->of = NULL;
	j->dir = d;
	j->at = at;
	j->len = len;
	j->r = j->given = 0;
	j->pool.run = run;
	return j;
}

static void
enqueue(struct job *j)
{
	struct direction *d = j->dir;

	*d->last = j;
	d->last = &j->next;
	d->bytes += wire_len(j);
}

/* What nothing of the queue lies in any more. */
static void
release(struct direction *d)
{
	struct sshbuf *b;

	while (d->nheld > 0 &&
	    (d->first == NULL || d->first->of != d->held[0])) {
		b = d->held[0];
		memmove(d->held, d->held + 1, --d->nheld * sizeof(*d->held));
		if (d->spare_input != NULL ||
		    sshbuf_consume(b, sshbuf_len(b)) != 0)
			sshbuf_free(b);
		else
			d->spare_input = b;
	}
}

/* The first of the queue is no longer needed. */
static void
retire(struct direction *d)
{
	struct job *j = d->first;

	if ((d->first = j->next) == NULL)
		d->last = &d->first;
	d->bytes -= wire_len(j);
	total.crypto_us += j->us;
	release(d);
	if (sshbuf_consume(j->wire, sshbuf_len(j->wire)) != 0 ||
	    (d->first == NULL && d->nspare >= SPARE)) {
		job_free(j);
		return;
	}
	j->next = d->spare;
	d->spare = j;
	d->nspare++;
}

/* Nothing is queued: what was kept for it goes. */
static void
shrink(struct direction *d)
{
	struct job *j;

	while (d->nspare > SPARE) {
		j = d->spare;
		d->spare = j->next;
		d->nspare--;
		job_free(j);
	}
}

/* Threads; those that idled away come back. */
static unsigned int
workers(void)
{
	if (scale.threads != 0 && pool_size() < scale.threads)
		apply(scale.threads);
	return scale.threads;
}

/* Another core's, or done when it is waited for. */
static void
give(struct job *j)
{
	if ((j->given = j->len >= SMALL && workers() > 0))
		pool_submit(&j->pool);
}

static int
finish(struct job *j)
{
	if (j->given == -1)
		return j->r;
	if (j->given == 0)
		run(&j->pool, 0);
	else
		pool_wait(&j->pool);
	j->given = -1;
	return j->r;
}

static int
done(struct job *j)
{
	return j->given == -1 || (j->given == 1 && pool_is_done(&j->pool));
}

/*
 * Sealing
 */

int
pipeline_seal(struct ssh *ssh, const struct newkeys *k,
    struct sshbuf **packet, struct pipeline_at at)
{
	struct direction *d = &directions[MODE_OUT];
	u_int len = sshbuf_len(*packet);
	struct sshbuf *plain;
	struct job *j;

	if (!at_work(ssh, d, k, &at))
		return PIPELINE_PASS;
	if ((j = job_new(d, at, len)) == NULL)
		return SSH_ERR_ALLOC_FAIL;
	plain = j->plain;
	j->plain = *packet;
	*packet = plain;
	enqueue(j);
	give(j);
	if (j->given == 0)
		return finish(j);
	fresh = 1;
	return 0;
}

/* The bytes that are ready, oldest first. */
static int
ready(struct iovec *iov, struct sshbuf *output)
{
	struct job *j;
	int n = 0;

	if (sshbuf_len(output) > 0) {
		iov[n].iov_base = sshbuf_mutable_ptr(output);
		iov[n++].iov_len = sshbuf_len(output);
	}
	for (j = directions[MODE_OUT].first; j != NULL && n < IOV && done(j) &&
	    j->r == 0; j = j->next) {
		iov[n].iov_base = j->out;
		iov[n++].iov_len = wire_len(j);
		if (j == directions[MODE_OUT].first) {
			iov[n - 1].iov_base = j->out + written;
			iov[n - 1].iov_len -= written;
		}
	}
	return n;
}

static int
consume(struct sshbuf *output, size_t len)
{
	struct direction *d = &directions[MODE_OUT];
	size_t n = MINIMUM(len, sshbuf_len(output));
	int r;

	if ((r = sshbuf_consume(output, n)) != 0)
		return r;
	written += len - n;
	while (d->first != NULL && written >= wire_len(d->first)) {
		written -= wire_len(d->first);
		retire(d);
	}
	if (d->first == NULL)
		shrink(d);
	return 0;
}

/* As ssh_packet_write_poll(), from the queue as well. */
int
pipeline_write(struct ssh *ssh, int fd, struct sshbuf *output)
{
	struct direction *d = &directions[MODE_OUT];
	struct iovec iov[IOV];
	ssize_t len;
	int n, r;

	n = ready(iov, output);
	if (n == 0 && d->first != NULL) {
		/* The loop may bring more for the others to do first. */
		if (fresh) {
			fresh = 0;
			return 0;
		}
		if ((r = finish(d->first)) != 0)
			return r;
		n = ready(iov, output);
	}
	fresh = 0;
	if (n == 0)
		return 0;
	if ((len = writev(fd, iov, n)) == -1)
		return errno == EINTR || errno == EAGAIN ||
		    errno == EWOULDBLOCK ? 0 : SSH_ERR_SYSTEM_ERROR;
	if (len == 0)
		return SSH_ERR_CONN_CLOSED;
	return consume(output, (size_t)len);
}

int
pipeline_holds(struct ssh *ssh)
{
	return directions[MODE_OUT].ssh == ssh &&
	    directions[MODE_OUT].first != NULL;
}

size_t
pipeline_len(struct ssh *ssh, const struct sshbuf *output)
{
	if (!pipeline_holds(ssh))
		return sshbuf_len(output);
	return sshbuf_len(output) + directions[MODE_OUT].bytes - written;
}

size_t
pipeline_backlog(struct ssh *ssh, const struct sshbuf *output)
{
	size_t len = pipeline_len(ssh, output), under_way = 0;
	unsigned int n = 0, cores = 1 + scale.threads;
	struct job *j;

	if (!pipeline_holds(ssh) || len >= PIPELINE_BYTES)
		return len;
	for (j = directions[MODE_OUT].first; j != NULL; j = j->next) {
		if (done(j))
			continue;
		under_way += wire_len(j);
		n++;
	}
	return len - under_way + (n > cores ? under_way / cores : 0);
}

/*
 * Opening
 */

static u_int
length_field(struct direction *d, const u_char *in, size_t have,
    const struct pipeline_at *at)
{
	return sealer_length(&d->sealer[0], &d->with, at, in, have);
}

static int
plausible(const struct direction *d, u_int packlen)
{
	return packlen >= 1 + 4 && packlen <= PACKET_MAX &&
	    (packlen + 4 - d->with.aadlen) % d->with.block_size == 0;
}

/*
 * No packet is there as a whole. Is it for its length? Upstream judges what it
 * can read: where that is not encrypted. A bad length ends the connection as
 * ssh_packet_start_discard() does it for a cipher that is not CBC.
 */
static int
waits(struct ssh *ssh, struct direction *d, struct sshbuf *input,
    const struct pipeline_at *at)
{
	size_t left = sshbuf_len(input);
	u_int packlen = length_field(d, sshbuf_ptr(input), left, at);
	u_int need = packlen + 4 - d->with.block_size;
	int r;

	if (plausible(d, packlen) ||
	    (packlen == 0 && left < MAXIMUM(d->with.block_size, 4)))
		return 0;
	if (d->with.aadlen != 0)
		return PIPELINE_PASS;
	if (packlen < 1 + 4 || packlen > PACKET_MAX)
		logit("Bad packet length %u.", packlen);
	else
		logit("padding error: need %d block %d mod %d", need,
		    d->with.block_size, need % d->with.block_size);
	if ((r = sshpkt_disconnect(ssh, "Packet corrupt")) != 0)
		return r;
	return SSH_ERR_MAC_INVALID;
}

/* Queues one packet. Returns 0, or SSH_ERR_*. */
static int
look(struct direction *d, const struct sshbuf *input, const u_char *in,
    u_int packlen, struct pipeline_at at)
{
	struct job *j;

	if ((j = job_new(d, at, 4 + packlen)) == NULL)
		return SSH_ERR_ALLOC_FAIL;
	j->of = input;
	j->in = in;
	enqueue(j);
	give(j);
	return 0;
}

/*
 * Queues the packets that lie behind those which are queued, as far as that is
 * worth it. Beyond an open key exchange there is nothing to know. 0 or SSH_ERR_*
 */
static int
look_ahead(struct direction *d, struct ssh *ssh, struct sshbuf *input,
    struct pipeline_at at)
{
	const u_char *in = sshbuf_ptr(input);
	size_t left = sshbuf_len(input);
	struct job *j;
	u_int n = 0, packlen;
	int r;

	for (j = d->first; j != NULL; j = j->next, n++) {
		if (j->of == input) {
			in += wire_len(j);
			left -= wire_len(j);
		}
		at.seqnr++;
		at.packets++;
		at.blocks += j->len / d->with.block_size;
	}
	while (n == 0 || (n < AHEAD && d->bytes < PIPELINE_BYTES &&
	    ssh->kex->done && workers() > 0)) {
		packlen = length_field(d, in, left, &at);
		if (!plausible(d, packlen) ||
		    left < 4 + packlen + d->with.authlen + d->with.maclen)
			break;
		if ((r = look(d, input, in, packlen, at)) != 0)
			return r;
		in += 4 + packlen + d->with.authlen + d->with.maclen;
		left -= 4 + packlen + d->with.authlen + d->with.maclen;
		at.seqnr++;
		at.packets++;
		at.blocks += (4 + packlen) / d->with.block_size;
		n++;
	}
	return 0;
}

/* As upstream says it, and in its place: after what came before. */
static int
corrupt(struct ssh *ssh, struct direction *d, int r)
{
	int r2;

	if (r != SSH_ERR_MAC_INVALID || d->with.authlen != 0)
		return r;
	logit("Corrupted MAC on input.");
	if (!d->with.etm && (r2 = sshpkt_disconnect(ssh, "Packet corrupt")) != 0)
		return r2;
	return r;
}

/*
 * Whether the first packet is left to others for now: they have little more to
 * do, and there is more to be read meanwhile. The loop comes back at once then.
 */
static int
later(struct ssh *ssh, struct direction *d, struct job *j)
{
	int there;

	if (d->fd == -1 || j->given != 1 || done(j) || !ssh->kex->done ||
	    pool_count_unbegun() >= SUPPLY * scale.threads || d->nheld == HELD ||
	    d->bytes >= HELD_BYTES || ioctl(d->fd, FIONREAD, &there) == -1 ||
	    there < (int)wire_len(j))
		return 0;
	d->fd = -1;
	return 1;
}

int
pipeline_open(struct ssh *ssh, const struct newkeys *k, struct sshbuf *input,
    struct sshbuf **packet, struct pipeline_at at, u_int *packlen)
{
	struct direction *d = &directions[MODE_IN];
	struct sshbuf *swap;
	struct job *j;
	int r;

	*packlen = 0;
	if (!at_work(ssh, d, k, &at))
		return PIPELINE_PASS;
	if ((r = look_ahead(d, ssh, input, at)) != 0)
		return r;
	if ((j = d->first) == NULL)
		return waits(ssh, d, input, &at);
	if (later(ssh, d, j))
		return 0;
	if ((r = finish(j)) != 0)
		return corrupt(ssh, d, r);
	*packlen = j->len - 4;
	swap = *packet;
	*packet = j->plain;
	j->plain = swap;
	r = j->of == input ? sshbuf_consume(input, wire_len(j)) : 0;
	retire(d);
	if (d->first == NULL)
		shrink(d);
	return r;
}

/*
 * Packets of the queue lie in "input", and must not move: what is behind them
 * goes to another buffer, which is "input" from now on. 0 or SSH_ERR_*
 */
static int
hold(struct direction *d, struct sshbuf **input)
{
	struct sshbuf *next = d->spare_input;
	size_t queued = 0;
	struct job *j;
	int r;

	for (j = d->first; j != NULL; j = j->next) {
		queued += j->of == *input ? wire_len(j) : 0;
		if (d->nheld == HELD)
			finish(j);	/* and may move */
	}
	if (queued == 0 || d->nheld == HELD)
		return 0;
	if (next == NULL && (next = sshbuf_new()) == NULL)
		return SSH_ERR_ALLOC_FAIL;
	d->spare_input = NULL;
	if ((r = sshbuf_put(next, sshbuf_ptr(*input) + queued,
	    sshbuf_len(*input) - queued)) != 0) {
		sshbuf_free(next);
		return r;
	}
	d->held[d->nheld++] = *input;
	*input = next;
	return 0;
}

int
pipeline_read(struct ssh *ssh, int fd, struct sshbuf **input, size_t most,
    struct pipeline_at at, size_t *len)
{
	struct direction *d = &directions[MODE_IN];
	int ours = d->ssh == ssh && d->with.keys != NULL, r;

	if (ours && (r = hold(d, input)) != 0)
		return r;
	if ((r = sshbuf_read(fd, *input, most, len)) != 0)
		return r;
	d->fd = fd;
	return ours && ssh->kex->done ? look_ahead(d, ssh, *input, at) : 0;
}

/*
 * The ends of keys and connections
 */

int
pipeline_newkeys(struct ssh *ssh, int mode, struct sshbuf *output)
{
	struct direction *d = &directions[mode];
	int r = 0, sealed;

	if (d->ssh != ssh)
		return 0;
	/* Sent before the sender can have had our half of the new keys */
	if (mode == MODE_IN && d->first != NULL)
		r = SSH_ERR_MAC_INVALID;
	/* Whatever fails, nobody may be at work when the keys go. */
	for (; d->first != NULL; retire(d)) {
		sealed = finish(d->first);
		if (r != 0 || (r = sealed) != 0)
			continue;
		r = sshbuf_put(output, d->first->out + written,
		    wire_len(d->first) - written);
		written = 0;
	}
	forget_keys(d);
	return r;
}

void
pipeline_close(struct ssh *ssh)
{
	struct direction *d;
	struct job *j;
	int i;

	for (i = 0; i < MODE_MAX; i++) {
		d = &directions[i];
		if (d->ssh != ssh)
			continue;
		while ((j = d->first) != NULL) {
			finish(j);
			retire(d);
		}
		while ((j = d->spare) != NULL) {
			d->spare = j->next;
			job_free(j);
		}
		d->nspare = 0;
		sshbuf_free(d->spare_input);
		d->spare_input = NULL;
		forget_keys(d);
		d->ssh = NULL;
		if (i == MODE_OUT)
			written = 0;
	}
	if (serving && directions[MODE_IN].ssh == directions[MODE_OUT].ssh)
		pool_resize(0);
}

u_int64_t
pipeline_crypto_us(void)
{
	return total.crypto_us;
}
