/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * stock-hook: reports the files of a tree that upstream's functions copy.
 * arguments-hook.c reports single files.
 *
 * Called from patches/161-sftp-client-reports.patch. Main thread only.
 */

#ifndef HAYATE_STOCK_HOOK_H
#define HAYATE_STOCK_HOOK_H

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

#endif /* HAYATE_STOCK_HOOK_H */
