/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * bufmap: pages of a large buffer, which grow and go back without a copy.
 *
 * A window of 512 MiB may stand in one buffer while its reader is slow. Memory
 * of malloc() would hold it twice while it grows, copy all of it each time, and
 * keep what the reader has taken until the buffer is empty. The kernel moves
 * pages by reference and takes them back from either end.
 *
 * The promise that what a buffer held is wiped holds here as well: the kernel
 * gives nobody a page before it has zeroed it.
 *
 * Units: bytes. "len" is what its maker asked for, or bufmap_resize() was told
 * last. Where the system cannot move pages, nothing is made, and the caller
 * takes malloc(). Thread safe.
 */

#ifndef HAYATE_BUFMAP_H
#define HAYATE_BUFMAP_H

#include <stddef.h>

/* Less is copied sooner than its pages are moved. */
#define BUFMAP_MIN	(1024 * 1024)

/* Zeroed memory that begins with a page, or NULL. */
void	*bufmap_new(size_t len);

/*
 * Gives back the pages before "front", which bufmap_page_floor() has made, and
 * makes the rest "want" bytes long. Returns where it is now, or NULL, and then
 * nothing has changed.
 */
void	*bufmap_resize(void *memory, size_t len, size_t front, size_t want);

/* So many of these bytes are whole pages. */
size_t	 bufmap_page_floor(size_t bytes);

void	 bufmap_free(void *memory, size_t len);

#endif /* HAYATE_BUFMAP_H */
