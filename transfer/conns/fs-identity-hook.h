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
 * further connections are there, because an answer of the first one comes
 * behind all data that is in flight. Then each of the others reads the
 * temporary file, or looks at the same file, and has to find the same. The
 * temporary file is removed over the first connection, whatever came out.
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
struct fs_check;				/* likewise */

/* Where it is tried: one of these is not NULL. They are copied. */
struct fs_location {
	const char *dir;	/* an upload: "" is the working directory */
	const char *file;	/* a download: not an empty one */
	uint64_t size;		/* of that file */
};

enum fs_identity_result { FS_IDENTITY_PENDING, FS_IDENTITY_SAME,
    FS_IDENTITY_FAILED };

/* "*why" is for people, and valid as long as the reference or proof. */
struct fs_reference *fs_reference_new(struct sftp_stream *first,
    const struct fs_location *);
enum fs_identity_result fs_reference_result(const struct fs_reference *,
    const char **why);

/* It is not needed any more: the temporary file is removed. May be repeated. */
void	fs_reference_stop(struct fs_reference *);
int	fs_reference_is_stopped(const struct fs_reference *);

/* Returns 1 while the first connection owes answers. */
int	fs_reference_in_flight(const struct fs_reference *);

/* The temporary file that would be left if the process ended now, or NULL */
const char *fs_reference_temp_file(const struct fs_reference *);

/* Accepts NULL. Nothing may be owed. */
void	fs_reference_free(struct fs_reference *);

/* The reference is good; it may end before the proof. */
struct fs_check *fs_check_new(struct sftp_stream *other,
    const struct fs_reference *);

/* The result is FS_IDENTITY_FAILED, unless there is one. */
void	fs_check_fail(struct fs_check *, const char *why);

/* What came out, when all that it was asked for is answered */
enum fs_identity_result fs_check_result(const struct fs_check *,
    const char **why);

/* Accepts NULL. */
void	fs_check_free(struct fs_check *);

#endif /* HAYATE_FS_IDENTITY_HOOK_H */
