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
#include "outside-hook.h"
#include "sshbuf-hook.h"

/* A copy of less costs no more than two more calls of libcrypto. */
#define LEAST		(8 * 1024)

/* The most that packet.c puts behind a packet's data */
#define PADDING_MAX	255

static struct {
	struct ssh *ssh;
	struct sshbuf **packet;
	const struct newkeys *keys;	/* NULL: they do not take pieces */
} next;

void
gather_next(struct ssh *ssh, struct sshbuf **packet, const struct newkeys *k)
{
	next.ssh = ssh;
	next.packet = packet;
	next.keys = k;
}

int
gather_send(struct ssh *ssh, const u_char *p, size_t len)
{
	struct sshbuf *b;
	int r;

	if (len < LEAST || next.ssh != ssh || next.keys == NULL ||
	    next.keys->comp.enabled) {
		if ((r = sshpkt_put_string(ssh, p, len)) != 0)
			return r;
		return sshpkt_send(ssh);
	}
	b = *next.packet;
	if ((r = sshpkt_put_u32(ssh, (u_int32_t)len)) != 0 ||
	    (r = sshbuf_allocate(b, len + PADDING_MAX)) != 0 ||
	    (r = sshbuf_put_outside(b, p, len)) != 0)
		return r;
	outside_begin(b);
	if ((r = sshpkt_send(ssh)) == 0)
		outside_end();
	else
		outside_begin(NULL);
	return r;
}
