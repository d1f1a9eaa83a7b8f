/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * close-hook: a file that is downloaded has failed if close() says so. A file
 * system may say only then that there is no room (a quota on NFS), and
 * upstream's sftp_download() does not listen. In sftp-client.c it and close()
 * have other names, which build-aux/overlay.mk gives them; everybody else calls
 * ours.
 */

#include "includes.h"

#include <sys/types.h>

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "log.h"
#include "sftp.h"
#include "sftp-common.h"
#include "sftp-client.h"

int	stock_sftp_download(struct sftp_conn *, const char *, const char *,
    Attrib *, int, int, int, int);
int	close_noted(int fd);

static int close_errno;		/* of the last one that failed; 0: none */

int
close_noted(int fd)
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
