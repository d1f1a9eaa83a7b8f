/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * sshd reads its configuration once without a connection, in the listener
 * and again in each process it starts for a connection, and a second time
 * when the user is known. What applies in that second pass goes to the layer
 * that overrides. It stays in the process that asked, which is the one that
 * serves the session after authentication.
 */

#include "includes.h"

#include "optline-hook.h"
#include "srvopt-hook.h"

int
srvopt_line(char **keyword, char *rest, const char *const *first,
    size_t stride, const char *filename, int linenum, int active, int matching,
    int *ret)
{
	struct optline_table table = { first, stride };

	return optline(HAYOPT_SERVER, matching ? HAYOPT_MATCH : HAYOPT_GLOBAL,
	    table, keyword, rest, filename, linenum, active, ret);
}

void
srvopt_dump(void)
{
	optline_dump(HAYOPT_SERVER);
}
