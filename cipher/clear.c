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
	}
	return "of an unknown reason";
}

enum clear_private
clear_request(const char *type)
{
	if (strcmp(type, "pty-req") == 0)
		return CLEAR_TTY;
	if (strcmp(type, "auth-agent-req@openssh.com") == 0)
		return CLEAR_AGENT;
	if (strcmp(type, "x11-req") == 0)
		return CLEAR_X11;
	return CLEAR_PUBLIC;
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
