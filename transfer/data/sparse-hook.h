/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * sparse-hook: holes of files, which a copy need not carry or write.
 *
 * What is downloaded: 32 KiB of zeros behind the end of the local file make it
 * longer instead of being written. Zeros over bytes that are there are written,
 * so a target that is copied over in place may have fewer holes than its
 * source.
 *
 * What is uploaded: a hole of 32 KiB or more is left out, and the server's file
 * is made as long as its source at the end. It must be a regular file, and is
 * emptied before, so that what is left out reads as zeros, and an interrupted
 * copy is a beginning of its source. A file with bytes that is copied over in
 * place gets every byte, as in upstream: it may be the source itself. A large
 * file that could go over several connections takes this way, and goes over
 * one, if an eighth of it is holes, or if it is put alone three quarters.
 *
 * What the file system calls a hole is believed. Main thread only.
 */

#ifndef HAYATE_SPARSE_HOOK_H
#define HAYATE_SPARSE_HOOK_H

#include <sys/types.h>

struct stat;

/*
 * Writes "len" bytes of a file that is downloaded, at "off". Returns how many
 * bytes are there now: with fewer than "len", errno is set.
 */
size_t	sparse_write(int fd, const u_char *, size_t len, off_t off);

/* Returns 1 if a regular file has a hole that need not be sent. */
int	sparse_has_hole(int fd, const struct stat *);

/*
 * Returns 1 if there may be holes that are worth this way. "wide": it could go
 * over several connections; "alone": nothing else would use them.
 */
int	sparse_is_worth(const struct stat *, int wide, int alone);

/*
 * What is to be sent next, from "*off" on or from behind the hole there: moves
 * "*off" and the descriptor to it, or to the end of the file. Returns how many
 * of "len" bytes come before the next hole.
 */
size_t	sparse_next(int fd, off_t *off, size_t len);

#endif /* HAYATE_SPARSE_HOOK_H */
