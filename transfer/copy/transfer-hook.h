/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * transfer-hook: copies a tree of files with many of them in flight.
 *
 * Stands in for upstream's upload_dir_internal() and download_dir_internal(),
 * with the functions that they call, and does what they do, in the order in
 * which a user sees it: texts come in walk order, attributes of a directory
 * after all below, a file is cut behind the last byte that came in order. What
 * differs is that requests of many files are in flight. scheduler.h decides
 * which. So a file of the server that has several names in the target, by links
 * or because names there have no case, may get a mixture of what is uploaded
 * there.
 *
 * The connection belongs to this file while a tree is copied. No reply is due
 * when it returns, so upstream's functions, which wait for one reply at a time,
 * can go on.
 *
 * If the user wants several connections, each file is assigned to the one with
 * the least work, and directories to the first. Idle connections help with the
 * largest file of another connection (striping). Channels of one connection do
 * the same for what is uploaded, where the server's window is the limit
 * (conn-count.h). One that is lost costs nothing but its rate, unless it is the
 * first.
 *
 * Bounds: 512 files are open, and as many as the descriptors and the server's
 * handles allow, but no file is opened while 2 MiB, or a connection's share of
 * what the path holds, wait in those of each connection; 10,000 files are done
 * or begun while the oldest is not done; data that waits to be sent takes less
 * than 1 MiB for each connection; of what came early from a server 64 MiB wait
 * to be written, in 4,096 pieces, and then no more is asked for; the names of a
 * directory are in memory from its listing to its end.
 *
 * Between two servers the source is read as by a download, and what it sends
 * goes to the target (cross-hook.c). Both connections belong to this file then.
 * At most 16 MiB are in flight, and as much again if sizes are not told, and
 * all may be here if the target is slow.
 *
 * Called from patches/162-sftp-client-trees.patch as well. Main thread only.
 */

#ifndef HAYATE_TRANSFER_HOOK_H
#define HAYATE_TRANSFER_HOOK_H

struct Attrib;
struct transfer;
struct sftp_conn;

/*
 * Returns 1 if this connection is for the functions below, and 0 if upstream's
 * have to copy: if the user chose the requests (-R, -B, -X) or a rate (-l), or
 * ssh has "Hayate no", and nothing is verified, or if the server speaks less
 * than version 3. What is resumed by sftp is verified as well, but not with
 * "Hayate no".
 */
int	transfer_can(struct sftp_conn *, int resume);

/*
 * As sftp_upload() and sftp_download(), of one file. The connection, the side
 * and the flags of the run are set.
 */
int	transfer_file(struct transfer *, const char *src, const char *dst,
    struct Attrib *);

/*
 * As upload_dir_internal(), download_dir_internal() and
 * crossload_dir_internal(), which are "stock": they are called unless each
 * connection is for us. If a list says what to copy (files-from-hook.h), that
 * is an error, because they know of none.
 */
typedef int transfer_put_dir(struct sftp_conn *, const char *, const char *,
    int, int, int, int, int, int, int);
typedef int transfer_get_dir(struct sftp_conn *, const char *, const char *,
    int, struct Attrib *, int, int, int, int, int, int);
typedef int transfer_cross_dir(struct sftp_conn *, struct sftp_conn *,
    const char *, const char *, int, struct Attrib *, int, int, int);
int	transfer_put_tree(transfer_put_dir *stock, struct sftp_conn *,
    const char *src, const char *dst, int depth, int preserve, int print,
    int resume, int sync, int follow, int in_place);
int	transfer_get_tree(transfer_get_dir *stock, struct sftp_conn *,
    const char *src, const char *dst, int depth, struct Attrib *, int preserve,
    int print, int resume, int sync, int follow, int in_place);
int	transfer_cross_tree(transfer_cross_dir *stock, struct sftp_conn *from,
    struct sftp_conn *to, const char *src, const char *dst, int depth,
    struct Attrib *, int preserve, int print, int follow);

/*
 * A tree or list begins; its connection, side and flags are set. The connection
 * is its own until transfer_stop().
 */
void	transfer_start(struct transfer *);

/*
 * Copies until "*until" is not 0, or with NULL until all is printed and no
 * reply is due. An interrupt ends it, but what is in flight is waited for.
 */
void	transfer_run(struct transfer *, const int *until);

/* All is printed and no reply is due. */
void	transfer_stop(struct transfer *);

#endif /* HAYATE_TRANSFER_HOOK_H */
