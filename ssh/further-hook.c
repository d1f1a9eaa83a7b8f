/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See further-hook.h for the idea. */

#include "includes.h"

#include <sys/types.h>

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log.h"
#include "pathnames.h"
#include "xmalloc.h"

#include "further-hook.h"

#define HOST_ENV	"HAYATE_FIRST_HOST"
#define QUIET		'q'
#define LOUD		'v'

static int heard = -1;		/* what standard error was */
static LogLevel level;

void
further_tell(const char *host, int is_quiet)
{
	char *text;

	xasprintf(&text, "%ld %c %s", (long)getpid(), is_quiet ? QUIET : LOUD,
	    host);
	setenv(HOST_ENV, text, 1);
	free(text);
}

void
further_told(void)
{
	unsetenv(HOST_ENV);
}

/* Returns the text behind the process ID, or NULL. */
static const char *
told(void)
{
	const char *text = getenv(HOST_ENV);
	char *end;

	if (text == NULL || strtol(text, &end, 10) != (long)getppid() ||
	    end[0] != ' ' || end[1] == '\0' || end[2] != ' ')
		return NULL;
	return end + 1;
}

const char *
further_host(void)
{
	const char *text = told();

	return text == NULL ? NULL : text + 2;
}

void
further_begin(void)
{
	static int has_begun;
	const char *text;

	if (has_begun++ || (text = told()) == NULL || *text != QUIET)
		return;
	heard = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	further_hush();
}

void
further_speak(void)
{
	if (heard == -1)
		return;
	level = log_level_get();
	if (level > SYSLOG_LEVEL_ERROR)
		log_change_level(SYSLOG_LEVEL_ERROR);
	dup2(heard, STDERR_FILENO);
}

void
further_hush(void)
{
	int fd;

	if (heard == -1)
		return;
	if (level != 0)
		log_change_level(level);
	if ((fd = open(_PATH_DEVNULL, O_WRONLY | O_CLOEXEC)) == -1)
		return;
	dup2(fd, STDERR_FILENO);
	close(fd);
}
