/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See further-hook.h for the idea. */

#include "includes.h"

#include <sys/types.h>
#include <sys/mman.h>

#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log.h"
#include "misc.h"
#include "pathnames.h"
#include "xmalloc.h"

#include "further-hook.h"

#define HOST_ENV	"HAYATE_FIRST_HOST"

static int heard = -1;		/* what standard error was */
static LogLevel level;

/* Of another host */
static int is_silent;		/* nothing is said of it */
static int kept = -1;		/* what was said; a file in memory */
static char *other;		/* its name, until it has logged in */

/* Of what was said, so much is looked at */
#define KEPT_MOST	4096

void
further_tell(const char *host, enum further_voice voice)
{
	char *text;

	xasprintf(&text, "%ld %c %s", (long)getpid(), (int)voice, host);
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

const char *
further_other(void)
{
	const char *host = further_host();

	if (host == NULL || *host != FURTHER_OTHER)
		return NULL;
	return host + (host[1] == FURTHER_ADDRESS ? 2 : 1);
}

const char *
further_address(void)
{
	const char *name = further_other();

	return name != NULL && name[-1] == FURTHER_ADDRESS ? name : NULL;
}

void
further_is_resolved(void)
{
	const char *text = told();

	if (text != NULL && *text == FURTHER_NAME)
		_exit(0);
}

/* Upstream ends by exit() as well as by cleanup_exit(). */
static void
begin_other(int is_quiet)
{
	other = xstrdup(further_other());
	atexit(further_cleanup);
#ifdef MFD_CLOEXEC
	if (is_quiet && (kept = memfd_create("said",
	    MFD_CLOEXEC | MFD_ALLOW_SEALING)) != -1)
		dup2(kept, STDERR_FILENO);
#endif
}

void
further_begin(void)
{
	static int has_begun;
	const char *text;
	int is_quiet;

	if (has_begun++ || (text = told()) == NULL)
		return;
	is_silent = *text == FURTHER_SILENT;
	is_quiet = *text != FURTHER_LOUD;
	if (is_quiet)
		heard = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC,
		    STDERR_FILENO + 1);
	if (further_other() != NULL)
		begin_other(is_quiet);
	if (kept == -1)
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

void
further_is_in(void)
{
	free(other);
	other = NULL;
	if (kept == -1)
		return;
#ifdef MFD_CLOEXEC
	/* A program that was started meanwhile has it as standard error. */
	(void)fcntl(kept, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_WRITE);
#endif
	close(kept);
	kept = -1;
	further_hush();
}

/* Returns the last line of the text, which it changes. */
static char *
last_line(char *text)
{
	char *line = text + strlen(text);

	while (line > text && strchr("\r\n", line[-1]) != NULL)
		*--line = '\0';
	while (line > text && line[-1] != '\n')
		line--;
	return line;
}

/* Why it ended, as far as upstream has said; the caller frees it. */
static char *
explain(void)
{
	char text[KEPT_MOST + 1], *line;
	off_t end = kept == -1 ? 0 : lseek(kept, 0, SEEK_END);
	ssize_t n;

	if (kept == -1)
		return xstrdup("what stands above says why");
	n = pread(kept, text, KEPT_MOST, MAXIMUM(end - KEPT_MOST, 0));
	text[MAXIMUM(n, 0)] = '\0';
	if (strstr(text, "host key is known for") != NULL)
		return xstrdup("its host key is not known; log in to it once "
		    "with ssh");
	if (strstr(text, "HOST IDENTIFICATION HAS CHANGED") != NULL)
		return xstrdup("its host key is not the one that is known");
	line = last_line(text);
	return xstrdup(*line == '\0' ? "the login failed" : line);
}

/* Returns 1 if the first no longer waits. */
static int
is_forgotten(void)
{
	struct pollfd pfd = { STDIN_FILENO, POLLIN, 0 };

	return poll(&pfd, 1, 0) == 1 && (pfd.revents & POLLHUP) != 0;
}

void
further_cleanup(void)
{
	char *why;

	if (other == NULL || is_silent || is_forgotten())
		return;
	why = explain();
	dprintf(heard == -1 ? STDERR_FILENO : heard,
	    "Host %s is left out: %s\r\n", other, why);
	free(why);
	free(other);
	other = NULL;
}
