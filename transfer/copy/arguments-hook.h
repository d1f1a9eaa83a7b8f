/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * arguments-hook: copies files that are named one by one with many in flight.
 *
 * scp and sftp copy the files of their arguments, or of a pattern, in a loop,
 * one call for each, and the loop decides what is printed and what an error
 * means. It stays. But each call also gets the files that come next, and begins
 * them. It returns when its own file is done; the later files continue in their
 * own calls, which print their texts.
 *
 * Such a list ends before a file that is not regular, does not exist, or has,
 * ignoring case, the base name of a file in flight. The call of that file waits
 * until nothing is in flight, and copies it alone. A list therefore leaves
 * behind only what stock would leave, with two exceptions, as in a tree: after
 * an interrupt or a lost connection up to 512 files behind the current one may
 * have been copied; and if links give one file of the server several names
 * among the targets, it may get a mixture of what is uploaded to them.
 *
 * A connection of scp is used again for the next argument if that names the
 * same user, host and port in the same words.
 *
 * Called from patches/165 and 166, in scp and sftp. Main thread only.
 */

#ifndef HAYATE_ARGUMENTS_HOOK_H
#define HAYATE_ARGUMENTS_HOOK_H

struct Attrib;
struct sftp_conn;

/*
 * As sftp_upload() and sftp_download() of srcs[0] to "dst". The later "srcs",
 * up to a NULL, are those of the next calls, into the same directory; the array
 * must be valid until then, or until args_finish(). A download with attributes
 * is copied alone.
 */
int	args_put(struct sftp_conn *, char *const *srcs, const char *dst,
    int preserve, int resume, int sync, int in_place);
int	args_get(struct sftp_conn *, char *const *srcs, const char *dst,
    struct Attrib *, int preserve, int resume, int sync, int in_place);

/*
 * scp calls it before it copies each argument, args[0]. The target is the last
 * one before the NULL. Keeps the pointer to argv.
 */
void	args_next(char *const *args);

/* scp: as sftp_upload() in place, of the argument of the last args_next() */
int	args_put_argument(struct sftp_conn *, char *src, const char *dst,
    int preserve);

/*
 * scp: as sftp_crossload() between two servers, with "srcs" as above. Call
 * args_is_dir() of the target before.
 */
int	args_cross(struct sftp_conn *from, struct sftp_conn *to,
    char *const *srcs, const char *dst, int preserve);

/*
 * scp: as sftp_remote_is_dir() of the target of args_put_argument() or
 * args_cross(). Returns 1 without a request while files are in flight there,
 * and 0 with --files-from.
 */
int	args_is_dir(struct sftp_conn *, const char *target);

/*
 * scp calls it when it has copied args[0]. If args[1] is a source of the same
 * server, keeps the connection for it: "*conn" becomes NULL, so that scp does
 * not close it, and the result is 1. Otherwise calls args_finish() and returns
 * 0.
 */
int	args_keep_conn(struct sftp_conn **conn, char *const *args);

/* Returns the connection that is kept for the current argument, or NULL. */
struct sftp_conn *args_kept_conn(void);

/*
 * sftp is going to get "file", which is below "dir" unless it is absolute. The
 * server named "dir". Before 10.5 upstream pastes the path into a line of
 * commands. If "dir" has characters that are special there (a blank, a quote,
 * a pattern), this is fatal; otherwise nothing happens.
 */
void	args_check_start_dir(const char *file, const char *dir);

/*
 * Copies the files that were begun, and prints their texts; their results are
 * lost. Call before anything else uses the connection.
 */
void	args_finish(void);

#endif /* HAYATE_ARGUMENTS_HOOK_H */
