/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See authonly-mux-hook.h for the idea. */

#include "includes.h"

#include <sys/types.h>
#include "openbsd-compat/sys-queue.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ssh.h"
#include "pathnames.h"
#include "misc.h"
#include "packet.h"
#include "channels.h"
#include "clientloop.h"
#include "log.h"
#include "readconf.h"
#include "sshbuf.h"
#include "ssherr.h"
#include "xmalloc.h"

#include "authonly-client-hook.h"
#include "authonly-mux-hook.h"
#include "hayopt.h"

#define NAME	"authonly@hayate.invalid"
#define TELL	"tell"		/* asks, and wants to be told the answer */
#define QUIET	"quiet"		/* asks */
#define MASTER	"1"		/* the master asked for a mode itself */

extern Options options;
extern u_int muxclient_command;

/*
 * The extensions of a hello
 */

static void
put_extension(struct sshbuf *m, const char *value)
{
	int r;

	if ((r = sshbuf_put_cstring(m, NAME)) != 0 ||
	    (r = sshbuf_put_cstring(m, value)) != 0)
		fatal_fr(r, "compose hello");
}

/*
 * Returns the value of our extension, which the caller frees; NULL if there is
 * none, or if the hello cannot be parsed: mux.c then ends the connection.
 */
static char *
copy_extension(const struct sshbuf *m)
{
	struct sshbuf *copy;
	char *name, *value, *found = NULL;

	if ((copy = sshbuf_from(sshbuf_ptr(m), sshbuf_len(m))) == NULL)
		fatal_f("out of memory");
	while (found == NULL && sshbuf_len(copy) > 0) {
		name = value = NULL;
		if (sshbuf_get_cstring(copy, &name, NULL) != 0 ||
		    sshbuf_get_cstring(copy, &value, NULL) != 0) {
			free(name);
			break;
		}
		if (strcmp(name, NAME) == 0)
			found = value;
		else
			free(value);
		free(name);
	}
	sshbuf_free(copy);
	return found;
}

/*
 * In a process that uses the connection
 */

void
authonly_mux_put_request(struct sshbuf *m)
{
	if (!hayopt_get()->none_switch)
		return;
	if (muxclient_command == SSHMUX_COMMAND_STDIO_FWD)
		authonly_client_log_encrypted(authonly_explain_answer(
		    AUTHONLY_PRIVATE, AUTHONLY_FORWARD));
	if (muxclient_command != SSHMUX_COMMAND_OPEN)
		return;
	if (!hayopt_get()->none_enabled)
		authonly_client_log_encrypted(authonly_explain_answer(
		    AUTHONLY_NOT_ENABLED, AUTHONLY_PUBLIC));
	else
		put_extension(m, authonly_client_has_logged() ||
		    options.log_level < SYSLOG_LEVEL_INFO ? QUIET : TELL);
}

void
authonly_mux_read_answer(const struct sshbuf *m)
{
	char *value = copy_extension(m);

	if (value == NULL && hayopt_get()->none_switch &&
	    muxclient_command == SSHMUX_COMMAND_OPEN)
		authonly_client_log_encrypted("the master of the shared "
		    "connection did not ask for it");
	free(value);
}

/*
 * In the master
 */

/*
 * The wishes by number of the control channel: NULL, TELL, QUIET, or any other
 * text of the client. A number may be used again, but each use begins with a
 * hello, which replaces the entry.
 */
static char **requests;
static size_t nrequests;

void
authonly_mux_put_answer(struct sshbuf *output)
{
	int r;

	if (!authonly_client_has_asked())
		return;
	put_extension(output, MASTER);
	if ((r = sshbuf_poke_u32(output, 0, sshbuf_len(output) - 4)) != 0)
		fatal_fr(r, "compose hello");
}

void
authonly_mux_read_request(int control, const struct sshbuf *m)
{
	size_t i = control;

	if (control < 0)
		return;
	if (i >= nrequests) {
		requests = xrecallocarray(requests, nrequests, i + 8,
		    sizeof(*requests));
		nrequests = i + 8;
	}
	free(requests[i]);
	requests[i] = copy_extension(m);
}

static int
has_request(int control, const char *value)
{
	return control >= 0 && (size_t)control < nrequests &&
	    requests[control] != NULL && strcmp(requests[control], value) == 0;
}

/* Writes a line to the standard error of the process that has the session. */
static void
tell_user(struct ssh *ssh, Channel *c)
{
	const char *mode = authonly_mode_in_force();
	int r;

	if (authonly_decide_now(ssh) == AUTHONLY_OFFER && mode != NULL)
		r = sshbuf_putf(c->extended, "NoneSwitch: data is in clear "
		    "from here on, authenticated by %s.\r\n", mode);
	else
		r = sshbuf_putf(c->extended, "NoneSwitch: data stays "
		    "encrypted, because %s.\r\n",
		    authonly_explain_encryption(ssh));
	if (r != 0)
		fatal_fr(r, "tell user");
}

void
authonly_mux_before_request(struct ssh *ssh, Channel *c, const char *type)
{
	int tell = has_request(c->ctl_chan, TELL);

	if (!tell && !has_request(c->ctl_chan, QUIET))
		authonly_encrypt_before(ssh, AUTHONLY_MUX);
	else if (tell && (strcmp(type, "exec") == 0 ||
	    strcmp(type, "subsystem") == 0 || strcmp(type, "shell") == 0))
		tell_user(ssh, c);
}
