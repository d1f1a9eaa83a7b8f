/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * blocksum-hook: SHA-256 checksums of the blocks of a file.
 *
 * Client and server compare these checksums instead of the bytes of a file
 * (extension check-file-name, PROTOCOL, section 4). The SHA-256 code is the one
 * that upstream links into every program: that of libc or libmd, or its own.
 * scp, sftp and sftp-server do not link libcrypto.
 *
 * No state, no allocation. Thread safe. The offset of the descriptor does not
 * move; a pipe or socket is an error.
 */

#ifndef HAYATE_BLOCKSUM_HOOK_H
#define HAYATE_BLOCKSUM_HOOK_H

#include <sys/types.h>
#include <stdint.h>

#define BLOCKSUM_NAME	"sha256"	/* the algorithm's name on the wire */
#define BLOCKSUM_LEN	32		/* bytes of one checksum */

/*
 * Computes one checksum for each "block" bytes of the "len" bytes at offset
 * "off" and stores up to "max" of them in "sums", BLOCKSUM_LEN bytes each;
 * blocks after these are not read. The last block ends with the range or at end
 * of file, so it may be shorter. Block size 0 means one checksum of the whole
 * range, even of an empty one.
 *
 * "keep_going", if not NULL, is called before each block that is not empty and
 * after each MiB of a block; if it returns 0, the computation stops with errno
 * ECANCELED.
 *
 * Returns the number of checksums stored, or -1 with errno set if it stopped or
 * a read failed; ignore "sums" then. Reads interrupted by a signal are
 * repeated. If the file ends at or before "off", the number is 0, or 1 with
 * block size 0; with "max" 0 it is 0.
 */
ssize_t	blocksum_file(int fd, uint64_t off, uint64_t len, uint32_t block,
    unsigned char *sums, size_t max, int (*keep_going)(void));

#endif /* HAYATE_BLOCKSUM_HOOK_H */
