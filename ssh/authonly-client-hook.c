/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See authonly-client-hook.h for the idea. */

#include "includes.h"

#include <sys/types.h>
#include "openbsd-compat/sys-queue.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "ssh.h"
#include "pathnames.h"
#include "misc.h"
#include "packet.h"
#include "channels.h"
#include "kex.h"
#include "log.h"
#include "readconf.h"
#include "sshbuf.h"
#include "ssherr.h"

#include "authonly-client-hook.h"
#include "authonly-hook.h"
#include "authonly-mux-hook.h"
#include "hayopt.h"

extern Options options;
extern struct sshbuf *command;

static int has_logged;

void
authonly_client_log_encrypted(const char *reason)
{
	if (!has_logged)
		logit("NoneSwitch: data stays encrypted, because %s.", reason);
	has_logged = 1;
}

int
authonly_client_has_logged(void)
{
	return has_logged;
}

static void
log_mode_change(struct ssh *ssh)
{
	const char *mode = authonly_mode_in_force();

	if (mode != NULL)
		logit("NoneSwitch: data is in clear from here on, "
		    "authenticated by %s.", mode);
	else
		logit("NoneSwitch: data is encrypted again, because %s.",
		    authonly_explain_encryption(ssh));
	has_logged = 1;
}

/* Typed input may be a password, with or without a terminal. */
static int
encrypt_typed_input(struct ssh *ssh, Channel *c, char *buf, int len)
{
	c->input_filter = NULL;		/* the connection stays encrypted */
	authonly_set_private(AUTHONLY_TYPED);
	authonly_start_encryption(ssh);
	return sshbuf_put(c->input, buf, len) == 0 ? 0 : -1;
}

static void
prepare_request(struct ssh *ssh, int channel, const char *type)
{
	Channel *c = channel_lookup(ssh, channel);

	if (c == NULL)
		return;
	if (c->ctl_chan != -1)
		authonly_mux_before_request(ssh, c, type);
	if (authonly_get_private() == AUTHONLY_PUBLIC &&
	    c->input_filter == NULL && isatty(c->rfd))
		channel_register_filter(ssh, channel, encrypt_typed_input,
		    NULL, NULL, NULL);
}

static const struct authonly_side client = {
	.mode_changed = log_mode_change, .before_request = prepare_request,
};

static int has_asked;

int
authonly_client_has_asked(void)
{
	return has_asked;
}

/* Notes what this process will request that requires encryption. */
static void
note_private_requests(int have_pty, int detaches)
{
	if (have_pty)
		authonly_set_private(AUTHONLY_TTY);
	if (options.stdio_forward_host != NULL)
		authonly_set_private(AUTHONLY_FORWARD);
	if (options.session_type == SESSION_TYPE_NONE && !detaches)
		return;
	if (sshbuf_len(command) == 0)
		authonly_set_private(AUTHONLY_SHELL);
	if (options.forward_agent)
		authonly_set_private(AUTHONLY_AGENT);
	if (options.forward_x11 && getenv("DISPLAY") != NULL)
		authonly_set_private(AUTHONLY_X11);
}

void
authonly_client_start(struct ssh *ssh, int have_pty, int detaches)
{
	if (!hayopt_get()->none_switch)
		return;
	if (ssh->kex == NULL) {
		authonly_client_log_encrypted(authonly_explain_answer(
		    AUTHONLY_PRIVATE, AUTHONLY_PROXY));
		return;
	}
	note_private_requests(have_pty, detaches);
	authonly_start(&client, 1);
	has_asked = 1;
	if (authonly_decide_now(ssh) == AUTHONLY_OFFER) {
		authonly_client_init_dispatch(ssh);
		authonly_negotiate(ssh);
	}
	if (authonly_mode_in_force() == NULL)
		authonly_client_log_encrypted(authonly_explain_encryption(ssh));
}
