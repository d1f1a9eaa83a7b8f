/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

#include "includes.h"

#include <sys/types.h>

#include <stdarg.h>

#include "log.h"
#include "sshbuf.h"

#include "external-hook.h"
#include "sshbuf-hook.h"

static _Thread_local struct sshbuf *sending;

void
external_begin(struct sshbuf *packet)
{
	sending = packet;
}

void
external_linearize(void)
{
	if (sending == NULL)
		return;
	sshbuf_linearize(sending);
	sending = NULL;
}

int
external_has(const u_char *p, size_t at)
{
	if (sending == NULL || p != sshbuf_ptr(sending) + at)
		return 0;
	if (sshbuf_external(sending).len == 0)	/* it was joined */
		sending = NULL;
	return sending != NULL;
}

struct sshbuf_external
external_take(const u_char *p, size_t at)
{
	struct sshbuf_external o = { .data = p };

	if (!external_has(p, at))
		return o;
	o = sshbuf_external(sending);
	o.at -= at;
	sending = NULL;
	return o;
}

void
external_end(void)
{
	if (sending != NULL && sshbuf_len(sending) == 0)
		fatal_f("a packet was sealed without its data");
	external_linearize();
}
