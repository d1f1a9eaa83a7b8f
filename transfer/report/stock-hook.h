/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * stock-hook: what upstream's functions copy is reported, and fails as the rest
 * of a copy does.
 *
 * The files of a tree that they copy are in the report; arguments-hook.c
 * reports single files.
 *
 * A file that is downloaded has failed if close() says so: a file system may
 * say only then that there is no room (a quota on NFS), and upstream's
 * sftp_download() does not listen. In sftp-client.c both have other names,
 * which build-aux/overlay.mk gives them; all other files call ours.
 *
 * A connection that is lost ends scp and sftp with exit status 255, whether a
 * read or a write notices it. In stock a failing write raises SIGPIPE, which
 * ends scp with 1 and sftp by the signal. Here the signal is ignored and the
 * write fails with an error message. If standard output was closed, the signal
 * acts as in stock.
 *
 * Called from patches/161-sftp-client-reports.patch. Main thread only.
 */

#ifndef HAYATE_STOCK_HOOK_H
#define HAYATE_STOCK_HOOK_H

#include <sys/types.h>

struct Attrib;
struct sftp_conn;

/*
 * sftp_upload() and sftp_download() call these first, with their own arguments.
 * Without a report, or in a file that is being reported, they return 0, and the
 * caller copies the file. Otherwise they call sftp_upload() or sftp_download()
 * again between the begin and the end of a report, and return 1 with its result
 * in "*ret"; the caller returns that.
 */
int	stock_put(struct sftp_conn *, const char *local, const char *remote,
    int preserve, int resume, int sync, int in_place, int *ret);
int	stock_get(struct sftp_conn *, const char *remote, const char *local,
    struct Attrib *, int preserve, int resume, int sync, int in_place,
    int *ret);

/* The names that build-aux/overlay.mk gives to upstream's calls */
int	stock_sftp_download(struct sftp_conn *, const char *, const char *,
    struct Attrib *, int, int, int, int);
int	stock_close(int fd);
pid_t	stock_waitpid(pid_t, int *status, int options);

/* A connection begins. */
void	stock_handle_sigpipe(void);

/* Others have done what that ssh could not: it counts as successful; 0: none */
void	stock_forgive_ssh(pid_t);

#endif /* HAYATE_STOCK_HOOK_H */
