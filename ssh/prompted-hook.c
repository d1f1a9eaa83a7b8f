/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See prompted-hook.h for the idea. */

#include "includes.h"

#include <sys/types.h>
#include <sys/stat.h>

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "misc.h"
#include "packet.h"

#include "prompted-hook.h"

/* In the environment: the ssh that waits, its descriptor of a pipe, the pipe */
#define PIPE_ENV	"HAYATE_ASKED"

char	*stock_read_passphrase(const char *prompt, int flags);
int	prompted_put_cstring(struct ssh *, const void *);

static int was_prompted, child_pipe = -1;

void
prompted_begin(void)
{
	struct stat sb;
	char text[64];
	int fds[2];

	if (fstat(STDIN_FILENO, &sb) == -1 || !S_ISSOCK(sb.st_mode) ||
	    pipe(fds) == -1 || fstat(fds[1], &sb) == -1)
		return;
	fcntl(fds[0], F_SETFD, FD_CLOEXEC);
	fcntl(fds[1], F_SETFD, FD_CLOEXEC);
	set_nonblock(fds[0]);
	child_pipe = fds[0];
	snprintf(text, sizeof(text), "%ld %d %llu", (long)getpid(), fds[1],
	    (unsigned long long)sb.st_ino);
	setenv(PIPE_ENV, text, 1);
}

static void
note_prompt(void)
{
	const char *text = getenv(PIPE_ENV);
	char path[64];
	unsigned long long ino;
	struct stat sb;
	long pid;
	int fd, out;

	was_prompted = 1;
	if (text == NULL ||
	    sscanf(text, "%ld %d %llu", &pid, &out, &ino) != 3 ||
	    pid == (long)getpid())
		return;
	snprintf(path, sizeof(path), "/proc/%ld/fd/%d", pid, out);
	/* The process ID may have passed to another, which has other pipes. */
	if (stat(path, &sb) == -1 || !S_ISFIFO(sb.st_mode) ||
	    sb.st_ino != ino ||
	    (fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC)) == -1)
		return;
	if (fstat(fd, &sb) == 0 && S_ISFIFO(sb.st_mode) && sb.st_ino == ino)
		(void)!write(fd, "", 1);
	close(fd);
}

/* Upstream's is stock_read_passphrase(). Only a question is answered seen. */
char *
read_passphrase(const char *prompt, int flags)
{
	char *answer = stock_read_passphrase(prompt, flags);

	if (answer != NULL && *answer != '\0' && (flags & RP_ECHO) == 0)
		note_prompt();
	return answer;
}

/* For upstream's sshconnect2.c. A request names its method in a string. */
int
prompted_put_cstring(struct ssh *ssh, const void *text)
{
	if (text != NULL && (strcmp(text, "password") == 0 ||
	    strcmp(text, "keyboard-interactive") == 0))
		note_prompt();
	return sshpkt_put_cstring(ssh, text);
}

int
prompted_user(void)
{
	char byte;

	if (child_pipe != -1 && read(child_pipe, &byte, 1) == 1)
		was_prompted = 1;
	return was_prompted;
}
