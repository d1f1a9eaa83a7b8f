/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 *   early-servers-replay kind BANNER    prints session, openssh, known or none
 *   early-servers-replay skips BANNER   prints yes or no
 *   early-servers-replay again BANNER   prints yes or no
 *   early-servers-replay first PREFERRED OFFERED [DISABLED]...
 *                                       prints key or other
 */

#include <err.h>
#include <stdio.h>
#include <string.h>

#include "early-servers.h"

static char **disabled;

static int
is_enabled(const char *method)
{
	char **d;

	for (d = disabled; *d != NULL; d++) {
		if (strcmp(*d, method) == 0)
			return 0;
	}
	return 1;
}

int
main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "kind") == 0) {
		puts(early_server_takes_session(argv[2]) ? "session" :
		    early_server_is_openssh(argv[2]) ? "openssh" :
		    early_server_is_allowed(argv[2]) ? "known" : "none");
		return 0;
	}
	if (argc == 3 && strcmp(argv[1], "skips") == 0) {
		puts(early_server_skips_guess(argv[2]) ? "yes" : "no");
		return 0;
	}
	if (argc == 3 && strcmp(argv[1], "again") == 0) {
		puts(early_server_rekeys(argv[2]) ? "yes" : "no");
		return 0;
	}
	if (argc < 4 || strcmp(argv[1], "first") != 0)
		errx(2, "usage");
	disabled = argv + 4;
	puts(early_key_is_first(argv[2], argv[3], is_enabled) ?
	    "key" : "other");
	return 0;
}
