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

/* The largest SFTP message is 256 KB, a packet's buffer no more. */
#define BUFGROW_KEEP	(512 * 1024)

size_t
bufgrow_size(size_t have, size_t need, size_t max)
{
	size_t want;

	if (have < BUFGROW_FROM || need >= max)
		return need;
	want = have > max - have / 2 ? max : have + have / 2;
	return want > need ? want : need;
}

int
bufgrow_excessive(size_t have)
{
	return have > BUFGROW_KEEP;
}
