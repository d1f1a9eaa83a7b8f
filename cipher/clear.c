/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

#include <string.h>

#include "clear.h"

enum clear_answer
clear_decide(const struct clear_facts *f)
{
	if (!f->serving)
		return CLEAR_EARLY;
	if (!f->server && !f->asked)
		return CLEAR_UNASKED;
	if (!f->enabled)
		return CLEAR_FORBIDDEN;
	if (f->private != CLEAR_PUBLIC)
		return CLEAR_NEEDED;
	if (!f->server && !f->peer)
		return CLEAR_UNKNOWN;
	if (!f->server && !f->usable)
		return CLEAR_NO_MAC;
	if (!f->server && f->refused)
		return CLEAR_REFUSED;
	return CLEAR_OFFER;
}

const char *
clear_reason(enum clear_answer answer, enum clear_private private)
{
	static const char *const needed[] = {
		[CLEAR_PUBLIC] = "nothing private was asked for",
		[CLEAR_TTY] = "a terminal was asked for",
		[CLEAR_AGENT] = "agent forwarding was asked for",
		[CLEAR_X11] = "X11 forwarding was asked for",
		[CLEAR_TYPED] = "input is typed at a terminal",
		[CLEAR_SHELL] = "a shell was asked for",
		[CLEAR_FORWARD] = "a forwarding was asked for",
		[CLEAR_PROXY] = "a proxied client is attached",
		[CLEAR_GUEST] = "a session of the shared connection did not "
		    "ask for it",
		[CLEAR_OTHER] = "something unknown was asked for",
	};

	switch (answer) {
	case CLEAR_OFFER:
		return "it is allowed";
	case CLEAR_EARLY:
		return "nobody is authenticated yet";
	case CLEAR_UNASKED:
		return "nobody asked for it";
	case CLEAR_FORBIDDEN:
		return "NoneEnabled is not set to yes here";
	case CLEAR_NEEDED:
		return needed[private];
	case CLEAR_UNKNOWN:
		return "the server does not know how";
	case CLEAR_NO_MAC:
		return "both sides share no MAC that ends in "
		    "-etm@openssh.com";
	case CLEAR_REFUSED:
		return "the server refused";
	}
	return "of an unknown reason";
}

struct meaning {
	const char	*name;
	enum clear_private why;
};

static enum clear_private
look_up(const struct meaning *m, const char *name, enum clear_private other)
{
	for (; m->name != NULL; m++) {
		if (strcmp(m->name, name) == 0)
			return m->why;
	}
	return other;
}

enum clear_private
clear_request(const char *type)
{
	static const struct meaning table[] = {
		{ "exec", CLEAR_PUBLIC },
		{ "subsystem", CLEAR_PUBLIC },
		{ "env", CLEAR_PUBLIC },
		{ "signal", CLEAR_PUBLIC },
		{ "exit-status", CLEAR_PUBLIC },
		{ "exit-signal", CLEAR_PUBLIC },
		{ "eow@openssh.com", CLEAR_PUBLIC },
		{ "keepalive@openssh.com", CLEAR_PUBLIC },
		{ "pty-req", CLEAR_TTY },
		{ "window-change", CLEAR_TTY },
		{ "auth-agent-req@openssh.com", CLEAR_AGENT },
		{ "x11-req", CLEAR_X11 },
		{ "shell", CLEAR_SHELL },
		{ NULL, CLEAR_PUBLIC }
	};

	return look_up(table, type, CLEAR_OTHER);
}

enum clear_private
clear_channel(const char *type)
{
	static const struct meaning table[] = {
		{ "session", CLEAR_PUBLIC },	/* its requests decide */
		{ "mux listener", CLEAR_PUBLIC },
		{ "mux-control", CLEAR_PUBLIC },
		{ "mux-proxy", CLEAR_PROXY },
		{ NULL, CLEAR_PUBLIC }
	};

	return look_up(table, type, CLEAR_FORWARD);
}

enum clear_private
clear_global(const char *type)
{
	static const struct meaning table[] = {
		{ "keepalive@openssh.com", CLEAR_PUBLIC },
		{ "no-more-sessions@openssh.com", CLEAR_PUBLIC },
		{ "hostkeys-prove-00@openssh.com", CLEAR_PUBLIC },
		{ "cancel-tcpip-forward", CLEAR_PUBLIC },
		{ "cancel-streamlocal-forward@openssh.com", CLEAR_PUBLIC },
		{ "tcpip-forward", CLEAR_FORWARD },
		{ "streamlocal-forward@openssh.com", CLEAR_FORWARD },
		{ NULL, CLEAR_PUBLIC }
	};

	return look_up(table, type, CLEAR_OTHER);
}

int
clear_is(const char *cipher)
{
	return strcmp(cipher, CLEAR_NONE) == 0 ||
	    strcmp(cipher, CLEAR_GMAC) == 0;
}

unsigned long long
clear_key_bytes(const char *cipher)
{
	if (clear_is(cipher) ||
	    strcmp(cipher, "chacha20-poly1305@openssh.com") == 0)
		return 1ULL << 36;
	return 0;
}
