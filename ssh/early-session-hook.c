/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See early-session-hook.h for the idea. */

#include "includes.h"

#include <sys/types.h>

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "openbsd-compat/sys-queue.h"

#include "channels.h"
#include "log.h"
#include "misc.h"
#include "packet.h"
#include "pathnames.h"
#include "ssh.h"
#include "readconf.h"
#include "sshbuf.h"

#include "early-auth-hook.h"
#include "early-requests-ssh-hook.h"
#include "early-servers.h"
#include "early-session-hook.h"
#include "extra-conn-hook.h"
#include "hayopt.h"

extern Options options;

int	early_session_put_cstring(struct ssh *, const void *);

/*
 *   NOT_SENT --> SENT ------------> CONFIRMED
 *                 |  ^   the server's reply to the open
 *     the signature |  | another signature follows
 *    is refused     v  |
 *                REJECTED
 */
static enum early_state {
	SESSION_NOT_SENT,
	SESSION_SENT,		/* behind the signature; no reply yet */
	SESSION_CONFIRMED,	/* the server has opened it */
	SESSION_REJECTED	/* with the signature, or by itself */
} state;

/* Valid unless SESSION_NOT_SENT */
static int channel;
static struct ssh *connection;
static pid_t owner;		/* a child is not this process */

static int is_learning;		/* host keys are to be proven */

static void
set_state(enum early_state to)
{
	if (to == SESSION_SENT ? state == SESSION_CONFIRMED :
	    state != SESSION_SENT)
		fatal_f("assertion failed: state %d after %d", (int)to,
		    (int)state);
	state = to;
}

static int
was_sent(void)
{
	return state == SESSION_SENT || state == SESSION_CONFIRMED;
}

int
early_session_is_plain(void)
{
	return options.session_type != SESSION_TYPE_NONE &&
	    options.stdio_forward_host == NULL &&
	    options.num_local_forwards == 0 &&
	    options.num_remote_forwards == 0 &&
	    options.tun_open == SSH_TUNMODE_NO && !options.forward_x11 &&
	    !options.forward_agent && !options.compression &&
	    options.control_master == SSHCTL_MASTER_NO &&
	    !options.control_persist && !options.fork_after_authentication &&
	    (options.local_command == NULL || !options.permit_local_command);
}

int
early_session_is_allowed(const struct ssh *ssh)
{
	return early_auth_is_verified(ssh, early_server_takes_session);
}

int
early_session_is_possible(const struct ssh *ssh)
{
	const struct hayopt *opt = hayopt_get();

	/* An additional connection first verifies its host. */
	return early_session_is_plain() && !opt->none_enabled &&
	    !opt->none_switch && extra_conn_host() == NULL &&
	    early_session_is_allowed(ssh);
}

int
early_session_is_learning(void)
{
	return is_learning;
}

/* The server has replied to the open. */
static void
take_open_reply(struct ssh *ssh, int id, int success, void *arg)
{
	Channel *c = channel_by_id(ssh, id);

	(void)arg;
	set_state(success ? SESSION_CONFIRMED : SESSION_REJECTED);
	if (success && c->remote_id == EARLY_SESSION_FIRST) {
		early_auth_session_accepted();
		early_requests_ssh_confirmed(ssh);
		return;
	}
	early_auth_defer_session(success ? "the session has another number" :
	    "the session was refused");
	if (success)
		fatal("server assigned channel %u instead of %u to the early "
		    "session; try again", c->remote_id, EARLY_SESSION_FIRST);
	/*
	 * The server closes the connection because of the command that follows,
	 * and stock has no other message.
	 */
	cleanup_exit(255);
}

void
early_session_send(struct ssh *ssh)
{
	Channel *c;

	/* A server may answer a signature as if it was none. */
	if (was_sent())
		return;
	connection = ssh;
	owner = getpid();
	channel = early_session_calls.open(ssh);
	c = channel_by_id(ssh, channel);
	c->remote_id = EARLY_SESSION_FIRST;
	c->have_remote_id = 1;
	early_session_calls.setup(ssh, channel, 1, NULL);
	c->have_remote_id = 0;
	channel_register_open_confirm(ssh, channel, take_open_reply, NULL);
	set_state(SESSION_SENT);
	debug("early login: opening the session early");
	early_requests_ssh_send(ssh);
}

static void
restore_blocking(const Channel *c, int fd, int which, int i)
{
	if (fd != -1 && (c->restore_block & which) != 0)
		(void)fcntl(fd, F_SETFL, c->restore_flags[i]);
}

void
early_session_cleanup(void)
{
	Channel *c;

	if (state == SESSION_NOT_SENT || owner != getpid() ||
	    (c = channel_lookup(connection, channel)) == NULL)
		return;
	restore_blocking(c, c->rfd, CHANNEL_RESTORE_RFD, 0);
	restore_blocking(c, c->wfd, CHANNEL_RESTORE_WFD, 1);
	restore_blocking(c, c->efd, CHANNEL_RESTORE_EFD, 2);
}

void
early_session_rejected(void)
{
	if (state == SESSION_SENT)
		set_state(SESSION_REJECTED);
}

int
early_session_is_open(struct ssh *ssh, int *id)
{
	if (state == SESSION_NOT_SENT)
		return 0;
	if (state == SESSION_REJECTED) {
		channel_send_open(ssh, channel);
		channel_register_open_confirm(ssh, channel,
		    early_session_calls.setup, NULL);
		early_requests_ssh_rejected(ssh);
	}
	*id = channel;
	return 1;
}

int
early_session_is_pending(void)
{
	return state == SESSION_SENT;
}

/* For upstream's clientloop.c. A request names itself in a string. */
int
early_session_put_cstring(struct ssh *ssh, const void *text)
{
	if (text != NULL &&
	    strcmp(text, "hostkeys-prove-00@openssh.com") == 0) {
		is_learning = 1;
		if (was_sent())
			early_auth_defer_session(
			    "keys of the host are to be learnt");
	}
	return sshpkt_put_cstring(ssh, text);
}
