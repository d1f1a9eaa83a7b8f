/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * fs-identity-hook: whether a connection to another host sees the same files as
 * the first.
 *
 * For an upload, a temporary file of a random name, mode 0600, is made over the
 * first connection in the target's directory, with random contents. For a
 * download, a file of the source is looked at over the first connection: its
 * size, time and a random block. That is the reference. It begins before the
 * additional connections are established, because the first one replies only
 * after all data in flight. Then each of the others reads the temporary file,
 * or looks at the same file, and has to find the same. The temporary file is
 * removed over the first connection, whatever the result is.
 *
 * A server that answers in bad faith can refuse, and is left out. It cannot
 * know the contents of a file that it does not see.
 *
 * Requests have IDs of their own, so they go beside those of the transfer.
 *
 * Main thread only.
 */

#ifndef HAYATE_FS_IDENTITY_HOOK_H
#define HAYATE_FS_IDENTITY_HOOK_H

#include <sys/types.h>
#include <stdint.h>

struct sftp_stream;
struct fs_reference;	/* private to fs-identity-hook.c */
struct fs_check;	/* private to fs-identity-hook.c */

/* The place of a reference: "dir" or "file" is not NULL. */
struct fs_location {
	const char *dir;	/* an upload: "" is the working directory */
	const char *file;	/* a download: not an empty file */
	uint64_t size;		/* of that file, bytes */
};

enum fs_identity_result { FS_IDENTITY_PENDING, FS_IDENTITY_SAME,
    FS_IDENTITY_FAILED };

/* Begins the reference over the first connection. Copies the location. */
struct fs_reference *fs_reference_new(struct sftp_stream *first,
    const struct fs_location *);

/*
 * Returns the result. "*why" becomes a text for the user, which is valid as
 * long as the reference, or NULL while the result is pending.
 */
enum fs_identity_result fs_reference_result(const struct fs_reference *,
    const char **why);

/* Ends the reference: its temporary file is removed. May be repeated. */
void	fs_reference_stop(struct fs_reference *);
int	fs_reference_is_stopped(const struct fs_reference *);

/* Returns 1 while the first connection owes answers. */
int	fs_reference_in_flight(const struct fs_reference *);

/* The temporary file that would be left if the process ended now, or NULL */
const char *fs_reference_temp_file(const struct fs_reference *);

/* Accepts NULL. No reply may be owed, unless the connection is lost. */
void	fs_reference_free(struct fs_reference *);

/*
 * Begins the proof of another connection. The reference has the result
 * FS_IDENTITY_SAME, and may be freed before the proof.
 */
struct fs_check *fs_check_new(struct sftp_stream *other,
    const struct fs_reference *);

/* Makes a pending result FS_IDENTITY_FAILED. Copies "why". */
void	fs_check_fail(struct fs_check *, const char *why);

/* As fs_reference_result(); pending until all requests are answered */
enum fs_identity_result fs_check_result(const struct fs_check *,
    const char **why);

/* Accepts NULL. While the result is pending, free the stream first. */
void	fs_check_free(struct fs_check *);

#endif /* HAYATE_FS_IDENTITY_HOOK_H */
