/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See exit-status-hook.h. */

#include "includes.h"

#include <sys/types.h>
#include <sys/wait.h>

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "exit-status-hook.h"

static struct sigaction stock;

/* Nobody reads standard output any more. */
static int
is_output_lost(void)
{
	struct pollfd pfd = { STDOUT_FILENO, POLLOUT, 0 };

	return poll(&pfd, 1, 0) == 1 && (pfd.revents & POLLERR) != 0;
}

/* The signal is blocked here, so its default action comes on return. */
static void
handle_sigpipe(int signal)
{
	int was = errno;

	if (is_output_lost() && stock.sa_handler != SIG_IGN) {
		if (stock.sa_handler != SIG_DFL)
			stock.sa_handler(signal);
		sigaction(signal, &stock, NULL);
		kill(getpid(), signal);
	}
	errno = was;
}

static pid_t forgiven;			/* 0: none */

void
exit_status_forgive(pid_t pid)
{
	forgiven = pid;
}

pid_t
exit_status_waitpid(pid_t pid, int *status, int options)
{
	pid_t ended = waitpid(pid, status, options);

	if (ended > 0 && ended == forgiven && status != NULL &&
	    !WIFSTOPPED(*status))
		*status = 0;
	return ended;
}

void
exit_status_begin(void)
{
	struct sigaction sa;

	if (sigaction(SIGPIPE, NULL, &sa) == -1 || sa.sa_handler ==
	    handle_sigpipe)
		return;
	stock = sa;
	sigemptyset(&sa.sa_mask);
	sa.sa_flags = SA_RESTART;
	sa.sa_handler = handle_sigpipe;
	sigaction(SIGPIPE, &sa, NULL);
}
