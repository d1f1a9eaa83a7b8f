/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * stock-hook: files of a tree that upstream's functions copy are reported. What
 * is copied alone, arguments-hook.c reports.
 *
 * Called from patches/161-sftp-client-reports.patch. Main thread only.
 */

#ifndef HAYATE_STOCK_HOOK_H
#define HAYATE_STOCK_HOOK_H

struct Attrib;
struct sftp_conn;

/*
 * sftp_upload() and sftp_download() call these first, with their own arguments.
 * The result is 1 if the file is done: they were called again between the
 * begin and the end of its report, and "*ret" is what that call returned. It is
 * 0 if upstream's function has to go on.
 */
int	stock_put(struct sftp_conn *, const char *local, const char *remote,
    int preserve, int resume, int sync, int in_place, int *ret);
int	stock_get(struct sftp_conn *, const char *remote, const char *local,
    struct Attrib *, int preserve, int resume, int sync, int in_place,
    int *ret);

#endif /* HAYATE_STOCK_HOOK_H */
