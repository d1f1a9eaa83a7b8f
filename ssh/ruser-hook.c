/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

#include "includes.h"

#include <sys/types.h>

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "openbsd-compat/sys-queue.h"
#include "channels.h"
#include "log.h"
#include "misc.h"
#include "pathnames.h"
#include "ssh.h"
#include "readconf.h"

#include "ruser-hook.h"

extern Options options;

void
ruser_log_init(const char *program, LogLevel level, SyslogFacility facility,
    int to_stderr)
{
	static int is_checked;

	log_init(program, level, facility, to_stderr);
	if (!is_checked && options.user != NULL &&
	    strpbrk(options.user, "$\\") != NULL)
		fatal("remote username contains invalid characters: \"$\" and "
		    "\"\\\" may only come from User in a file");
	is_checked = 1;
}
