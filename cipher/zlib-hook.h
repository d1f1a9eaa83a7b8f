/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * What zlib may do for a peer. packet.c calls these by build-aux/overlay.mk,
 * and they call zlib's.
 *
 * A compressed packet may become as much as an uncompressed one may have, and
 * no more: upstream bounds it from 10.6 on (CVE-2026-106585), and before that
 * by the 128 MB of a buffer. A peer that sends more breaks the protocol.
 *
 * What is compressed is coded without references to earlier text, as upstream
 * does from 10.6 on (CVE-2026-106582): the length of a packet told what of it
 * another channel had sent before. Called in the main thread, or wherever
 * packets are read.
 */

#ifndef HAYATE_ZLIB_HOOK_H
#define HAYATE_ZLIB_HOOK_H

#include <zlib.h>

int	zlib_bounded_inflate(z_streamp, int flush);
int	zlib_huffman_init(z_streamp, int level, const char *version, int size);

#endif /* HAYATE_ZLIB_HOOK_H */
