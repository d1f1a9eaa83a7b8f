/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See msgname-hook.h. */

#include "includes.h"

#include <sys/types.h>

#include <stdarg.h>

#include "log.h"
#include "packet.h"
#include "sshbuf.h"
#include "ssherr.h"

#include "msgname-hook.h"

char *
msgname_peek(struct ssh *ssh)
{
	const u_char *data;
	struct sshbuf *copy;
	char *name = NULL;
	size_t len;
	int r;

	if ((data = sshpkt_ptr(ssh, &len)) == NULL)
		return NULL;
	if ((copy = sshbuf_from(data, len)) == NULL)
		fatal_f("out of memory");
	r = sshbuf_get_cstring(copy, &name, NULL);
	sshbuf_free(copy);
	if (r == SSH_ERR_ALLOC_FAIL)
		fatal_fr(r, "copy the name");
	return name;
}
