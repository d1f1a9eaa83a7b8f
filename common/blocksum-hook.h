/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * blocksum-hook: SHA-256 of the blocks of a file.
 *
 * Client and server compare files by these sums (check-file-name, PROTOCOL, 4).
 * The SHA-256 is the one that upstream links into every program: that of libc
 * or libmd, or its own copy. scp, sftp and sftp-server have no libcrypto.
 *
 * Does no allocation, keeps no state, and leaves the file's offset alone.
 */

#ifndef HAYATE_BLOCKSUM_HOOK_H
#define HAYATE_BLOCKSUM_HOOK_H

#include <sys/types.h>
#include <stdint.h>

#define BLOCKSUM_NAME	"sha256"	/* as the draft of check-file says it */
#define BLOCKSUM_LEN	32		/* bytes of one sum */

/*
 * Sums each "block" bytes of the "len" bytes from "off" on into "sums", which
 * has room for "most" sums. The last block ends with the range, or with the
 * file. A block of 0 gives one sum of the whole range, even of an empty one.
 * "keep_going", if not NULL, is asked about every MiB, and 0 ends it with
 * ECANCELED. Returns the number of sums, or -1 with errno if a read failed.
 */
ssize_t	blocksum_file(int fd, uint64_t off, uint64_t len, uint32_t block,
    unsigned char *sums, size_t most, int (*keep_going)(void));

#endif /* HAYATE_BLOCKSUM_HOOK_H */
