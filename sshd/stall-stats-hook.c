/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See stall-stats-hook.h. */

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
#include "stall-stats-hook.h"
#include "hayopt.h"
#include "msgname-hook.h"
#include "peer-hook.h"
#include "stalls-hook.h"

static dispatch_fn *upstream_global;

/* Returns 1 if the message that was just received is STALL_STATS_REQUEST. */
static int
is_stats_request(struct ssh *ssh)
{
	char *name = msgname_peek(ssh);
	int is = name != NULL && strcmp(name, STALL_STATS_REQUEST) == 0;

	free(name);
	return is;
}

static int
send_stats(struct ssh *ssh)
{
	unsigned char wire[STALL_STATS_WIRE_LEN];
	struct stall_stats now = stalls_read(ssh);
	int r;

	stall_stats_encode(&now, wire);
	if ((r = sshpkt_start(ssh, SSH2_MSG_REQUEST_SUCCESS)) != 0 ||
	    (r = sshpkt_put(ssh, wire, sizeof(wire))) != 0)
		return r;
	return sshpkt_send(ssh);
}

static int
input_stats_request(int type, u_int32_t seq, struct ssh *ssh)
{
	u_char want_reply;
	int r;

	if (!is_stats_request(ssh))
		return upstream_global(type, seq, ssh);
	if ((r = sshpkt_get_string(ssh, NULL, NULL)) != 0 ||
	    (r = sshpkt_get_u8(ssh, &want_reply)) != 0 ||
	    (want_reply && (r = send_stats(ssh)) != 0))
		sshpkt_fatal(ssh, r, "%s: send stall statistics", __func__);
	return 0;
}

void
stall_stats_serve(struct ssh *ssh)
{
	if (!hayopt_get()->tell_limits || !peer_knows_stall_stats(ssh))
		return;
	stalls_begin(NULL);
	upstream_global = ssh->dispatch[SSH2_MSG_GLOBAL_REQUEST];
	ssh_dispatch_set(ssh, SSH2_MSG_GLOBAL_REQUEST, input_stats_request);
}
