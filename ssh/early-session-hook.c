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

#include "early.h"
#include "early-hook.h"
#include "early-input-hook.h"
#include "early-session-hook.h"
#include "further-hook.h"
#include "hayopt.h"

extern Options options;

int	early_session_put_cstring(struct ssh *, const void *);

static enum { NOT_SENT, SENT, NOT_TAKEN } state;
static int channel, is_answered, is_learning;
static struct ssh *connection;
static pid_t owner;		/* a child is not this process */

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
early_session_is_known(const struct ssh *ssh)
{
	return early_is_genuine(ssh, early_takes_session);
}

int
early_session_may(const struct ssh *ssh)
{
	const struct hayopt *opt = hayopt_get();

	/* A further connection looks first whether it is at the right host. */
	return early_session_is_plain() && !opt->none_enabled &&
	    !opt->none_switch && further_host() == NULL &&
	    early_session_is_known(ssh);
}

int
early_session_is_learning(void)
{
	return is_learning;
}

/* The server has answered. */
static void
confirm(struct ssh *ssh, int id, int success, void *arg)
{
	Channel *c = channel_by_id(ssh, id);

	(void)arg;
	is_answered = 1;
	if (success && c->remote_id == EARLY_SESSION_FIRST) {
		early_session_was_taken();
		early_input_confirmed(ssh);
		return;
	}
	early_wait_next(success ? "the session has another number" :
	    "the session was refused");
	if (success)
		fatal("The server calls the session %u, and not %u as others "
		    "of its kind. Try again.", c->remote_id,
		    EARLY_SESSION_FIRST);
	/*
	 * It will close the connection because of the command that follows,
	 * and stock has nothing more to say.
	 */
	cleanup_exit(255);
}

void
early_session_send(struct ssh *ssh)
{
	Channel *c;

	/* A server may answer a signature as if it was none. */
	if (state == SENT)
		return;
	connection = ssh;
	owner = getpid();
	channel = early_session_calls.open(ssh);
	c = channel_by_id(ssh, channel);
	c->remote_id = EARLY_SESSION_FIRST;
	c->have_remote_id = 1;
	early_session_calls.setup(ssh, channel, 1, NULL);
	c->have_remote_id = 0;
	channel_register_open_confirm(ssh, channel, confirm, NULL);
	state = SENT;
	debug("early login: opening the session with it");
	early_input_send(ssh);
}

static void
restore(const Channel *c, int fd, int which, int i)
{
	if (fd != -1 && (c->restore_block & which) != 0)
		(void)fcntl(fd, F_SETFL, c->restore_flags[i]);
}

void
early_session_cleanup(void)
{
	Channel *c;

	if (state == NOT_SENT || owner != getpid() ||
	    (c = channel_lookup(connection, channel)) == NULL)
		return;
	restore(c, c->rfd, CHANNEL_RESTORE_RFD, 0);
	restore(c, c->wfd, CHANNEL_RESTORE_WFD, 1);
	restore(c, c->efd, CHANNEL_RESTORE_EFD, 2);
}

void
early_session_refuse(void)
{
	if (state == SENT)
		state = NOT_TAKEN;
}

int
early_session_is_open(struct ssh *ssh, int *id)
{
	if (state == NOT_SENT)
		return 0;
	if (state == NOT_TAKEN) {
		channel_send_open(ssh, channel);
		channel_register_open_confirm(ssh, channel,
		    early_session_calls.setup, NULL);
		early_input_refused(ssh);
	}
	*id = channel;
	return 1;
}

int
early_session_is_unanswered(void)
{
	return state == SENT && !is_answered;
}

/* For upstream's clientloop.c. A request names itself in a string. */
int
early_session_put_cstring(struct ssh *ssh, const void *text)
{
	if (text != NULL &&
	    strcmp(text, "hostkeys-prove-00@openssh.com") == 0) {
		is_learning = 1;
		if (state == SENT)
			early_wait_next("keys of the host are to be learnt");
	}
	return sshpkt_put_cstring(ssh, text);
}
