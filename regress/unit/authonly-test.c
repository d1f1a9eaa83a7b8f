/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * authonly-test: which side may name the modes of cipher/authonly.h. Compares
 * all combinations of the facts with a second form of the rule, and checks what
 * the names of requests, channels and ciphers mean.
 *
 * Prints each failure and a count; exits with 1 if there was one.
 */

#include <stdio.h>
#include <string.h>

#include "authonly.h"

static int count, failed;

static void
claim(int so, const char *what)
{
	count++;
	if (!so) {
		failed++;
		printf("not so: %s\n", what);
	}
}

/* Exactly these facts are necessary. */
static void
test_all_facts(void)
{
	struct authonly_facts f;
	enum authonly_answer answer;
	char what[80];
	int bits, yes;

	for (bits = 0; bits < 128 * AUTHONLY_NPRIVATE; bits++) {
		f = (struct authonly_facts){
			.server = bits & 1, .serving = bits >> 1 & 1,
			.enabled = bits >> 2 & 1, .asked = bits >> 3 & 1,
			.peer = bits >> 4 & 1, .usable = bits >> 5 & 1,
			.refused = bits >> 6 & 1,
			.private = (enum authonly_private)(bits / 128),
		};
		yes = f.serving && f.enabled && f.private == AUTHONLY_PUBLIC &&
		    (f.server ||
		    (f.asked && f.peer && f.usable && !f.refused));
		answer = authonly_decide(&f);
		snprintf(what, sizeof(what), "facts %d: %s", bits,
		    yes ? "yes" : "no");
		claim((answer == AUTHONLY_OFFER) == yes, what);
		claim(strlen(authonly_explain_answer(answer, f.private)) > 0,
		    what);
		claim(f.serving || answer == AUTHONLY_NOT_AUTHENTICATED, what);
	}
}

static const struct type {
	enum authonly_private (*classify)(const char *);
	const char	*name;
	enum authonly_private class;
} types[] = {
	{ authonly_classify_request, "pty-req", AUTHONLY_TTY },
	{ authonly_classify_request, "x11-req", AUTHONLY_X11 },
	{ authonly_classify_request, "auth-agent-req@openssh.com",
	    AUTHONLY_AGENT },
	{ authonly_classify_request, "shell", AUTHONLY_SHELL },
	{ authonly_classify_request, "exec", AUTHONLY_PUBLIC },
	{ authonly_classify_request, "subsystem", AUTHONLY_PUBLIC },
	{ authonly_classify_request, "env", AUTHONLY_PUBLIC },
	{ authonly_classify_request, "exit-status", AUTHONLY_PUBLIC },
	{ authonly_classify_request, "pty-req ", AUTHONLY_OTHER },
	{ authonly_classify_request, "", AUTHONLY_OTHER },

	{ authonly_classify_channel, "session", AUTHONLY_PUBLIC },
	{ authonly_classify_channel, "mux listener", AUTHONLY_PUBLIC },
	{ authonly_classify_channel, "mux-control", AUTHONLY_PUBLIC },
	{ authonly_classify_channel, "mux-proxy", AUTHONLY_PROXY },
	{ authonly_classify_channel, "direct-tcpip", AUTHONLY_FORWARD },
	{ authonly_classify_channel, "tun@openssh.com", AUTHONLY_FORWARD },
	{ authonly_classify_channel, "session ", AUTHONLY_FORWARD },
	{ authonly_classify_channel, "", AUTHONLY_FORWARD },

	{ authonly_classify_global, "tcpip-forward", AUTHONLY_FORWARD },
	{ authonly_classify_global, "streamlocal-forward@openssh.com",
	    AUTHONLY_FORWARD },
	{ authonly_classify_global, "cancel-tcpip-forward", AUTHONLY_PUBLIC },
	{ authonly_classify_global, "no-more-sessions@openssh.com",
	    AUTHONLY_PUBLIC },
	{ authonly_classify_global, "", AUTHONLY_OTHER },
};

static const struct cipher {
	const char	*name;
	int		 is_mode;
	unsigned long long max_key_bytes;
} ciphers[] = {
	{ "none", 1, 1ULL << 36 },
	{ AUTHONLY_GMAC, 1, 1ULL << 36 },
	{ "chacha20-poly1305@openssh.com", 0, 1ULL << 36 },
	{ "aes128-gcm@openssh.com", 0, 0 },
	{ "aes128-ctr", 0, 0 },
	{ "3des-cbc", 0, 0 },
	{ "none,aes128-ctr", 0, 0 },
	{ "", 0, 0 },
};

int
main(void)
{
	size_t i;

	test_all_facts();
	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		claim(types[i].classify(types[i].name) == types[i].class,
		    types[i].name);
	for (i = 0; i < sizeof(ciphers) / sizeof(ciphers[0]); i++) {
		claim(authonly_is_mode(ciphers[i].name) == ciphers[i].is_mode,
		    ciphers[i].name);
		claim(authonly_max_key_bytes(ciphers[i].name) ==
		    ciphers[i].max_key_bytes, ciphers[i].name);
	}
	printf("%d claims, %d failed\n", count, failed);
	return failed != 0;
}
