/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

#include "includes.h"

#include <sys/types.h>

#include <stdarg.h>
#include <string.h>

#include "kex.h"
#include "log.h"
#include "packet.h"
#include "sshbuf.h"
#include "ssherr.h"

#include "gather-hook.h"
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

/* This one has data outside; or NULL, as in all other threads */
static _Thread_local struct sshbuf *sending;

void
gather_next(struct ssh *ssh, struct sshbuf **packet, const struct newkeys *k)
{
	next.ssh = ssh;
	next.packet = packet;
	next.keys = k;
}

void
gather_join(void)
{
	if (sending == NULL)
		return;
	sshbuf_join(sending);
	sending = NULL;
}

int
gather_has(const u_char *p, size_t at)
{
	if (sending == NULL || p != sshbuf_ptr(sending) + at)
		return 0;
	if (sshbuf_outside(sending).len == 0)	/* it was joined */
		sending = NULL;
	return sending != NULL;
}

struct sshbuf_outside
gather_take(const u_char *p, size_t at)
{
	struct sshbuf_outside o = { .data = p };

	if (!gather_has(p, at))
		return o;
	o = sshbuf_outside(sending);
	o.at -= at;
	sending = NULL;
	return o;
}

/* The packet was sent, or waits for new keys. */
static void
end_sending(void)
{
	if (sending != NULL && sshbuf_len(sending) == 0)
		fatal_f("a packet was sealed without its data");
	gather_join();
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
	sending = b;
	if ((r = sshpkt_send(ssh)) != 0) {
		sending = NULL;
		return r;
	}
	end_sending();
	return 0;
}
