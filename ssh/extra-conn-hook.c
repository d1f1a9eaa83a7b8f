/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See extra-conn-hook.h for the idea. */

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

#include "extra-conn-hook.h"

#define HOST_ENV	"HAYATE_FIRST_HOST"

static int real_stderr = -1;		/* what standard error was */
static LogLevel level;

/* Of another host */
static int is_silent;		/* nothing is said of it */
static int message_fd = -1;		/* what was said; a file in memory */
static char *other_host;		/* its name, until it has logged in */

/* Of what was said, so much is looked at */
#define MESSAGE_MAX	4096

void
extra_conn_set_env(const char *host, enum extra_conn_log voice)
{
	char *text;

	xasprintf(&text, "%ld %c %s", (long)getpid(), (int)voice, host);
	setenv(HOST_ENV, text, 1);
	free(text);
}

void
extra_conn_clear_env(void)
{
	unsetenv(HOST_ENV);
}

/* Returns the text behind the process ID, or NULL. */
static const char *
read_env(void)
{
	const char *text = getenv(HOST_ENV);
	char *end;

	if (text == NULL || strtol(text, &end, 10) != (long)getppid() ||
	    end[0] != ' ' || end[1] == '\0' || end[2] != ' ')
		return NULL;
	return end + 1;
}

const char *
extra_conn_host(void)
{
	const char *text = read_env();

	return text == NULL ? NULL : text + 2;
}

const char *
extra_conn_other_host(void)
{
	const char *host = extra_conn_host();

	if (host == NULL || *host != EXTRA_CONN_OTHER_HOST)
		return NULL;
	return host + (host[1] == EXTRA_CONN_ADDRESS ? 2 : 1);
}

const char *
extra_conn_address(void)
{
	const char *name = extra_conn_other_host();

	return name != NULL && name[-1] == EXTRA_CONN_ADDRESS ? name : NULL;
}

void
extra_conn_resolved(void)
{
	const char *text = read_env();

	if (text != NULL && *text == EXTRA_CONN_RESOLVE)
		_exit(0);
}

/* Upstream ends by exit() as well as by cleanup_exit(). */
static void
begin_other_host(int is_quiet)
{
	other_host = xstrdup(extra_conn_other_host());
	atexit(extra_conn_cleanup);
#ifdef MFD_CLOEXEC
	if (is_quiet && (message_fd = memfd_create("said",
	    MFD_CLOEXEC | MFD_ALLOW_SEALING)) != -1)
		dup2(message_fd, STDERR_FILENO);
#endif
}

void
extra_conn_begin(void)
{
	static int has_begun;
	const char *text;
	int is_quiet;

	if (has_begun++ || (text = read_env()) == NULL)
		return;
	is_silent = *text == EXTRA_CONN_SILENT;
	is_quiet = *text != EXTRA_CONN_VERBOSE;
	if (is_quiet)
		real_stderr = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC,
		    STDERR_FILENO + 1);
	if (extra_conn_other_host() != NULL)
		begin_other_host(is_quiet);
	if (message_fd == -1)
		extra_conn_mute();
}

void
extra_conn_unmute(void)
{
	if (real_stderr == -1)
		return;
	level = log_level_get();
	if (level > SYSLOG_LEVEL_ERROR)
		log_change_level(SYSLOG_LEVEL_ERROR);
	dup2(real_stderr, STDERR_FILENO);
}

void
extra_conn_mute(void)
{
	int fd;

	if (real_stderr == -1)
		return;
	if (level != 0)
		log_change_level(level);
	if ((fd = open(_PATH_DEVNULL, O_WRONLY | O_CLOEXEC)) == -1)
		return;
	dup2(fd, STDERR_FILENO);
	close(fd);
}

void
extra_conn_logged_in(void)
{
	free(other_host);
	other_host = NULL;
	if (message_fd == -1)
		return;
#ifdef MFD_CLOEXEC
	/* A program that was started meanwhile has it as standard error. */
	(void)fcntl(message_fd, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_WRITE);
#endif
	close(message_fd);
	message_fd = -1;
	extra_conn_mute();
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
failure_reason(void)
{
	char text[MESSAGE_MAX + 1], *line;
	off_t end = message_fd == -1 ? 0 : lseek(message_fd, 0, SEEK_END);
	ssize_t n;

	if (message_fd == -1)
		return xstrdup("what stands above says why");
	n = pread(message_fd, text, MESSAGE_MAX, MAXIMUM(end - MESSAGE_MAX, 0));
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
parent_is_gone(void)
{
	struct pollfd pfd = { STDIN_FILENO, POLLIN, 0 };

	return poll(&pfd, 1, 0) == 1 && (pfd.revents & POLLHUP) != 0;
}

void
extra_conn_cleanup(void)
{
	char *why;

	if (other_host == NULL || is_silent || parent_is_gone())
		return;
	why = failure_reason();
	dprintf(real_stderr == -1 ? STDERR_FILENO : real_stderr,
	    "Host %s is left out: %s\r\n", other_host, why);
	free(why);
	free(other_host);
	other_host = NULL;
}
