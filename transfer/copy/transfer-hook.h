/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * transfer-hook: copies a tree of files with many of them in flight.
 *
 * Replaces upstream's upload_dir_internal() and download_dir_internal(), with
 * the functions that they call, and does the same as far as a user sees it:
 * texts come in walk order, a directory gets its attributes after all below it,
 * and a file ends at the last byte that came in order. But requests of many
 * files are in flight; scheduler.h decides which. If one file of the server has
 * several names among the targets, because of links or because names there
 * ignore case, it may get a mixture of what is uploaded to them.
 *
 * While a tree is copied, transfer-hook.c owns the connection. No reply is due
 * when it returns, so upstream's functions, which wait for one reply at a time,
 * can use it again.
 *
 * If the user wants several connections, each file is assigned to the one with
 * the least work, and directories to the first. Idle connections help with the
 * largest file of another connection (striping). Channels of one connection do
 * the same where the window is the limit (conn-count.h). The loss of one costs
 * nothing but its rate, unless it is the first.
 *
 * Bounds:
 * - At most 512 files are open, or as many as the descriptors and the server's
 *   handles allow. No file is opened while the open ones of each connection
 *   have 2 MiB left to move, or the connection's share of the path.
 * - At most 10,000 files are begun or done while the oldest is not done.
 * - Data that waits to be sent takes less than 1 MiB for each connection.
 * - Data that came early from a server waits in memory, up to 64 MiB in 4,096
 *   extents; then no more is requested.
 * - The names of a directory are in memory from its listing to its end.
 *
 * Between two servers the source is read as in a download, and its data goes to
 * the target (cross-hook.c). At most 16 MiB are in flight, twice as much if the
 * sizes of files are not known, and all of it may be in memory if the target is
 * slow.
 *
 * Called from patches/162-sftp-client-trees.patch as well. Main thread only.
 */

#ifndef HAYATE_TRANSFER_HOOK_H
#define HAYATE_TRANSFER_HOOK_H

struct Attrib;
struct transfer;
struct sftp_conn;

/*
 * Returns 1 if the functions below copy over this connection, and 0 if
 * upstream's have to. The server must speak version 3; with --resume or
 * --checksum any other version is fatal. The connection must be tuned
 * (server-hook.h), unless --resume, --checksum or --retry is given, or "resume"
 * (of sftp's commands) without "Hayate no".
 */
int	transfer_can(struct sftp_conn *, int resume);

/*
 * As sftp_upload(), sftp_download() or sftp_crossload() of one file. The caller
 * sets the connections, the direction (ops) and the flags, and all else to 0.
 */
int	transfer_file(struct transfer *, const char *src, const char *dst,
    struct Attrib *);

/*
 * As upload_dir_internal(), download_dir_internal() and
 * crossload_dir_internal() of upstream, whose result is in "*ret". Return 0 if
 * these have to copy the tree, because transfer_can() returns 0 for a
 * connection, and otherwise 1. With a list (files-from-hook.h), which they do
 * not know, that is an error.
 */
int	transfer_put_tree(struct sftp_conn *, const char *src, const char *dst,
    int preserve, int print, int resume, int sync, int follow, int in_place,
    int *ret);
int	transfer_get_tree(struct sftp_conn *, const char *src, const char *dst,
    struct Attrib *, int preserve, int print, int resume, int sync, int follow,
    int in_place, int *ret);
int	transfer_cross_tree(struct sftp_conn *from, struct sftp_conn *to,
    const char *src, const char *dst, struct Attrib *, int preserve, int print,
    int follow, int *ret);

/*
 * A tree or list begins; fields are set as for transfer_file(). It owns the
 * connections until transfer_stop(). Add files with file_add() after it.
 */
void	transfer_start(struct transfer *);

/*
 * Copies until "*until" is not 0, or with NULL until all is printed and no
 * reply is due. After an interrupt it waits only for what is in flight.
 */
void	transfer_run(struct transfer *, const int *until);

/* Ends the transfer, when all is printed. Frees what transfer_start() made. */
void	transfer_stop(struct transfer *);

#endif /* HAYATE_TRANSFER_HOOK_H */
