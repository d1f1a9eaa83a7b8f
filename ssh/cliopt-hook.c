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
 * ControlMaster does nothing later.  "HPNDisabled yes" followed by "Hayate
 * yes" therefore leaves their requests to stock, and only them.
 */

#include "includes.h"

#include "cliopt-hook.h"
#include "optline-hook.h"
#include "sftp-tell.h"

int
cliopt_line(const char *keyword, const char *rest, const char *filename,
    int linenum, int active, int *ret)
{
	int ours = optline(HAYOPT_CLIENT, HAYOPT_GLOBAL, keyword, rest,
	    filename, linenum, active, ret);

	if (ours && !hayopt_get()->hayate)
		sftp_tell_stock();
	return ours;
}

void
cliopt_dump(void)
{
	optline_dump(HAYOPT_CLIENT);
}
