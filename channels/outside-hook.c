/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

#include "includes.h"

#include <sys/types.h>

#include <stdarg.h>

#include "log.h"
#include "sshbuf.h"

#include "outside-hook.h"
#include "sshbuf-hook.h"

static _Thread_local struct sshbuf *sending;

void
outside_begin(struct sshbuf *packet)
{
	sending = packet;
}

void
outside_join(void)
{
	if (sending == NULL)
		return;
	sshbuf_join(sending);
	sending = NULL;
}

int
outside_has(const u_char *p, size_t at)
{
	if (sending == NULL || p != sshbuf_ptr(sending) + at)
		return 0;
	if (sshbuf_outside(sending).len == 0)	/* it was joined */
		sending = NULL;
	return sending != NULL;
}

struct sshbuf_outside
outside_take(const u_char *p, size_t at)
{
	struct sshbuf_outside o = { .data = p };

	if (!outside_has(p, at))
		return o;
	o = sshbuf_outside(sending);
	o.at -= at;
	sending = NULL;
	return o;
}

void
outside_end(void)
{
	if (sending != NULL && sshbuf_len(sending) == 0)
		fatal_f("a packet was sealed without its data");
	outside_join();
}
