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

#include "clear-hook.h"
#include "clearcli-hook.h"
#include "clearmux-hook.h"
#include "hayopt.h"

extern Options options;
extern struct sshbuf *command;

static int told;

void
clearcli_stays(const char *reason)
{
	if (!told)
		logit("NoneSwitch: data stays encrypted, because %s.", reason);
	told = 1;
}

int
clearcli_told(void)
{
	return told;
}

static void
changed(struct ssh *ssh)
{
	const char *mode = clear_mode();

	if (mode != NULL)
		logit("NoneSwitch: data is in clear from here on, "
		    "authenticated by %s.", mode);
	else
		logit("NoneSwitch: data is encrypted again, because %s.",
		    clear_why_not(ssh));
	told = 1;
}

/* What somebody types may be a password, terminal or not. */
static int
typed(struct ssh *ssh, Channel *c, char *buf, int len)
{
	c->input_filter = NULL;		/* once is enough */
	clear_set_private(CLEAR_TYPED);
	clear_encrypt(ssh);
	return sshbuf_put(c->input, buf, len) == 0 ? 0 : -1;
}

static void
request(struct ssh *ssh, int channel, const char *type)
{
	Channel *c = channel_lookup(ssh, channel);

	if (c == NULL)
		return;
	if (c->ctl_chan != -1)
		clearmux_request(ssh, c, type);
	if (clear_private() == CLEAR_PUBLIC &&
	    c->input_filter == NULL && isatty(c->rfd))
		channel_register_filter(ssh, channel, typed, NULL, NULL, NULL);
}

static const struct clear_side client = {
	.changed = changed, .request = request,
};

static int asked;

int
clearcli_asked(void)
{
	return asked;
}

/* What is about to be asked for need not be asked for in clear. */
static void
foresee(int have_pty, int detaches)
{
	if (have_pty)
		clear_set_private(CLEAR_TTY);
	if (options.stdio_forward_host != NULL)
		clear_set_private(CLEAR_FORWARD);
	if (options.session_type == SESSION_TYPE_NONE && !detaches)
		return;
	if (sshbuf_len(command) == 0)
		clear_set_private(CLEAR_SHELL);
	if (options.forward_agent)
		clear_set_private(CLEAR_AGENT);
	if (options.forward_x11 && getenv("DISPLAY") != NULL)
		clear_set_private(CLEAR_X11);
}

void
clearcli_start(struct ssh *ssh, int have_pty, int detaches)
{
	if (!hayopt_get()->none_switch)
		return;
	if (ssh->kex == NULL) {
		clearcli_stays(clear_reason(CLEAR_NEEDED, CLEAR_PROXY));
		return;
	}
	foresee(have_pty, detaches);
	clear_serve(&client, 1);
	asked = 1;
	if (clear_now(ssh) == CLEAR_OFFER) {
		clearcli_dispatch(ssh);
		clear_ask(ssh);
	}
	if (clear_mode() == NULL)
		clearcli_stays(clear_why_not(ssh));
}
