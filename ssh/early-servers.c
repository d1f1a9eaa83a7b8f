/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See early-servers.h for the idea. */

#include <string.h>

#include "early-servers.h"

/* Behind "SSH-2.0-". Each was tried; regress/login.bats tries them again. */
static const char *const allowed[] = { "OpenSSH_", "dropbear", "paramiko_",
    "AsyncSSH_", "libssh_", "mod_sftp" };

static int
banner_begins(const char *banner, const char *name)
{
	if (strncmp(banner, "SSH-2.0-", 8) == 0)
		banner += 8;
	return strncmp(banner, name, strlen(name)) == 0;
}

int
early_server_is_allowed(const char *banner)
{
	size_t i;

	if (strcmp(banner, "SSH-2.0-Go") == 0 || strcmp(banner, "Go") == 0)
		return 1;
	for (i = 0; i < sizeof(allowed) / sizeof(allowed[0]); i++) {
		if (banner_begins(banner, allowed[i]))
			return 1;
	}
	return 0;
}

int
early_server_is_openssh(const char *banner)
{
	return banner_begins(banner, allowed[0]);
}

int
early_server_skips_guess(const char *banner)
{
	return banner_begins(banner, "OpenSSH_") || banner_begins(banner,
	    "dropbear");
}

int
early_server_takes_session(const char *banner)
{
	const char *release = strchr(banner, '_');

	if (!early_server_is_openssh(banner) || release == NULL)
		return 0;
	return (release[1] == '9' && release[2] == '.') ||
	    (release[1] >= '1' && release[1] <= '9' && release[2] >= '0' &&
	    release[2] <= '9');
}

int
early_server_rekeys(const char *banner)
{
	return early_server_is_openssh(banner) && strstr(banner, "hpn") != NULL;
}

/* Whether the list has the word of that length. */
static int
has_word(const char *list, const char *word, size_t len)
{
	size_t n;

	for (; *list != '\0'; list += n + (list[n] == ',')) {
		n = strcspn(list, ",");
		if (n == len && strncmp(list, word, len) == 0)
			return 1;
	}
	return 0;
}

int
early_key_is_first(const char *preferred, const char *offered,
    int (*enabled)(const char *method))
{
	char method[64];
	size_t n;

	for (; *preferred != '\0'; preferred += n + (preferred[n] == ',')) {
		n = strcspn(preferred, ",");
		if (n >= sizeof(method) || !has_word(offered, preferred, n))
			continue;
		memcpy(method, preferred, n);
		method[n] = '\0';
		if (strcmp(method, "publickey") == 0)
			return enabled(method);
		if (enabled(method))
			return 0;
	}
	return 0;
}
