/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * bufmap: memory of a large buffer in whole pages, which grows and shrinks
 * without a copy.
 *
 * A window of 512 MiB may be queued in one buffer while its reader is slow.
 * Memory of malloc() would exist twice while it grows, be copied each time, and
 * stay allocated until the buffer is empty. The kernel moves pages by reference
 * (mremap) and takes them back from either end.
 *
 * The promise that the content of a buffer is wiped holds here as well: the
 * kernel zeroes a page before anybody else gets it.
 *
 * Units: bytes. "len" is always the size passed to bufmap_new(), or to the last
 * bufmap_resize(); both round it up to whole pages. Without mremap (outside
 * Linux) nothing can be mapped, both return NULL, and the caller uses malloc().
 * Thread safe.
 */

#ifndef HAYATE_BUFMAP_H
#define HAYATE_BUFMAP_H

#include <stddef.h>

/* For callers: smaller buffers are copied faster than their pages are moved. */
#define BUFMAP_MIN	(1024 * 1024)

/*
 * Returns zeroed memory that begins at a page, which the caller frees with
 * bufmap_free(); NULL if there is none, or "len" is 0.
 */
void	*bufmap_new(size_t len);

/*
 * Frees the first "front" bytes, a result of bufmap_page_floor() less than
 * "len", and makes the rest "want" bytes long: cuts it or appends zeroed pages.
 * Returns its new address, after which the old one is invalid, or NULL with
 * nothing changed.
 */
void	*bufmap_resize(void *memory, size_t len, size_t front, size_t want);

/* Returns "bytes" rounded down to whole pages; 0 outside Linux. */
size_t	 bufmap_page_floor(size_t bytes);

/* Frees all of the memory, which must not be NULL. */
void	 bufmap_free(void *memory, size_t len);

#endif /* HAYATE_BUFMAP_H */
