/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * arguments-hook: copies files that are named one by one with many in flight.
 *
 * scp and sftp copy the files of their arguments, or of a pattern, in a loop:
 * one call for each. What a file prints, and what becomes of an error, is the
 * loop's affair, so it stays. But a call is told which files come next, and
 * begins them as well. It returns when its own file is done, and the next call
 * finds its file begun or done. A file's texts are printed in its own call.
 *
 * A list ends before a file that needs more than the usual requests: what is
 * not a regular file, has the base name of another that is in flight, in
 * whatever case, or does not exist. The call of that file finds nothing in
 * flight, and upstream's function copies it. So a list leaves behind nothing
 * that stock would not have, with two exceptions, as in a tree: after an
 * interrupt or a lost connection up to 512 files behind the current one may
 * have been copied; and a server's file that has several names among the
 * targets, by links, may get a mixture of what is uploaded there.
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
 * As sftp_upload() and sftp_download(). The first of "srcs", which end with
 * NULL, is the file; the others are going to follow, into the same directory.
 */
int	args_put(struct sftp_conn *, char *const *srcs, const char *dst,
    int preserve, int resume, int sync, int in_place);
int	args_get(struct sftp_conn *, char *const *srcs, const char *dst,
    struct Attrib *, int preserve, int resume, int sync, int in_place);

/*
 * scp: args[0] is copied next; the last of the arguments is the target. To be
 * called for each of them.
 */
void	args_next(char *const *args);

/* scp: as sftp_upload() in place, of the argument that is copied */
int	args_put_argument(struct sftp_conn *, char *src, const char *dst,
    int preserve);

/*
 * scp: as sftp_crossload(), between two servers, with "srcs" as above. The
 * target was asked about by args_is_dir() before.
 */
int	args_cross(struct sftp_conn *from, struct sftp_conn *to,
    char *const *srcs, const char *dst, int preserve);

/*
 * scp: as sftp_remote_is_dir() of the target of args_put() or args_cross().
 * While files are in flight it is a directory, and nothing is asked.
 */
int	args_is_dir(struct sftp_conn *, const char *target);

/*
 * scp calls args_keep_conn() when it has copied args[0]. If args[1] is of the
 * same server, the connection is kept for it: the result is 1, "*conn" becomes
 * NULL, so that scp does not close it, and args_kept_conn() returns it when scp
 * is going to connect for args[1].
 */
int	args_keep_conn(struct sftp_conn **conn, char *const *args);
struct sftp_conn *args_kept_conn(void);

/*
 * sftp is going to get "file", which is below "dir" unless it is a whole path.
 * The server named "dir". Before 10.5 upstream pastes it into a line of
 * commands, where a blank ends the name, the next word is the local file, and a
 * pattern is expanded. Then it ends the program.
 */
void	args_check_start_dir(const char *file, const char *dir);

/* Waits until nothing is in flight. Called before a tree as well. */
void	args_finish(void);

#endif /* HAYATE_ARGUMENTS_HOOK_H */
