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
#include "hayopt.h"

extern Options options;

static void
changed(struct ssh *ssh)
{
	const char *mode = clear_mode();

	if (mode != NULL)
		logit("NoneSwitch: data is in clear from here on, "
		    "authenticated by %s.", mode);
	else
		logit("NoneSwitch: data is encrypted again, because %s.",
		    clear_reason(CLEAR_NEEDED, clear_private()));
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
request(struct ssh *ssh, int channel)
{
	Channel *c = channel_lookup(ssh, channel);

	if (clear_private() == CLEAR_PUBLIC && c != NULL &&
	    c->input_filter == NULL && isatty(c->rfd))
		channel_register_filter(ssh, channel, typed, NULL, NULL, NULL);
}

static const struct clear_side client = {
	.changed = changed, .request = request,
};

/* What this process is about to ask for, it need not ask for in clear. */
static void
foresee(int have_pty)
{
	if (have_pty)
		clear_set_private(CLEAR_TTY);
	if (options.session_type == SESSION_TYPE_NONE)
		return;
	if (options.forward_agent)
		clear_set_private(CLEAR_AGENT);
	if (options.forward_x11 && getenv("DISPLAY") != NULL)
		clear_set_private(CLEAR_X11);
}

void
clearcli_start(struct ssh *ssh, int have_pty)
{
	enum clear_answer answer;
	int r;

	if (!hayopt_get()->none_switch || ssh->kex == NULL)
		return;
	foresee(have_pty);
	clear_serve(&client, 1);
	if ((answer = clear_now(ssh)) != CLEAR_OFFER) {
		logit("NoneSwitch: data stays encrypted, because %s.",
		    clear_reason(answer, clear_private()));
		return;
	}
	clearcli_dispatch(ssh);
	clear_finish_kex(ssh);
	if ((r = kex_start_rekex(ssh)) != 0)
		fatal_fr(r, "start key exchange");
	clear_finish_kex(ssh);
	if (clear_mode() == NULL)
		logit("NoneSwitch: data stays encrypted, because the server "
		    "refused.");
}
