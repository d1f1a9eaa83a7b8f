/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * bufgrow: how a buffer that holds a backlog grows, and what it keeps.
 *
 * Stock sshbuf grows to exactly what is needed, in steps of 256 bytes, each a
 * new allocation, a copy and two wipes of everything held. A backlog of n bytes
 * that arrives in packets costs n^2. After each packet a reset returns all
 * memory, and the next packet asks for it again.
 *
 * From 32 KiB on, a buffer grows by a half, so a byte moves only a few times;
 * from 4 MiB on, by a quarter, because old and new memory exist at once. Once a
 * fifth of the buffer is free at its front, the content moves there before the
 * buffer grows. A reset keeps up to 512 KiB, enough for any SSH packet and SFTP
 * message. The content is wiped as before.
 *
 * Units: bytes. Pure functions, except that bufgrow_colour() counts its calls.
 * Thread safe.
 */

#ifndef HAYATE_BUFGROW_H
#define HAYATE_BUFGROW_H

#include <stddef.h>

/*
 * Returns the size to allocate for a buffer of "have" bytes that has to hold
 * "need" bytes, and may not be longer than "max". Below 32 KiB, and if "need"
 * is "max" or more, that is exactly "need". Otherwise it is "have" and a half
 * or a quarter more, at least "need" and at most "max".
 */
size_t	bufgrow_size(size_t have, size_t need, size_t max);

/*
 * Call it when "len" more bytes do not fit behind the content, which ends at
 * "size" while the first "off" of "have" allocated bytes are free. Returns 1 if
 * the content should move to the front instead, because "off" is at least a
 * fifth of "have" and "len" fits then; 0 if the buffer should grow.
 */
int	bufgrow_should_compact(size_t off, size_t size, size_t len,
    size_t have);

/*
 * Returns 1 if a reset should free an allocation of "have" bytes: more than 512
 * KiB.
 */
int	bufgrow_should_release(size_t have);

/*
 * Cache colouring: each large buffer begins at another cache line of a page
 * than the one before. glibc copies with "rep movsb", which AMD's Zen 3 and Zen
 * 4 slow down to a fifteenth if the target begins 1 to 31 bytes behind the
 * source modulo 4096 (glibc bug 30994). Two mapped buffers and the header of a
 * packet are such a case.
 *
 * bufgrow_padding() returns how many bytes to allocate beyond "alloc": 4096 if
 * it is 64 KiB or more, else 0. bufgrow_colour() gets that result and the
 * allocated memory, and returns at which offset in it the buffer begins: less
 * than 4096, and 0 without padding. No buffer begins at the start of a page.
 * The caller keeps the offset, which it needs to free the memory.
 */
size_t	bufgrow_padding(size_t alloc);
size_t	bufgrow_colour(size_t padding, const void *memory);

#endif /* HAYATE_BUFGROW_H */
