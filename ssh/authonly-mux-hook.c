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
#define TELL	"tell"		/* asks, and wants to hear what becomes of it */
#define QUIET	"quiet"		/* asks */
#define HEARD	"1"		/* the master's: it knows such a wish */

extern Options options;
extern u_int muxclient_command;

/*
 * The extensions of a hello
 */

static void
put(struct sshbuf *m, const char *value)
{
	int r;

	if ((r = sshbuf_put_cstring(m, NAME)) != 0 ||
	    (r = sshbuf_put_cstring(m, value)) != 0)
		fatal_fr(r, "compose hello");
}

/*
 * The value of ours, NULL if there is none. The caller frees it. What cannot
 * be parsed is none; the caller of our callers ends the connection for it.
 */
static char *
get(const struct sshbuf *m)
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
 * The process that uses the connection
 */

void
authonly_mux_ask(struct sshbuf *m)
{
	if (!hayopt_get()->none_switch)
		return;
	if (muxclient_command == SSHMUX_COMMAND_STDIO_FWD)
		authonly_client_stays(authonly_reason(AUTHONLY_NEEDED, AUTHONLY_FORWARD));
	if (muxclient_command != SSHMUX_COMMAND_OPEN)
		return;
	if (!hayopt_get()->none_enabled)
		authonly_client_stays(authonly_reason(AUTHONLY_FORBIDDEN, AUTHONLY_PUBLIC));
	else
		put(m, authonly_client_told() ||
		    options.log_level < SYSLOG_LEVEL_INFO ? QUIET : TELL);
}

void
authonly_mux_answered(const struct sshbuf *m)
{
	char *value = get(m);

	if (value == NULL && hayopt_get()->none_switch &&
	    muxclient_command == SSHMUX_COMMAND_OPEN)
		authonly_client_stays("the master of the shared connection did not "
		    "ask for it");
	free(value);
}

/*
 * The master
 */

/*
 * The wishes, by control channel. Numbers are used again, but each use begins
 * with a hello, which writes the entry anew.
 */
static struct {
	char	**of;
	size_t	 n;
} wish;

void
authonly_mux_answer(struct sshbuf *output)
{
	int r;

	if (!authonly_client_asked())
		return;
	put(output, HEARD);
	if ((r = sshbuf_poke_u32(output, 0, sshbuf_len(output) - 4)) != 0)
		fatal_fr(r, "compose hello");
}

void
authonly_mux_asked(int control, const struct sshbuf *m)
{
	size_t i = control;

	if (control < 0)
		return;
	if (i >= wish.n) {
		wish.of = xrecallocarray(wish.of, wish.n, i + 8,
		    sizeof(*wish.of));
		wish.n = i + 8;
	}
	free(wish.of[i]);
	wish.of[i] = get(m);
}

static int
wishes(int control, const char *value)
{
	return control >= 0 && (size_t)control < wish.n &&
	    wish.of[control] != NULL && strcmp(wish.of[control], value) == 0;
}

/* A line on the standard error of the process that the session belongs to. */
static void
tell(struct ssh *ssh, Channel *c)
{
	enum authonly_answer answer = authonly_now(ssh);
	const char *mode = authonly_mode();
	int r;

	if (answer == AUTHONLY_OFFER && mode != NULL)
		r = sshbuf_putf(c->extended, "NoneSwitch: data is in clear "
		    "from here on, authenticated by %s.\r\n", mode);
	else
		r = sshbuf_putf(c->extended, "NoneSwitch: data stays "
		    "encrypted, because %s.\r\n", answer == AUTHONLY_OFFER ?
		    "the server refused" :
		    authonly_reason(answer, authonly_private()));
	if (r != 0)
		fatal_fr(r, "tell user");
}

void
authonly_mux_request(struct ssh *ssh, Channel *c, const char *type)
{
	int told = wishes(c->ctl_chan, TELL);

	if (!told && !wishes(c->ctl_chan, QUIET))
		authonly_before(ssh, AUTHONLY_GUEST);
	else if (told && (strcmp(type, "exec") == 0 ||
	    strcmp(type, "subsystem") == 0 || strcmp(type, "shell") == 0))
		tell(ssh, c);
}
