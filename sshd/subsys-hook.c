/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See subsys-hook.h for the idea. */

#include "includes.h"

#include <sys/types.h>
#include <sys/socket.h>

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "log.h"
#include "misc.h"
#include "servconf.h"

#include "hayopt.h"
#include "hop-hook.h"
#include "subsys-hook.h"

static const char *
program_of(const ServerOptions *o, const char *name)
{
	u_int i;

	for (i = 0; i < o->num_subsystems; i++) {
		if (strcmp(o->subsystem_name[i], name) == 0)
			return o->subsystem_command[i];
	}
	return NULL;
}

void
subsys_check_program(const ServerOptions *o, const char *name,
    const char *user)
{
	const char *program = program_of(o, name);

	if (program == NULL || *program != '/' || access(program, X_OK) == 0)
		return;
	error("subsystem %.100s for user %.100s: cannot run %.1000s: %s "
	    "(see \"Subsystem\" in sshd_config)", name, user, program,
	    strerror(errno));
}

static int
is_sftp(const char *command, const char *subsystem)
{
	size_t len = strlen(INTERNAL_SFTP_NAME);

	if (subsystem != NULL && strcmp(subsystem, "sftp") == 0)
		return 1;
	return command != NULL &&
	    strncmp(command, INTERNAL_SFTP_NAME, len) == 0 &&
	    strchr(" \t", command[len]) != NULL;
}

int
subsys_open_output(const int in[2], int out[2], const char *command,
    const char *subsystem)
{
	if (!hayopt_get()->hayate || !is_sftp(command, subsystem))
		return pipe(out);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, out) == -1)
		return -1;
	hop_offer(in, out);
	return 0;
}
