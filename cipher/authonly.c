/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

#include <string.h>

#include "authonly.h"

enum authonly_answer
authonly_decide(const struct authonly_facts *f)
{
	if (!f->serving)
		return AUTHONLY_EARLY;
	if (!f->server && !f->asked)
		return AUTHONLY_UNASKED;
	if (!f->enabled)
		return AUTHONLY_FORBIDDEN;
	if (f->private != AUTHONLY_PUBLIC)
		return AUTHONLY_NEEDED;
	if (!f->server && !f->peer)
		return AUTHONLY_UNKNOWN;
	if (!f->server && !f->usable)
		return AUTHONLY_NO_MAC;
	if (!f->server && f->refused)
		return AUTHONLY_REFUSED;
	return AUTHONLY_OFFER;
}

const char *
authonly_reason(enum authonly_answer answer, enum authonly_private private)
{
	static const char *const needed[] = {
		[AUTHONLY_PUBLIC] = "nothing private was asked for",
		[AUTHONLY_TTY] = "a terminal was asked for",
		[AUTHONLY_AGENT] = "agent forwarding was asked for",
		[AUTHONLY_X11] = "X11 forwarding was asked for",
		[AUTHONLY_TYPED] = "input is typed at a terminal",
		[AUTHONLY_SHELL] = "a shell was asked for",
		[AUTHONLY_FORWARD] = "a forwarding was asked for",
		[AUTHONLY_PROXY] = "a proxied client is attached",
		[AUTHONLY_GUEST] = "a session of the shared connection did not "
		    "ask for it",
		[AUTHONLY_OTHER] = "something unknown was asked for",
	};

	switch (answer) {
	case AUTHONLY_OFFER:
		return "it is allowed";
	case AUTHONLY_EARLY:
		return "nobody is authenticated yet";
	case AUTHONLY_UNASKED:
		return "nobody asked for it";
	case AUTHONLY_FORBIDDEN:
		return "NoneEnabled is not set to yes here";
	case AUTHONLY_NEEDED:
		return needed[private];
	case AUTHONLY_UNKNOWN:
		return "the server does not know how";
	case AUTHONLY_NO_MAC:
		return "both sides share no MAC that ends in "
		    "-etm@openssh.com";
	case AUTHONLY_REFUSED:
		return "the server refused";
	}
	return "of an unknown reason";
}

struct meaning {
	const char	*name;
	enum authonly_private why;
};

static enum authonly_private
look_up(const struct meaning *m, const char *name, enum authonly_private other)
{
	for (; m->name != NULL; m++) {
		if (strcmp(m->name, name) == 0)
			return m->why;
	}
	return other;
}

enum authonly_private
authonly_request(const char *type)
{
	static const struct meaning table[] = {
		{ "exec", AUTHONLY_PUBLIC },
		{ "subsystem", AUTHONLY_PUBLIC },
		{ "env", AUTHONLY_PUBLIC },
		{ "signal", AUTHONLY_PUBLIC },
		{ "exit-status", AUTHONLY_PUBLIC },
		{ "exit-signal", AUTHONLY_PUBLIC },
		{ "eow@openssh.com", AUTHONLY_PUBLIC },
		{ "keepalive@openssh.com", AUTHONLY_PUBLIC },
		{ "pty-req", AUTHONLY_TTY },
		{ "window-change", AUTHONLY_TTY },
		{ "auth-agent-req@openssh.com", AUTHONLY_AGENT },
		{ "agent-req", AUTHONLY_AGENT },	/* its name since 10.3 */
		{ "x11-req", AUTHONLY_X11 },
		{ "shell", AUTHONLY_SHELL },
		{ NULL, AUTHONLY_PUBLIC }
	};

	return look_up(table, type, AUTHONLY_OTHER);
}

enum authonly_private
authonly_channel(const char *type)
{
	static const struct meaning table[] = {
		{ "session", AUTHONLY_PUBLIC },	/* its requests decide */
		{ "mux listener", AUTHONLY_PUBLIC },
		{ "mux-control", AUTHONLY_PUBLIC },
		{ "mux-proxy", AUTHONLY_PROXY },
		{ NULL, AUTHONLY_PUBLIC }
	};

	return look_up(table, type, AUTHONLY_FORWARD);
}

enum authonly_private
authonly_global(const char *type)
{
	static const struct meaning table[] = {
		{ "keepalive@openssh.com", AUTHONLY_PUBLIC },
		{ "no-more-sessions@openssh.com", AUTHONLY_PUBLIC },
		{ "hostkeys-prove-00@openssh.com", AUTHONLY_PUBLIC },
		{ "cancel-tcpip-forward", AUTHONLY_PUBLIC },
		{ "cancel-streamlocal-forward@openssh.com", AUTHONLY_PUBLIC },
		{ "tcpip-forward", AUTHONLY_FORWARD },
		{ "streamlocal-forward@openssh.com", AUTHONLY_FORWARD },
		{ NULL, AUTHONLY_PUBLIC }
	};

	return look_up(table, type, AUTHONLY_OTHER);
}

int
authonly_is(const char *cipher)
{
	return strcmp(cipher, AUTHONLY_NONE) == 0 ||
	    strcmp(cipher, AUTHONLY_GMAC) == 0;
}

unsigned long long
authonly_key_bytes(const char *cipher)
{
	if (authonly_is(cipher) ||
	    strcmp(cipher, "chacha20-poly1305@openssh.com") == 0)
		return 1ULL << 36;
	return 0;
}
