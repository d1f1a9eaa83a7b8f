/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * A later Hayate may send "4", or "3;word" to say more. This one must recognise
 * both, so only the number at the start of the value counts.
 */

#include <ctype.h>
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

/* Skips one number, at least one digit long. Returns NULL if there is none. */
static const char *
skip_number(const char *s)
{
	const char *end = s + strspn(s, "0123456789");

	return end == s ? NULL : end;
}

/*
 * Skips "10.0p2" or "9.9" or "6.6.1p1". Returns what follows it, or NULL if
 * it is no version of OpenSSH's own.
 */
static const char *
skip_release(const char *s)
{
	int numbers;

	for (numbers = 1; (s = skip_number(s)) != NULL && *s == '.'; numbers++)
		s++;
	if (s == NULL || numbers < 2)
		return NULL;
	return *s == 'p' ? skip_number(s + 1) : s;
}

/* strcasestr() is not everywhere. */
static int
contains_hpn(const char *s)
{
	for (; *s != '\0'; s++) {
		if (tolower((unsigned char)s[0]) == 'h' &&
		    tolower((unsigned char)s[1]) == 'p' &&
		    tolower((unsigned char)s[2]) == 'n')
			return 1;
	}
	return 0;
}

int
peer_is_openssh(const char *banner)
{
	static const char name[] = "OpenSSH_";
	const char *s;

	if (strncmp(banner, "SSH-", 4) != 0 ||
	    (s = strchr(banner + 4, '-')) == NULL ||
	    strncmp(s + 1, name, sizeof(name) - 1) != 0 ||
	    (s = skip_release(s + sizeof(name))) == NULL)
		return 0;
	return (*s == '\0' || *s == ' ') && !contains_hpn(s);
}
