/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * Who may name the modes of cipher/clear.h: all combinations of the facts,
 * against the rule in other words; and what the names mean.
 *
 * Prints what failed and a count; the status says the same.
 */

#include <stdio.h>
#include <string.h>

#include "clear.h"

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
	struct clear_facts f;
	enum clear_answer answer;
	char what[80];
	int bits, yes;

	for (bits = 0; bits < 128 * CLEAR_PRIVATES; bits++) {
		f = (struct clear_facts){
			.server = bits & 1, .serving = bits >> 1 & 1,
			.enabled = bits >> 2 & 1, .asked = bits >> 3 & 1,
			.peer = bits >> 4 & 1, .usable = bits >> 5 & 1,
			.refused = bits >> 6 & 1,
			.private = (enum clear_private)(bits / 128),
		};
		yes = f.serving && f.enabled && f.private == CLEAR_PUBLIC &&
		    (f.server ||
		    (f.asked && f.peer && f.usable && !f.refused));
		answer = clear_decide(&f);
		snprintf(what, sizeof(what), "facts %d: %s", bits,
		    yes ? "yes" : "no");
		claim((answer == CLEAR_OFFER) == yes, what);
		claim(strlen(clear_reason(answer, f.private)) > 0, what);
		claim(f.serving || answer == CLEAR_EARLY, what);
	}
}

int
main(void)
{
	all_facts();
	claim(clear_is("none") && clear_is(CLEAR_GMAC), "the modes are modes");
	claim(!clear_is("aes128-gcm@openssh.com") && !clear_is("") &&
	    !clear_is("none,aes128-ctr"), "nothing else is");
	claim(clear_request("pty-req") == CLEAR_TTY &&
	    clear_request("x11-req") == CLEAR_X11 &&
	    clear_request("auth-agent-req@openssh.com") == CLEAR_AGENT,
	    "three requests are private");
	claim(clear_request("shell") == CLEAR_SHELL, "so is a shell");
	claim(clear_request("exec") == CLEAR_PUBLIC &&
	    clear_request("subsystem") == CLEAR_PUBLIC &&
	    clear_request("env") == CLEAR_PUBLIC &&
	    clear_request("exit-status") == CLEAR_PUBLIC,
	    "commands and subsystems are not");
	claim(clear_request("pty-req ") == CLEAR_OTHER &&
	    clear_request("") == CLEAR_OTHER &&
	    clear_global("") == CLEAR_OTHER, "what is not known is");
	claim(clear_channel("session") == CLEAR_PUBLIC &&
	    clear_channel("mux listener") == CLEAR_PUBLIC &&
	    clear_channel("mux-control") == CLEAR_PUBLIC,
	    "three kinds of channels carry nothing private by themselves");
	claim(clear_channel("mux-proxy") == CLEAR_PROXY &&
	    clear_channel("direct-tcpip") == CLEAR_FORWARD &&
	    clear_channel("tun@openssh.com") == CLEAR_FORWARD &&
	    clear_channel("session ") == CLEAR_FORWARD &&
	    clear_channel("") == CLEAR_FORWARD, "all others do");
	claim(clear_global("tcpip-forward") == CLEAR_FORWARD &&
	    clear_global("streamlocal-forward@openssh.com") == CLEAR_FORWARD &&
	    clear_global("cancel-tcpip-forward") == CLEAR_PUBLIC &&
	    clear_global("no-more-sessions@openssh.com") == CLEAR_PUBLIC,
	    "a request to forward is private, one to end that is not");
	claim(clear_key_bytes("none") == 1ULL << 36 &&
	    clear_key_bytes("chacha20-poly1305@openssh.com") == 1ULL << 36,
	    "64 GiB a key");
	claim(clear_key_bytes("3des-cbc") == 0 &&
	    clear_key_bytes("aes128-ctr") == 0, "stock judges the others");
	printf("%d claims, %d failed\n", count, failed);
	return failed != 0;
}
