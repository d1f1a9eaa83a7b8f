/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

#include "includes.h"

#include <sys/types.h>

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hostfile.h"
#include "auth.h"
#include "log.h"
#include "packet.h"
#include "xmalloc.h"

#include "clear-hook.h"
#include "clearsrv-hook.h"
#include "clock.h"

static const Authctxt *who;

/* The stretch in clear that is under way */
static struct {
	char	*mode;		/* NULL: there is none */
	uint64_t since_us;
	u_int64_t bytes;	/* of the connection, when it began */
} stretch;

static u_int64_t
bytes_of(struct ssh *ssh)
{
	u_int64_t in = 0, out = 0;

	ssh_packet_get_bytes(ssh, &in, &out);
	return in + out;
}

static void
ended(struct ssh *ssh)
{
	if (stretch.mode == NULL)
		return;
	logit("Data in clear ended for %s from %s port %d: %s, "
	    "%llu bytes, %.1f seconds", who->user, ssh_remote_ipaddr(ssh),
	    ssh_remote_port(ssh), stretch.mode,
	    (unsigned long long)(bytes_of(ssh) - stretch.bytes),
	    (clock_us() - stretch.since_us) / 1e6);
	free(stretch.mode);
	stretch.mode = NULL;
}

static void
changed(struct ssh *ssh)
{
	if (clear_mode() == NULL) {
		ended(ssh);
		return;
	}
	stretch.mode = xstrdup(clear_mode());
	stretch.since_us = clock_us();
	stretch.bytes = bytes_of(ssh);
	logit("Data in clear began for %s from %s port %d: %s", who->user,
	    ssh_remote_ipaddr(ssh), ssh_remote_port(ssh), stretch.mode);
}

static void
withheld(struct ssh *ssh, enum clear_answer answer)
{
	static int said;

	if (said)	/* each rekey asks again */
		return;
	said = 1;
	logit("Data in clear refused to %s from %s port %d, because %s",
	    who->user, ssh_remote_ipaddr(ssh), ssh_remote_port(ssh),
	    clear_reason(answer, clear_private()));
}

static const struct clear_side server = {
	.server = 1, .changed = changed, .withheld = withheld,
};

void
clearsrv_start(struct ssh *ssh, const Authctxt *authctxt)
{
	who = authctxt;
	clear_serve(&server, 0);
}

int
clearsrv_refuses(struct ssh *ssh, const char *type)
{
	enum clear_private why = clear_request(type);

	if (why == CLEAR_PUBLIC)
		return 0;
	if (clear_mode() == NULL) {
		clear_set_private(why);
		return 0;
	}
	logit("Request %s refused to %s from %s port %d, because data is in "
	    "clear", type, who->user, ssh_remote_ipaddr(ssh),
	    ssh_remote_port(ssh));
	return 1;
}

void
clearsrv_end(struct ssh *ssh)
{
	if (who != NULL)
		ended(ssh);
}
