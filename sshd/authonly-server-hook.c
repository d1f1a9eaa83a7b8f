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

#include "dispatch.h"
#include "hostfile.h"
#include "auth.h"
#include "log.h"
#include "packet.h"
#include "ssh2.h"
#include "sshbuf.h"
#include "ssherr.h"
#include "xmalloc.h"

#include "authonly-hook.h"
#include "authonly-server-hook.h"
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
	if (authonly_mode() == NULL) {
		ended(ssh);
		return;
	}
	stretch.mode = xstrdup(authonly_mode());
	stretch.since_us = clock_us();
	stretch.bytes = bytes_of(ssh);
	logit("Data in clear began for %s from %s port %d: %s", who->user,
	    ssh_remote_ipaddr(ssh), ssh_remote_port(ssh), stretch.mode);
}

static void
withheld(struct ssh *ssh, enum authonly_answer answer, int ends)
{
	static int said;

	if (said)	/* each rekey asks again */
		return;
	said = 1;
	logit("Data in clear refused to %s from %s port %d, because %s%s",
	    who->user, ssh_remote_ipaddr(ssh), ssh_remote_port(ssh),
	    authonly_reason(answer, authonly_private()), ends ?
	    "; this client offers no other cipher, so the connection ends" :
	    "");
}

static const struct authonly_side server = {
	.server = 1, .changed = changed, .withheld = withheld,
};

/*
 * What is refused while data is in clear. What is let through otherwise calls
 * authonly_before() where it begins.
 */

static int
refuse(struct ssh *ssh, const char *what, const char *type)
{
	if (!authonly_at_hand(ssh))
		return 0;
	logit("%s %s refused to %s from %s port %d, because data is in clear",
	    what, type, who->user, ssh_remote_ipaddr(ssh),
	    ssh_remote_port(ssh));
	return 1;
}

/* Whether the message just received, which begins with a name, is refused. */
static int
refuse_message(struct ssh *ssh, const char *what,
    enum authonly_private (*judge)(const char *))
{
	const u_char *data;
	struct sshbuf *copy;
	char *type = NULL;
	size_t len;
	int yes = 0;

	if ((data = sshpkt_ptr(ssh, &len)) == NULL)
		return 0;
	if ((copy = sshbuf_from(data, len)) == NULL)
		fatal_f("out of memory");
	/* A message that is cut short is stock's business. */
	if (sshbuf_get_cstring(copy, &type, NULL) == 0 &&
	    judge(type) != AUTHONLY_PUBLIC)
		yes = refuse(ssh, what, type);
	sshbuf_free(copy);
	free(type);
	return yes;
}

static dispatch_fn *stock_open, *stock_global;

static int
input_open(int type, u_int32_t seq, struct ssh *ssh)
{
	u_int32_t id;
	int r;

	if (!refuse_message(ssh, "Channel", authonly_channel))
		return stock_open(type, seq, ssh);
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
input_global(int type, u_int32_t seq, struct ssh *ssh)
{
	u_char want_reply;
	int r;

	if (!refuse_message(ssh, "Request", authonly_global))
		return stock_global(type, seq, ssh);
	if ((r = sshpkt_get_string(ssh, NULL, NULL)) != 0 ||
	    (r = sshpkt_get_u8(ssh, &want_reply)) != 0 ||
	    (want_reply &&
	    ((r = sshpkt_start(ssh, SSH2_MSG_REQUEST_FAILURE)) != 0 ||
	    (r = sshpkt_send(ssh)) != 0)))
		sshpkt_fatal(ssh, r, "%s: refuse request", __func__);
	return 0;
}

void
authonly_server_start(struct ssh *ssh, const Authctxt *authctxt)
{
	who = authctxt;
	authonly_serve(&server, 0);
	stock_open = ssh->dispatch[SSH2_MSG_CHANNEL_OPEN];
	stock_global = ssh->dispatch[SSH2_MSG_GLOBAL_REQUEST];
	ssh_dispatch_set(ssh, SSH2_MSG_CHANNEL_OPEN, input_open);
	ssh_dispatch_set(ssh, SSH2_MSG_GLOBAL_REQUEST, input_global);
}

int
authonly_server_refuses(struct ssh *ssh, const char *type)
{
	enum authonly_private why = authonly_request(type);

	if (why == AUTHONLY_PUBLIC)
		return 0;
	if (refuse(ssh, "Request", type))
		return 1;
	authonly_set_private(why);
	return 0;
}

void
authonly_server_end(struct ssh *ssh)
{
	if (who != NULL)
		ended(ssh);
}
