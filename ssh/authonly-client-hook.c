/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

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

#include "authonly-hook.h"
#include "authonly-client-hook.h"
#include "authonly-mux-hook.h"
#include "hayopt.h"

extern Options options;
extern struct sshbuf *command;

static int told;

void
authonly_client_stays(const char *reason)
{
	if (!told)
		logit("NoneSwitch: data stays encrypted, because %s.", reason);
	told = 1;
}

int
authonly_client_told(void)
{
	return told;
}

static void
changed(struct ssh *ssh)
{
	const char *mode = authonly_mode();

	if (mode != NULL)
		logit("NoneSwitch: data is in clear from here on, "
		    "authenticated by %s.", mode);
	else
		logit("NoneSwitch: data is encrypted again, because %s.",
		    authonly_why_not(ssh));
	told = 1;
}

/* What somebody types may be a password, terminal or not. */
static int
typed(struct ssh *ssh, Channel *c, char *buf, int len)
{
	c->input_filter = NULL;		/* once is enough */
	authonly_set_private(AUTHONLY_TYPED);
	authonly_encrypt(ssh);
	return sshbuf_put(c->input, buf, len) == 0 ? 0 : -1;
}

static void
request(struct ssh *ssh, int channel, const char *type)
{
	Channel *c = channel_lookup(ssh, channel);

	if (c == NULL)
		return;
	if (c->ctl_chan != -1)
		authonly_mux_request(ssh, c, type);
	if (authonly_private() == AUTHONLY_PUBLIC &&
	    c->input_filter == NULL && isatty(c->rfd))
		channel_register_filter(ssh, channel, typed, NULL, NULL, NULL);
}

static const struct authonly_side client = {
	.changed = changed, .request = request,
};

static int asked;

int
authonly_client_asked(void)
{
	return asked;
}

/* What is about to be asked for need not be asked for in clear. */
static void
foresee(int have_pty, int detaches)
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
		authonly_client_stays(authonly_reason(AUTHONLY_NEEDED, AUTHONLY_PROXY));
		return;
	}
	foresee(have_pty, detaches);
	authonly_serve(&client, 1);
	asked = 1;
	if (authonly_now(ssh) == AUTHONLY_OFFER) {
		authonly_client_dispatch(ssh);
		authonly_ask(ssh);
	}
	if (authonly_mode() == NULL)
		authonly_client_stays(authonly_why_not(ssh));
}
