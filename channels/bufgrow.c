/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See bufgrow.h for the idea. */

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
bufgrow_packs(size_t off, size_t size, size_t len, size_t have)
{
	return size - off + len <= have && off >= have / 5;
}

int
bufgrow_excessive(size_t have)
{
	return have > BUFGROW_KEEP;
}
