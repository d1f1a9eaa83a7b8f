/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * See srvopt-hook.h. sshd reads its configuration without a connection first,
 * in the listener and again in each process that it starts for a connection. It
 * makes a second pass when the user is known. The values of that pass go to the
 * layer that overrides the other. They stay in the process that made the pass,
 * which serves the session after authentication.
 */

#include "includes.h"

#include <sys/types.h>

#include <stdio.h>
#include <string.h>

#include "log.h"
#include "misc.h"

#include "optline-hook.h"
#include "peer-hook.h"
#include "srvopt-hook.h"

/*
 * The algorithms that users may choose. If the file is absent, nothing is
 * known.
 */
#define ALLOWED	"/proc/sys/net/ipv4/tcp_allowed_congestion_control"

static int
is_allowed_congestion(const char *algorithm)
{
	char line[1024], *word, *rest = line;
	FILE *in = fopen(ALLOWED, "r");
	int found = in == NULL || fgets(line, sizeof(line), in) == NULL;

	if (in != NULL)
		fclose(in);
	while (!found && (word = strsep(&rest, " \n")) != NULL)
		found = strcmp(word, algorithm) == 0;
	return found;
}

static void
check_congestion(const char *rest, const char *filename, int linenum)
{
	char **av = NULL;
	int ac = 0;

	if (optline_is_reread(filename) ||
	    argv_split(rest, &ac, &av, 1) != 0)
		return;
	if (ac > 0 && strcasecmp(av[0], "default") != 0 &&
	    !is_allowed_congestion(av[0]))
		error("%s line %d: CongestionControl %s has no effect: the "
		    "kernel does not list it in " ALLOWED ", as one whose "
		    "module is not loaded", filename, linenum, av[0]);
	argv_free(av, ac);
}

int
srvopt_read_line(char **keyword, char *rest, const char *const *first,
    size_t stride, const char *filename, int linenum, int active, int matching,
    int *ret)
{
	struct optline_table table = { first, stride };

	if (!optline_read(HAYOPT_SERVER,
	    matching ? HAYOPT_MATCH : HAYOPT_GLOBAL, table, keyword,
	    rest, filename, linenum, active, ret))
		return 0;
	if (*ret == 0 && strcasecmp(*keyword, "CongestionControl") == 0)
		check_congestion(rest, filename, linenum);
	peer_export_options();
	return 1;
}

void
srvopt_dump(void)
{
	optline_dump(HAYOPT_SERVER);
}

int
srvopt_skips_delay(int authenticated, const char *method)
{
	return authenticated && !peer_is_disabled() &&
	    (strcmp(method, "publickey") == 0 ||
	    strcmp(method, "publickey-hostbound-v00@openssh.com") == 0);
}
