/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See figures-hook.h. */

#include "includes.h"

#include <sys/types.h>

#include <stdarg.h>
#include <string.h>

#include "dispatch.h"
#include "log.h"
#include "packet.h"
#include "ssh2.h"
#include "sshbuf.h"
#include "ssherr.h"

#include "stall-stats.h"
#include "figures-hook.h"
#include "hayopt.h"
#include "named-hook.h"
#include "peer-hook.h"
#include "stalls-hook.h"

static dispatch_fn *upstream_global;

/* Whether the message that was just received asks for the figures */
static int
is_ours(struct ssh *ssh)
{
	char *name = named_peek(ssh);
	int is = name != NULL && strcmp(name, STALL_STATS_REQUEST) == 0;

	free(name);
	return is;
}

static int
send_figures(struct ssh *ssh)
{
	unsigned char told[STALL_STATS_WIRE_LEN];
	struct stall_stats now = stalls_read(ssh);
	int r;

	stall_stats_encode(&now, told);
	if ((r = sshpkt_start(ssh, SSH2_MSG_REQUEST_SUCCESS)) != 0 ||
	    (r = sshpkt_put(ssh, told, sizeof(told))) != 0)
		return r;
	return sshpkt_send(ssh);
}

static int
input_global(int type, u_int32_t seq, struct ssh *ssh)
{
	u_char want_reply;
	int r;

	if (!is_ours(ssh))
		return upstream_global(type, seq, ssh);
	if ((r = sshpkt_get_string(ssh, NULL, NULL)) != 0 ||
	    (r = sshpkt_get_u8(ssh, &want_reply)) != 0 ||
	    (want_reply && (r = send_figures(ssh)) != 0))
		sshpkt_fatal(ssh, r, "%s: tell figures", __func__);
	return 0;
}

void
figures_serve(struct ssh *ssh)
{
	if (!hayopt_get()->tell_limits || !peer_knows_stall_stats(ssh))
		return;
	stalls_begin(NULL);
	upstream_global = ssh->dispatch[SSH2_MSG_GLOBAL_REQUEST];
	ssh_dispatch_set(ssh, SSH2_MSG_GLOBAL_REQUEST, input_global);
}
