/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See stock-hook.h. */

#include "includes.h"

#include <sys/types.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "log.h"
#include "sftp.h"
#include "sftp-common.h"
#include "sftp-client.h"

#include "clock.h"
#include "report-hook.h"
#include "stock-hook.h"

/* Returns 1 if nobody has begun the report of this file. */
static int
begin_stock_report(enum report_way way, const char *from, const char *to)
{
	if (!report_is_wanted() || report_expects())
		return 0;
	report_expect_file(way, from, to);
	return 1;
}

/* Upstream counts no bytes, so the file has to be whole. */
static void
end_stock_report(const char *local, uint64_t begun_us, int ret)
{
	struct stat sb;
	uint64_t bytes = ret == 0 && stat(local, &sb) == 0 ? sb.st_size : 0;

	report_file(REPORT_IN_BOTH, bytes, clock_us() - begun_us, ret);
}

int
stock_put(struct sftp_conn *conn, const char *local, const char *remote,
    int preserve, int resume, int sync, int in_place, int *ret)
{
	uint64_t begun_us = clock_us();

	if (!begin_stock_report(REPORT_PUT, local, remote))
		return 0;
	*ret = sftp_upload(conn, local, remote, preserve, resume, sync,
	    in_place);
	end_stock_report(local, begun_us, *ret);
	return 1;
}

int
stock_get(struct sftp_conn *conn, const char *remote, const char *local,
    Attrib *a, int preserve, int resume, int sync, int in_place, int *ret)
{
	uint64_t begun_us = clock_us();

	if (!begin_stock_report(REPORT_GET, remote, local))
		return 0;
	*ret = sftp_download(conn, remote, local, a, preserve, resume, sync,
	    in_place);
	end_stock_report(local, begun_us, *ret);
	return 1;
}

/* Errors of close() */

static int close_errno;		/* of the last one that failed; 0: none */

int
stock_close(int fd)
{
	int r = close(fd);

	if (r == -1)
		close_errno = errno;
	return r;
}

int
sftp_download(struct sftp_conn *conn, const char *remote, const char *local,
    Attrib *a, int preserve, int resume, int sync, int in_place)
{
	int r;

	close_errno = 0;
	r = stock_sftp_download(conn, remote, local, a, preserve, resume, sync,
	    in_place);
	if (r == 0 && close_errno != 0) {
		error("close local \"%s\": %s", local, strerror(close_errno));
		r = -1;
	}
	close_errno = 0;
	return r;
}

/* Exit statuses */

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
stock_forgive_ssh(pid_t pid)
{
	forgiven = pid;
}

pid_t
stock_waitpid(pid_t pid, int *status, int options)
{
	pid_t ended = waitpid(pid, status, options);

	if (ended > 0 && ended == forgiven && status != NULL &&
	    !WIFSTOPPED(*status))
		*status = 0;
	return ended;
}

void
stock_handle_sigpipe(void)
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
