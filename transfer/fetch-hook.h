/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * fetch-hook: scp and sftp get a large file over several connections, which
 * the user wants (-j, TransferStreams). fetch.c decides, links-hook.c has the
 * connections.
 *
 * Called by resume-hook.c. Does nothing, so that the file is left to upstream,
 * if ssh offers no connections, for less than 32 MiB, and if the user chose the
 * requests (-R, -B, -X) or a rate (-l). Main thread only.
 */

#ifndef HAYATE_FETCH_HOOK_H
#define HAYATE_FETCH_HOOK_H

struct Attrib;
struct sftp_conn;

/*
 * Gets a file as sftp_download() does. Returns 1 and the result in "*ret", or 0
 * if the file is left to sftp_download().
 */
int	fetch_get(struct sftp_conn *, const char *remote, const char *local,
    struct Attrib *, int preserve, int resume, int sync, int in_place,
    int *ret);

/* Returns 1 if a file of this size is got so. */
int	fetch_takes(const struct sftp_conn *, uint64_t size);

#endif /* HAYATE_FETCH_HOOK_H */
