/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See bufgrow.h for the idea. */

#include <stdatomic.h>
#include <stdint.h>

#include "bufgrow.h"

/*
 * Below this, exact growth is cheap and most buffers (a name, a key, a
 * single message) never grow again.
 */
#define BUFGROW_FROM	(32 * 1024)

/* From here on memory counts more than copies. */
#define BUFGROW_LARGE	(4 * 1024 * 1024)

/* The largest SFTP message is 256 KB, a packet's buffer no more. */
#define BUFGROW_KEEP	(512 * 1024)

/* Smaller buffers do not pay for a page more. */
#define BUFGROW_PAGES	(64 * 1024)

#define PAGE	4096
#define LINE	64

size_t
bufgrow_size(size_t have, size_t need, size_t max)
{
	size_t more = have < BUFGROW_LARGE ? have / 2 : have / 4, want;

	if (have < BUFGROW_FROM || need >= max)
		return need;
	want = have > max - more ? max : have + more;
	return want > need ? want : need;
}

int
bufgrow_should_compact(size_t off, size_t size, size_t len, size_t have)
{
	return size - off + len <= have && off >= have / 5;
}

int
bufgrow_should_release(size_t have)
{
	return have > BUFGROW_KEEP;
}

size_t
bufgrow_padding(size_t alloc)
{
	return alloc < BUFGROW_PAGES ? 0 : PAGE;
}

size_t
bufgrow_colour(size_t padding, const void *memory)
{
	static atomic_size_t lines;
	size_t line;

	if (padding == 0)
		return 0;
	line = atomic_fetch_add_explicit(&lines, 1, memory_order_relaxed);
	/* Never the first: what malloc() maps by itself begins there. */
	line = 1 + line % (PAGE / LINE - 1);
	return (line * LINE - (uintptr_t)memory) % PAGE;
}
