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
hash(const char *name)
{
	u_char sum[SHA256_DIGEST_LENGTH];
	SHA2_CTX sha;

	SHA256Init(&sha);
	SHA256Update(&sha, (const u_char *)name, strlen(name));
	SHA256Final(sum, &sha);
	return PEEK_U64(sum);
}

char *
hidden_name(const char *path)
{
	const char *slash = strrchr(path, '/'), *name;
	char *hidden;

	name = slash == NULL ? path : slash + 1;
	xasprintf(&hidden, "%.*s.%.*s.hayate-%016llx", (int)(name - path),
	    path, NAME_KEPT, name,
	    (unsigned long long)hash(name) & ~15ULL);
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

struct left_file
hidden_found(const Attrib *a)
{
	return (struct left_file){ .is = hidden_is_file(a) &&
	    (a->flags & SSH2_FILEXFER_ATTR_UIDGID) != 0 ? LEFT_FILE :
	    LEFT_OTHER, .owner = a->uid, .size = a->size,
	    .mtime = a->mtime };
}
