/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See authonly-server-hook.h for the idea. */

#include "includes.h"

#include <sys/types.h>

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dispatch.h"
#include "hostfile.h"
#include "auth.h"
#include "log.h"
#include "packet.h"
#include "ssh2.h"
#include "ssherr.h"
#include "xmalloc.h"

#include "authonly-hook.h"
#include "authonly-server-hook.h"
#include "clock.h"
#include "msgname-hook.h"
#include "pipeline-hook.h"
#include "sessionlog-hook.h"

static const Authctxt *user;

/* The present period of unencrypted data */
static struct {
	char	*mode;		/* NULL: there is none */
	char	*from;		/* of the client */
	int	 port;
	uint64_t since_us;
	u_int64_t bytes;	/* of the connection, when it began */
} period;

static u_int64_t
get_connection_bytes(struct ssh *ssh)
{
	u_int64_t in, out;

	pipeline_get_bytes(ssh, &in, &out);
	return in + out;
}

static void
log_period_end(struct ssh *ssh)
{
	if (period.mode == NULL)
		return;
	logit("Data in clear ended for %s from %s port %d: %s, "
	    "%llu bytes, %.1f seconds", user->user, period.from, period.port,
	    period.mode,
	    (unsigned long long)(get_connection_bytes(ssh) - period.bytes),
	    (clock_us() - period.since_us) / 1e6);
	free(period.mode);
	free(period.from);
	period.mode = period.from = NULL;
}

static void
log_server_mode_change(struct ssh *ssh)
{
	if (authonly_mode_in_force() == NULL) {
		log_period_end(ssh);
		return;
	}
	period.mode = xstrdup(authonly_mode_in_force());
	period.from = xstrdup(ssh_remote_ipaddr(ssh));
	period.port = ssh_remote_port(ssh);
	period.since_us = clock_us();
	period.bytes = get_connection_bytes(ssh);
	logit("Data in clear began for %s from %s port %d: %s", user->user,
	    period.from, period.port, period.mode);
	sessionlog_cleartext(1);
}

static void
log_refusal(struct ssh *ssh, enum authonly_answer answer, int ends)
{
	static int has_logged;

	if (has_logged)		/* each rekey requests it again */
		return;
	has_logged = 1;
	sessionlog_cleartext(0);
	logit("Data in clear refused to %s from %s port %d, because %s%s",
	    user->user, ssh_remote_ipaddr(ssh), ssh_remote_port(ssh),
	    authonly_explain_answer(answer, authonly_get_private()), ends ?
	    "; this client offers no other cipher, so the connection ends" :
	    "");
}

static const struct authonly_side server = {
	.server = 1, .mode_changed = log_server_mode_change,
	.modes_withheld = log_refusal,
};

/*
 * Requests that are refused while data is unencrypted. If they are allowed
 * because data is encrypted, upstream's code calls authonly_encrypt_before()
 * for them.
 */

/*
 * Returns 1 and logs the refusal if data is unencrypted, or may soon be. The
 * client chose the type, so it is escaped and truncated.
 */
static int
refuse_type(struct ssh *ssh, const char *what, const char *type)
{
	char *shown;

	if (!authonly_in_force_or_pending(ssh))
		return 0;
	if (stravis(&shown, type, VIS_OCTAL | VIS_NL | VIS_DQ) == -1)
		fatal_f("out of memory");
	logit("%s \"%.64s\" refused to %s from %s port %d, because data is "
	    "in clear", what, shown, user->user, ssh_remote_ipaddr(ssh),
	    ssh_remote_port(ssh));
	free(shown);
	return 1;
}

/*
 * Refuses the message just received if its type is private while data is
 * unencrypted. Returns 1 if it is refused.
 */
static int
refuse_message(struct ssh *ssh, const char *what,
    enum authonly_private (*classify)(const char *))
{
	char *type = msgname_peek(ssh);
	int refused = type != NULL && classify(type) != AUTHONLY_PUBLIC &&
	    refuse_type(ssh, what, type);

	free(type);
	return refused;
}

static dispatch_fn *upstream_open, *upstream_global;

static int
guard_channel_open(int type, u_int32_t seq, struct ssh *ssh)
{
	u_int32_t id;
	int r;

	if (!refuse_message(ssh, "Channel", authonly_classify_channel))
		return upstream_open(type, seq, ssh);
	if ((r = sshpkt_get_string(ssh, NULL, NULL)) != 0 ||
	    (r = sshpkt_get_u32(ssh, &id)) != 0 ||
	    (r = sshpkt_start(ssh, SSH2_MSG_CHANNEL_OPEN_FAILURE)) != 0 ||
	    (r = sshpkt_put_u32(ssh, id)) != 0 ||
	    (r = sshpkt_put_u32(ssh,
	    SSH2_OPEN_ADMINISTRATIVELY_PROHIBITED)) != 0 ||
	    (r = sshpkt_put_cstring(ssh, "data is in clear")) != 0 ||
	    (r = sshpkt_put_cstring(ssh, "")) != 0 ||
	    (r = sshpkt_send(ssh)) != 0)
		sshpkt_fatal(ssh, r, "%s: refuse channel", __func__);
	return 0;
}

static int
guard_global_request(int type, u_int32_t seq, struct ssh *ssh)
{
	u_char want_reply;
	int r;

	if (!refuse_message(ssh, "Request", authonly_classify_global))
		return upstream_global(type, seq, ssh);
	if ((r = sshpkt_get_string(ssh, NULL, NULL)) != 0 ||
	    (r = sshpkt_get_u8(ssh, &want_reply)) != 0 ||
	    (want_reply &&
	    ((r = sshpkt_start(ssh, SSH2_MSG_REQUEST_FAILURE)) != 0 ||
	    (r = sshpkt_send(ssh)) != 0 ||
	    (r = ssh_packet_write_wait(ssh)) != 0)))
		sshpkt_fatal(ssh, r, "%s: refuse request", __func__);
	return 0;
}

void
authonly_server_start(struct ssh *ssh, const Authctxt *authctxt)
{
	user = authctxt;
	authonly_start(&server, 0);
	upstream_open = ssh->dispatch[SSH2_MSG_CHANNEL_OPEN];
	upstream_global = ssh->dispatch[SSH2_MSG_GLOBAL_REQUEST];
	ssh_dispatch_set(ssh, SSH2_MSG_CHANNEL_OPEN, guard_channel_open);
	ssh_dispatch_set(ssh, SSH2_MSG_GLOBAL_REQUEST, guard_global_request);
}

int
authonly_server_refuses_request(struct ssh *ssh, const char *type)
{
	enum authonly_private why = authonly_classify_request(type);

	if (why == AUTHONLY_PUBLIC)
		return 0;
	if (refuse_type(ssh, "Request", type))
		return 1;
	authonly_set_private(why);
	return 0;
}

void
authonly_server_log_end(struct ssh *ssh)
{
	if (user != NULL)
		log_period_end(ssh);
}
