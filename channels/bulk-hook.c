/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

#include "includes.h"

#include <sys/types.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "packet.h"
#include "sshbuf.h"
#include "channels.h"
#include "log.h"
#include "misc.h"

#include "bulk-hook.h"
#include "clock.h"
#include "hayopt.h"
#include "shmpipe-hook.h"
#include "peer-hook.h"
#include "tcp-path.h"

/*
 * PACKET_LARGE holds a READ or WRITE of SFTP of 255 KiB with its header of 29
 * bytes and a handle, so that it becomes one packet. packet.c accepts packets
 * of up to 256 KiB with everything in them.
 */
#define PACKET_LARGE	(255 * 1024 + 256)
#define PACKET_STOCK	(32 * 1024)

/* 255 KiB at 100 MB/s; a keystroke waits no longer for one packet. */
#define BULK_PACKET_US	2600

#define RATE_EVERY_US	100000

/*
 * Bytes: one read or one packet. The system allows a user 16,384 pages in pipes
 * (fs.pipe-user-pages-soft), which are 256 pipes of this size.
 */
#define PIPE_SIZE	(256 * 1024)

u_int
bulk_packet_max(const struct ssh *ssh)
{
	return peer_takes_large_packets(ssh) ? PACKET_LARGE : PACKET_STOCK;
}

size_t
bulk_read_max(void)
{
	return hayopt_get()->hayate ? PACKET_LARGE : PACKET_STOCK;
}

uint64_t
bulk_path_rate(struct ssh *ssh)
{
	static uint64_t asked_us, rate;
	uint64_t now_us = clock_us();
	struct tcp_path path;

	if (asked_us != 0 && now_us - asked_us < RATE_EVERY_US)
		return rate;
	asked_us = now_us;
	rate = tcp_path_read(ssh_packet_get_connection_out(ssh), &path) == 0 ?
	    path.delivery_rate : 0;
	return rate;
}

/*
 * Changes the capacity of a pipe that has "least" to "most" bytes now, unless
 * it holds packets (ring.h).
 */
static void
resize_pipe(int fd, int least, int most, int size)
{
#ifdef F_SETPIPE_SZ
	int was = fd == -1 ? -1 : fcntl(fd, F_GETPIPE_SZ);

	if (was >= least && was <= most &&
	    (fcntl(fd, F_GETFL) & O_DIRECT) == 0 &&
	    fcntl(fd, F_SETPIPE_SZ, size) == -1 && size > was)
		debug2("a pipe stays at %d bytes: %s", was, strerror(errno));
#else
	(void)fd;
	(void)least;
	(void)most;
	(void)size;
#endif
}

/*
 * Typing is recognised by small packets that come one by one. The requests of
 * another transfer are as small, but come in a row. Small packets that the bulk
 * channel itself sent before, to open its file, do not count.
 */
#define TYPED_MAX	256
#define TYPED_GAP_US	10000
#define TYPING_US	1000000

static uint64_t typed_us, small_us;
static int typed_id, bulk_id = -1;	/* channels */

static void
note_small_packet(int id)
{
	uint64_t now_us = clock_us();

	if (now_us - small_us >= TYPED_GAP_US) {
		typed_us = now_us;
		typed_id = id;
	}
	small_us = now_us;
}

static int
is_typing(void)
{
	return typed_us != 0 && typed_id != bulk_id &&
	    clock_us() - typed_us < TYPING_US;
}

/*
 * Returns 1 if bulk data on this channel has to use small packets, because
 * somebody types into another channel. Shrinks its pipe as soon as that holds
 * no more than a small one.
 */
static int
yields_to_typing(const struct Channel *c)
{
	static int was;
	int typing = is_typing();

	if (typing && !was)
		debug3("channel %d: packets of 32 KiB while another channel "
		    "is interactive", c->self);
	was = typing;
	if (typing)
		resize_pipe(c->rfd, PIPE_SIZE, PIPE_SIZE, BULK_PIPE_STOCK);
	return typing;
}

size_t
bulk_packet_len(struct ssh *ssh, const struct Channel *c, size_t len)
{
	static size_t largest;
	size_t most, record;

	if (len >= PACKET_STOCK)
		bulk_id = c->self;
	else if (len > 0 && len <= TYPED_MAX && c->self != bulk_id)
		note_small_packet(c->self);
	if (len <= PACKET_STOCK || !hayopt_get()->hayate)
		return len;
	if (c->isatty || yields_to_typing(c) || !peer_takes_large_packets(ssh))
		return PACKET_STOCK;
	if (len <= BULK_PIPE_STOCK)
		bulk_enlarge_pipe(c->rfd);
	most = bulk_path_rate(ssh) * BULK_PACKET_US / 1000000;
	len = MINIMUM(len, MAXIMUM(most, PACKET_STOCK));
	record = shmpipe_record_size(c->rfd);
	if (record <= len && record > len / 2)
		len = shmpipe_split(sshbuf_len(c->input), record);
	if (len > MAXIMUM(largest, PACKET_STOCK)) {
		largest = len;
		debug3("channel %d: packets of up to %zu bytes", c->self, len);
	}
	return len;
}

int
bulk_output_poll(struct ssh *ssh)
{
	int did = channel_output_poll(ssh), more = did;

	while (more && hayopt_get()->hayate && !is_typing() &&
	    ssh_packet_not_very_much_data_to_write(ssh) &&
	    !ssh_packet_is_rekeying(ssh))
		more = channel_output_poll(ssh);
	return did;
}

/*
 * Bytes. Smaller data is collected in the output first, because a write of each
 * packet of stock's size costs more than a copy.
 */
#define WRITE_THROUGH_MIN	(64 * 1024)

static int
can_write_through(const struct Channel *c)
{
	int flags;

	return c->type == SSH_CHANNEL_OPEN && !c->isatty &&
	    !c->datagram && c->output_filter == NULL &&
	    sshbuf_len(c->output) == 0 && hayopt_get()->hayate &&
	    (flags = fcntl(c->wfd, F_GETFL)) != -1 &&
	    (flags & O_NONBLOCK) != 0;
}

void
bulk_write_through(struct ssh *ssh, struct Channel *c, const u_char **data,
    size_t *len, void (*used)(struct ssh *, struct Channel *),
    int (*adjust)(struct ssh *, struct Channel *))
{
	ssize_t n;

	if (*len < WRITE_THROUGH_MIN || c->wfd == -1)
		return;
	shmpipe_set_record_size(c->wfd, *len);
	if (!can_write_through(c) ||
	    (n = shmpipe_write(c->wfd, *data, *len)) <= 0)
		return;
	*data += n;
	*len -= (size_t)n;
	c->local_consumed += (u_int)n;
	used(ssh, c);
	adjust(ssh, c);
}

void
bulk_enlarge_pipe(int fd)
{
	resize_pipe(fd, 1, PIPE_SIZE - 1, PIPE_SIZE);
}
