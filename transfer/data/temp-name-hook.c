/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See temp-name-hook.h. */

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

#include "temp-name-hook.h"

/* Bytes of a name that its temporary name keeps; 255 are allowed in all. */
#define NAME_MAX_KEPT	230

static uint64_t
hash_of_name(const char *name)
{
	u_char sum[SHA256_DIGEST_LENGTH];
	SHA2_CTX sha;

	SHA256Init(&sha);
	SHA256Update(&sha, (const u_char *)name, strlen(name));
	SHA256Final(sum, &sha);
	return PEEK_U64(sum);
}

char *
temp_name_new(const char *path)
{
	const char *slash = strrchr(path, '/'), *name;
	char *hidden;

	name = slash == NULL ? path : slash + 1;
	xasprintf(&hidden, "%.*s.%.*s.hayate-%016llx", (int)(name - path),
	    path, NAME_MAX_KEPT, name,
	    (unsigned long long)hash_of_name(name) & ~15ULL);
	return hidden;
}

void
temp_name_set_number(char *name, unsigned int number)
{
	name[strlen(name) - 1] = '0' + number;
}

int
temp_name_is_file(const Attrib *a)
{
	const u_int needed = SSH2_FILEXFER_ATTR_SIZE |
	    SSH2_FILEXFER_ATTR_PERMISSIONS | SSH2_FILEXFER_ATTR_ACMODTIME;

	return (a->flags & needed) == needed && S_ISREG(a->perm);
}

struct stale_temp_file
temp_name_stale_file(const Attrib *a)
{
	return (struct stale_temp_file){ .is = temp_name_is_file(a) &&
	    (a->flags & SSH2_FILEXFER_ATTR_UIDGID) != 0 ? STALE_TEMP_FILE :
	    STALE_TEMP_NOT_FILE, .owner = a->uid, .size = a->size,
	    .mtime = a->mtime };
}
