/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

#include "includes.h"

#include <string.h>

#include "crypt-hook.h"

/*
 * Characters of the shortest hash (DES); marks of a locked account are shorter.
 */
#define HASH_MIN	13

char *
crypt_or_fail(const char *password, const char *salt)
{
	char *hash = xcrypt(password, salt);

	return hash != NULL && strlen(hash) >= HASH_MIN ? hash : NULL;
}
