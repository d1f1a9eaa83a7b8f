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

#include <string.h>

#include "optline-hook.h"
#include "peer-hook.h"
#include "srvopt-hook.h"

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
	peer_tell_children();
	return 1;
}

void
srvopt_dump(void)
{
	optline_dump(HAYOPT_SERVER);
}

int
srvopt_answers_at_once(int authenticated, const char *method)
{
	return authenticated && !peer_is_off() &&
	    (strcmp(method, "publickey") == 0 ||
	    strcmp(method, "publickey-hostbound-v00@openssh.com") == 0);
}
