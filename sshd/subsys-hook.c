/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See subsys-hook.h for the idea. */

#include "includes.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "log.h"

#include "subsys-hook.h"

void
subsys_check_program(const char *name, const char *program, const char *user)
{
	if (*program != '/' || access(program, X_OK) == 0)
		return;
	error("subsystem %.100s for user %.100s: cannot run %.1000s: %s "
	    "(see \"Subsystem\" in sshd_config)", name, user, program,
	    strerror(errno));
}
