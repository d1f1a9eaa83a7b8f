/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * A later Hayate may send "3", or "2;word" to say more. This one must recognise
 * both, so only the number at the start of the value counts.
 */

#include <string.h>

#include "peer.h"

#define VERSION_MAX	65535	/* keeps the number from overflowing */

unsigned int
peer_parse_version(const unsigned char *value, size_t len)
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
