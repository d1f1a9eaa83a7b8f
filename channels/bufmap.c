/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See bufmap.h for the idea. */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE		/* for mremap() */
#endif

#include <sys/types.h>
#include <sys/mman.h>

#include <stdint.h>
#include <unistd.h>

#include "bufmap.h"

#ifdef MREMAP_MAYMOVE

static size_t
page_size(void)
{
	long size = sysconf(_SC_PAGESIZE);

	return size > 0 ? (size_t)size : 4096;
}

size_t
bufmap_page_floor(size_t bytes)
{
	return bytes - bytes % page_size();
}

/* Rounds up to whole pages; 0 on overflow. */
static size_t
page_ceil(size_t bytes)
{
	size_t page = page_size();

	return bytes > SIZE_MAX - page ? 0 :
	    bufmap_page_floor(bytes + page - 1);
}

void *
bufmap_new(size_t len)
{
	void *memory = mmap(NULL, page_ceil(len), PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

void *
bufmap_resize(void *memory, size_t len, size_t front, size_t want)
{
	char *rest = (char *)memory + front;
	void *moved = mremap(rest, page_ceil(len) - front, page_ceil(want),
	    MREMAP_MAYMOVE);

	if (moved == MAP_FAILED)
		return NULL;
	if (front > 0)
		(void)munmap(memory, front);
	return moved;
}

void
bufmap_free(void *memory, size_t len)
{
	(void)munmap(memory, page_ceil(len));
}

#else /* The caller takes malloc(). */

void *
bufmap_new(size_t len)
{
	(void)len;
	return NULL;
}

void *
bufmap_resize(void *memory, size_t len, size_t front, size_t want)
{
	(void)memory;
	(void)len;
	(void)front;
	(void)want;
	return NULL;
}

size_t
bufmap_page_floor(size_t bytes)
{
	(void)bytes;
	return 0;
}

void
bufmap_free(void *memory, size_t len)
{
	(void)memory;
	(void)len;
}

#endif
