/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * sha256-hook: SHA-256 by libcrypto, in programs that are not linked with it.
 *
 * Where the CPU has instructions for SHA-256, libcrypto takes a seventh of the
 * time of libmd's or upstream's portable code, and elsewhere half. But scp,
 * sftp and sftp-server hash only to verify files, and linked with libcrypto
 * each of them would start 0.6 to 1 ms later. So they load it when they have
 * more to hash than a few small files, by the name under which the same build's
 * ssh is linked with it: a package that has ssh, or requires it, has the
 * dependency. Until then, and if libcrypto cannot be loaded, as in a chroot
 * without it, the portable code is used. The latter is one line at -v.
 *
 * A program that is linked with libcrypto calls it directly, and loads nothing.
 * One of them is internal-sftp, whose root directory may belong to the user.
 *
 * libcrypto reads no configuration for this, unless the program has read it
 * already. An error of libcrypto is an error: there is no hash then.
 *
 * sha256_begin() must not run in two threads at once. Out of memory ends the
 * process.
 */

#ifndef HAYATE_SHA256_HOOK_H
#define HAYATE_SHA256_HOOK_H

#include <sys/types.h>
#include <stdint.h>

#define SHA256_LEN	32		/* bytes of a hash */

struct sha256;				/* one hash after the other */

/* Returns what the caller frees. */
struct sha256 *sha256_new(void);

/* Accepts NULL. */
void	sha256_free(struct sha256 *);

/*
 * sha256_end() stores the hash of all bytes added since sha256_begin(), where
 * "len" says how many are expected. Each returns 0, or -1 after a message if
 * libcrypto failed; the next call then has to be sha256_begin() or
 * sha256_free().
 */
int	sha256_begin(struct sha256 *, uint64_t len);
int	sha256_add(struct sha256 *, const void *, size_t);
int	sha256_end(struct sha256 *, unsigned char hash[SHA256_LEN]);

#endif /* HAYATE_SHA256_HOOK_H */
