/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * authonly-test: which side may name the modes of cipher/authonly.h. Compares all
 * combinations of the facts with a second form of the rule, and checks the
 * names.
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

/* Every fact is needed, and no other. */
static void
all_facts(void)
{
	struct authonly_facts f;
	enum authonly_answer answer;
	char what[80];
	int bits, yes;

	for (bits = 0; bits < 128 * AUTHONLY_PRIVATES; bits++) {
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
		claim(strlen(authonly_reason(answer, f.private)) > 0, what);
		claim(f.serving || answer == AUTHONLY_EARLY, what);
	}
}

int
main(void)
{
	all_facts();
	claim(authonly_is("none") && authonly_is(AUTHONLY_GMAC), "the modes are modes");
	claim(!authonly_is("aes128-gcm@openssh.com") && !authonly_is("") &&
	    !authonly_is("none,aes128-ctr"), "nothing else is");
	claim(authonly_request("pty-req") == AUTHONLY_TTY &&
	    authonly_request("x11-req") == AUTHONLY_X11 &&
	    authonly_request("auth-agent-req@openssh.com") == AUTHONLY_AGENT,
	    "three requests are private");
	claim(authonly_request("shell") == AUTHONLY_SHELL, "so is a shell");
	claim(authonly_request("exec") == AUTHONLY_PUBLIC &&
	    authonly_request("subsystem") == AUTHONLY_PUBLIC &&
	    authonly_request("env") == AUTHONLY_PUBLIC &&
	    authonly_request("exit-status") == AUTHONLY_PUBLIC,
	    "commands and subsystems are not");
	claim(authonly_request("pty-req ") == AUTHONLY_OTHER &&
	    authonly_request("") == AUTHONLY_OTHER &&
	    authonly_global("") == AUTHONLY_OTHER, "what is not known is");
	claim(authonly_channel("session") == AUTHONLY_PUBLIC &&
	    authonly_channel("mux listener") == AUTHONLY_PUBLIC &&
	    authonly_channel("mux-control") == AUTHONLY_PUBLIC,
	    "three kinds of channels carry nothing private by themselves");
	claim(authonly_channel("mux-proxy") == AUTHONLY_PROXY &&
	    authonly_channel("direct-tcpip") == AUTHONLY_FORWARD &&
	    authonly_channel("tun@openssh.com") == AUTHONLY_FORWARD &&
	    authonly_channel("session ") == AUTHONLY_FORWARD &&
	    authonly_channel("") == AUTHONLY_FORWARD, "all others do");
	claim(authonly_global("tcpip-forward") == AUTHONLY_FORWARD &&
	    authonly_global("streamlocal-forward@openssh.com") == AUTHONLY_FORWARD &&
	    authonly_global("cancel-tcpip-forward") == AUTHONLY_PUBLIC &&
	    authonly_global("no-more-sessions@openssh.com") == AUTHONLY_PUBLIC,
	    "a request to forward is private, one to end that is not");
	claim(authonly_key_bytes("none") == 1ULL << 36 &&
	    authonly_key_bytes("chacha20-poly1305@openssh.com") == 1ULL << 36,
	    "64 GiB a key");
	claim(authonly_key_bytes("3des-cbc") == 0 &&
	    authonly_key_bytes("aes128-ctr") == 0, "stock judges the others");
	printf("%d claims, %d failed\n", count, failed);
	return failed != 0;
}
