/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

#include "includes.h"

#include <sys/types.h>

#include "kex.h"
#include "packet.h"
#include "sshbuf.h"
#include "ssherr.h"

#include "gather-hook.h"
#include "external-hook.h"
#include "sshbuf-hook.h"

/* Bytes: copying less data costs no more than two more calls of libcrypto. */
#define GATHER_MIN		(8 * 1024)

/* The most that packet.c puts behind a packet's data */
#define PADDING_MAX	255

static struct {
	struct ssh *ssh;
	struct sshbuf **packet;
	const struct newkeys *keys;	/* NULL: not usable with segments */
} next_packet;

void
gather_set_packet(struct ssh *ssh, struct sshbuf **packet,
    const struct newkeys *k)
{
	next_packet.ssh = ssh;
	next_packet.packet = packet;
	next_packet.keys = k;
}

int
gather_send(struct ssh *ssh, const u_char *p, size_t len)
{
	struct sshbuf *b;
	int r;

	if (len < GATHER_MIN || next_packet.ssh != ssh ||
	    next_packet.keys == NULL || next_packet.keys->comp.enabled) {
		if ((r = sshpkt_put_string(ssh, p, len)) != 0)
			return r;
		return sshpkt_send(ssh);
	}
	b = *next_packet.packet;
	if ((r = sshpkt_put_u32(ssh, (u_int32_t)len)) != 0 ||
	    (r = sshbuf_allocate(b, len + PADDING_MAX)) != 0 ||
	    (r = sshbuf_put_external(b, p, len)) != 0)
		return r;
	external_begin(b);
	if ((r = sshpkt_send(ssh)) == 0)
		external_end();
	else
		external_begin(NULL);
	return r;
}
