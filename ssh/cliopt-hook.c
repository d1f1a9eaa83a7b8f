/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * A client knows one layer. ssh may read its files twice (Match final, host
 * name canonicalisation); the first value of the first reading stays, as it
 * does for upstream's options.
 *
 * scp and sftp are told at once, since an ssh that hands its session to a
 * ControlMaster does nothing later. "HPNDisabled yes" followed by "Hayate
 * yes" therefore leaves their requests to stock, and only them.
 */

#include "includes.h"

#include "cliopt-hook.h"
#include "optline-hook.h"
#include "sftp-tell.h"

int
cliopt_line(char **keyword, char *rest, const char *const *first,
    size_t stride, const char *filename, int linenum, int active, int *ret)
{
	struct optline_table table = { first, stride };
	int ours = optline(HAYOPT_CLIENT, HAYOPT_GLOBAL, table, keyword, rest,
	    filename, linenum, active, ret);

	if (ours && !hayopt_get()->hayate)
		sftp_tell_stock();
	return ours;
}

void
cliopt_ciphers(char *list)
{
	optline_ciphers(list, "command-line", 0);
}

void
cliopt_late(void)
{
	optline_late();
}

void
cliopt_dump(void)
{
	optline_dump(HAYOPT_CLIENT);
}
