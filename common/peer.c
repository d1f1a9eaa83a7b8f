/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * A later Hayate may send "2", or "1;word" to say more: both must be
 * recognised by this one, so only the start of the value counts.
 */

#include <string.h>

#include "peer.h"

#define VERSION_MAX	65535	/* keeps the sum from wrapping; no meaning */

unsigned int
peer_version(const unsigned char *value, size_t len)
{
	unsigned int version = 0;
	size_t i;

	if (memchr(value, '\0', len) != NULL)
		return 0;
	for (i = 0; i < len && value[i] >= '0' && value[i] <= '9'; i++) {
		version = version * 10 + (unsigned int)(value[i] - '0');
		if (version > VERSION_MAX)
			version = VERSION_MAX;
	}
	return version;
}
