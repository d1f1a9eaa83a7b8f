/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See hidden-hook.h. */

#include "includes.h"

#include <sys/types.h>
#include <sys/stat.h>

#ifdef HAVE_SHA2_H
# include <sha2.h>
#endif
#include <stdlib.h>
#include <string.h>

#include "misc.h"
#include "sftp.h"
#include "sftp-common.h"
#include "sshbuf.h"
#include "xmalloc.h"

#include "hidden-hook.h"

/* Of a name, so many bytes are part of the hidden name; 255 are allowed. */
#define NAME_KEPT	230

static uint64_t
hash(const char *name, uint64_t size, const struct timespec *mtime)
{
	const uint64_t numbers[] = { size, mtime->tv_sec, mtime->tv_nsec };
	u_char sum[SHA256_DIGEST_LENGTH], number[8];
	SHA2_CTX sha;
	size_t i;

	SHA256Init(&sha);
	for (i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		POKE_U64(number, numbers[i]);
		SHA256Update(&sha, number, sizeof(number));
	}
	SHA256Update(&sha, (const u_char *)name, strlen(name));
	SHA256Final(sum, &sha);
	return PEEK_U64(sum);
}

char *
hidden_name(const char *path, uint64_t size, const struct timespec *mtime)
{
	const char *slash = strrchr(path, '/'), *name;
	char *hidden;

	name = slash == NULL ? path : slash + 1;
	xasprintf(&hidden, "%.*s.%.*s.hayate-%016llx", (int)(name - path),
	    path, NAME_KEPT, name,
	    (unsigned long long)hash(name, size, mtime) & ~15ULL);
	return hidden;
}

void
hidden_number(char *name, unsigned int number)
{
	name[strlen(name) - 1] = '0' + number;
}

int
hidden_is_file(const Attrib *a)
{
	const u_int needed = SSH2_FILEXFER_ATTR_SIZE |
	    SSH2_FILEXFER_ATTR_PERMISSIONS | SSH2_FILEXFER_ATTR_ACMODTIME;

	return (a->flags & needed) == needed && S_ISREG(a->perm);
}
