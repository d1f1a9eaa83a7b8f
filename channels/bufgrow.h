/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * bufgrow: how a buffer that holds a backlog grows, and what it keeps.
 *
 * Stock sshbuf grows to exactly what is needed, in steps of 256 bytes, each
 * a new allocation, a copy and two wipes of everything held. A backlog of n
 * bytes that arrives in packets costs n^2. After each packet a reset gives
 * all memory back, and the next packet asks for it again.
 *
 * A buffer that grows by a half moves each byte a few times only. A large
 * one grows by a quarter, because old and new exist at once. Once a fifth of
 * the buffer is free at its front, the content moves there before the buffer
 * grows. A reset keeps up to BUFGROW_KEEP bytes, enough for any SSH packet
 * and SFTP message. The content is wiped as before.
 *
 * Units: bytes. Pure functions, but for bufgrow_colour(), which counts. Thread
 * safe.
 */

#ifndef HAYATE_BUFGROW_H
#define HAYATE_BUFGROW_H

#include <stddef.h>

/*
 * The allocation to ask for, if "have" is allocated, "need" must fit and
 * "max" is the most: at least need, at most max (or need where that is more).
 */
size_t	bufgrow_size(size_t have, size_t need, size_t max);

/*
 * For "len" more bytes that do not fit behind the content: whether to move it
 * to the front instead of growing. The content ends at "size", the first "off"
 * bytes are free, "have" is allocated.
 */
int	bufgrow_should_compact(size_t off, size_t size, size_t len,
    size_t have);

/* Whether a reset should give an allocation of "have" bytes back. */
int	bufgrow_should_release(size_t have);

/*
 * A large buffer begins at another cache line of a page than the one before.
 * glibc copies with "rep movsb", which AMD's Zen 3 and Zen 4 slow down to a
 * fifteenth where the target begins 1 to 31 bytes behind the source modulo
 * 4096 (glibc bug 30994). Two mapped buffers and the header of a packet are
 * such a case.
 *
 * bufgrow_padding() says how many bytes to allocate beyond "alloc", 0 for a
 * small buffer. bufgrow_colour() says how far behind "memory" the buffer
 * begins, at most as far as there is room.
 */
size_t	bufgrow_padding(size_t alloc);
size_t	bufgrow_colour(size_t room, const void *memory);

#endif /* HAYATE_BUFGROW_H */
