/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * sparse-hook: holes of files, which a copy need not carry or write.
 *
 * Download: 32 KiB of zeros behind the end of the local file make it
 * longer instead of being written. Zeros over bytes that are there are written,
 * so a target that is copied over in place may have fewer holes than its
 * source.
 *
 * Upload: a hole of 32 KiB or more is not sent, and the target gets its length
 * at the end. The target must be a regular file, and is truncated before, so
 * that bytes that are not sent read as zeros, and an interrupted copy is a
 * prefix of its source. If the target has bytes and must not be truncated, as
 * with scp, every byte is sent, as in upstream: it may be the source itself. A
 * large file that could go over several connections goes over one and without
 * its holes if they are an eighth of it, or three quarters if no other file is
 * copied.
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

/*
 * Returns 1 if a regular file has holes enough, and one that need not be sent.
 * "wide": it could go over several connections; "alone": no other file is
 * copied. The descriptor is at offset 0 then.
 */
int	sparse_is_worth(int fd, const struct stat *, int wide, int alone);

/*
 * If there is a hole at "*off", moves "*off" behind it, or to the end of the
 * file; the descriptor is moved to "*off". Returns how many of "len" bytes are
 * to be sent from there before the next hole. What cannot be found out counts
 * as data.
 */
size_t	sparse_next(int fd, off_t *off, size_t len);

#endif /* HAYATE_SPARSE_HOOK_H */
