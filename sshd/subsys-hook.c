/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See subsys-hook.h for the idea. */

#include "includes.h"

#include <sys/types.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hostfile.h"
#include "auth.h"
#include "auth-options.h"
#include "log.h"
#include "misc.h"
#include "servconf.h"
#include "xmalloc.h"

#include "iotime-hook.h"
#include "hayopt.h"
#include "shmpipe-hook.h"
#include "sessionlog-hook.h"
#include "subsys-hook.h"

extern struct sshauthopt *auth_opts;

static const char *
find_program(const ServerOptions *o, const char *name)
{
	u_int i;

	for (i = 0; i < o->num_subsystems; i++) {
		if (strcmp(o->subsystem_name[i], name) == 0)
			return o->subsystem_command[i];
	}
	return NULL;
}

/* Returns 1 if another program runs instead, or the file is in a chroot. */
static int
is_replaced(const ServerOptions *o)
{
	return o->adm_forced_command != NULL ||
	    (auth_opts != NULL && auth_opts->force_command != NULL) ||
	    (o->chroot_directory != NULL &&
	    strcasecmp(o->chroot_directory, "none") != 0);
}

void
subsys_check_program(const ServerOptions *o, const char *name,
    const char *user)
{
	const char *program = find_program(o, name);

	/* A name that is not configured is not logged. */
	sessionlog_subsystem(program == NULL ? "unknown" : name);
	if (program == NULL || *program != '/' || is_replaced(o) ||
	    access(program, X_OK) == 0)
		return;
	error("subsystem %.100s for user %.100s: cannot run %.1000s: %s "
	    "(see \"Subsystem\" in sshd_config)", name, user, program,
	    strerror(errno));
}

/* Returns 1 if both are the same program. */
static int
is_same_program(const char *a, const char *b)
{
	struct stat x, y;

	return stat(a, &x) == 0 && stat(b, &y) == 0 &&
	    x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* Returns 1 if "word" is the sftp-server beside sshd-session. */
static int
is_our_server(const ServerOptions *o, const char *word)
{
	const char *session = o->sshd_session_path;
	const char *name = strrchr(session, '/');
	char *ours;
	int same;

	if (name == NULL)
		return 0;
	xasprintf(&ours, "%.*s/sftp-server", (int)(name - session), session);
	same = is_same_program(word, ours);
	free(ours);
	return same;
}

/* Returns 1 if only our SFTP server writes the output of "command". */
static int
runs_our_server(const ServerOptions *o, const char *command)
{
	char *word;
	int is;

	/* A command for the shell may run several programs. */
	if (command == NULL || strpbrk(command, "|&;()`$\n") != NULL)
		return 0;
	word = xstrdup(command);
	word[strcspn(word, " \t")] = '\0';
	is = strcmp(word, INTERNAL_SFTP_NAME) == 0 ||
	    (*word == '/' && is_our_server(o, word));
	free(word);
	return is;
}

int
subsys_open_output(const ServerOptions *o, const int in[2], int out[2],
    const char *command)
{
	if (!hayopt_get()->hayate || !runs_our_server(o, command))
		return pipe(out);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, out) == -1)
		return -1;
	shmpipe_offer(in, out);
	if (!hayopt_get()->tell_limits)
		shmpipe_set_tag(out[0], IOTIME_DISABLED);
	return 0;
}
