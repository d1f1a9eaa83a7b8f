/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See authonly.h for the idea. */

#include <string.h>

#include "authonly.h"

enum authonly_answer
authonly_decide(const struct authonly_facts *f)
{
	if (!f->serving)
		return AUTHONLY_NOT_AUTHENTICATED;
	if (!f->server && !f->asked)
		return AUTHONLY_NOT_ASKED;
	if (!f->enabled)
		return AUTHONLY_NOT_ENABLED;
	if (f->private != AUTHONLY_PUBLIC)
		return AUTHONLY_PRIVATE;
	if (!f->server && !f->peer)
		return AUTHONLY_NOT_SUPPORTED;
	if (!f->server && !f->usable)
		return AUTHONLY_NO_MAC;
	if (!f->server && f->refused)
		return AUTHONLY_REFUSED;
	return AUTHONLY_OFFER;
}

const char *
authonly_explain_answer(enum authonly_answer answer,
    enum authonly_private private)
{
	static const char *const reasons[] = {
		[AUTHONLY_PUBLIC] = "nothing private was requested",
		[AUTHONLY_TTY] = "a terminal was requested",
		[AUTHONLY_AGENT] = "agent forwarding was requested",
		[AUTHONLY_X11] = "X11 forwarding was requested",
		[AUTHONLY_TYPED] = "input is typed at a terminal",
		[AUTHONLY_SHELL] = "a shell was requested",
		[AUTHONLY_FORWARD] = "a forwarding was requested",
		[AUTHONLY_PROXY] = "a proxied client is attached",
		[AUTHONLY_MUX] = "a session of the shared connection did not "
		    "ask for it",
		[AUTHONLY_OTHER] = "an unknown feature was requested",
	};

	switch (answer) {
	case AUTHONLY_OFFER:
		return "it is allowed";
	case AUTHONLY_NOT_AUTHENTICATED:
		return "the user is not authenticated yet";
	case AUTHONLY_NOT_ASKED:
		return "it was not requested";
	case AUTHONLY_NOT_ENABLED:
		return "NoneEnabled is not set to yes here";
	case AUTHONLY_PRIVATE:
		return reasons[private];
	case AUTHONLY_NOT_SUPPORTED:
		return "the server does not support it";
	case AUTHONLY_NO_MAC:
		return "both sides share no MAC that ends in "
		    "-etm@openssh.com";
	case AUTHONLY_REFUSED:
		return "the server refused";
	}
	return "the reason is unknown";
}

struct type_class {
	const char	*name;
	enum authonly_private class;
};

static enum authonly_private
classify(const struct type_class *table, const char *name,
    enum authonly_private other)
{
	for (; table->name != NULL; table++) {
		if (strcmp(table->name, name) == 0)
			return table->class;
	}
	return other;
}

enum authonly_private
authonly_classify_request(const char *type)
{
	static const struct type_class table[] = {
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
		{ "agent-req", AUTHONLY_AGENT },	/* since 10.3 */
		{ "x11-req", AUTHONLY_X11 },
		{ "shell", AUTHONLY_SHELL },
		{ NULL, AUTHONLY_PUBLIC }
	};

	return classify(table, type, AUTHONLY_OTHER);
}

enum authonly_private
authonly_classify_channel(const char *type)
{
	static const struct type_class table[] = {
		{ "session", AUTHONLY_PUBLIC },	/* its requests count */
		{ "mux listener", AUTHONLY_PUBLIC },
		{ "mux-control", AUTHONLY_PUBLIC },
		{ "mux-proxy", AUTHONLY_PROXY },
		{ NULL, AUTHONLY_PUBLIC }
	};

	return classify(table, type, AUTHONLY_FORWARD);
}

enum authonly_private
authonly_classify_global(const char *type)
{
	static const struct type_class table[] = {
		{ "keepalive@openssh.com", AUTHONLY_PUBLIC },
		{ "no-more-sessions@openssh.com", AUTHONLY_PUBLIC },
		{ "hostkeys-prove-00@openssh.com", AUTHONLY_PUBLIC },
		{ "cancel-tcpip-forward", AUTHONLY_PUBLIC },
		{ "cancel-streamlocal-forward@openssh.com", AUTHONLY_PUBLIC },
		{ "tcpip-forward", AUTHONLY_FORWARD },
		{ "streamlocal-forward@openssh.com", AUTHONLY_FORWARD },
		{ NULL, AUTHONLY_PUBLIC }
	};

	return classify(table, type, AUTHONLY_OTHER);
}

int
authonly_is_mode(const char *cipher)
{
	return strcmp(cipher, AUTHONLY_NONE) == 0 ||
	    strcmp(cipher, AUTHONLY_GMAC) == 0;
}

unsigned long long
authonly_max_key_bytes(const char *cipher)
{
	if (authonly_is_mode(cipher) ||
	    strcmp(cipher, "chacha20-poly1305@openssh.com") == 0)
		return 1ULL << 36;
	return 0;
}
