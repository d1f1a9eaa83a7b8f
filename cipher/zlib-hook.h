/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * zlib-hook: two fixes for compression that upstream has from 10.6 on.
 * build-aux/overlay.mk lets packet.c call these functions instead of zlib's,
 * which they call.
 *
 * A compressed packet must not decompress to more than an uncompressed one may
 * have (CVE-2026-106585); before 10.6 the limit was the 128 MB of a buffer.
 *
 * Outgoing data is compressed without references to earlier text
 * (CVE-2026-106582): the length of a packet revealed which of its text another
 * channel had sent before.
 *
 * One connection per process; the thread that reads and writes packets.
 */

#ifndef HAYATE_ZLIB_HOOK_H
#define HAYATE_ZLIB_HOOK_H

#include <zlib.h>

/*
 * As inflate(); returns Z_DATA_ERROR instead if a packet becomes larger than
 * 256 KiB, and packet.c then ends the connection. A packet ends where the
 * function returns Z_BUF_ERROR; call it until then. The count is of one stream;
 * a new stream, whose total_out is smaller, begins at 0.
 */
int	zlib_bounded_inflate(z_streamp, int flush);

/*
 * As deflateInit_(), whose result it returns, with the strategy Z_HUFFMAN_ONLY,
 * which compresses less.
 */
int	zlib_huffman_init(z_streamp, int level, const char *version, int size);

#endif /* HAYATE_ZLIB_HOOK_H */
