/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See reread-hook.h for the idea. */

#include <sys/types.h>
#include <sys/stat.h>

#include <stdio.h>
#include <string.h>

#include "reread-hook.h"

static int is_lost;		/* something came from a pipe */

/* /dev/null is empty each time. */
static int
is_lasting(const char *path, const struct stat *st)
{
	return S_ISREG(st->st_mode) || S_ISDIR(st->st_mode) ||
	    strcmp(path, "/dev/null") == 0;
}

FILE *
reread_fopen(const char *path, const char *mode)
{
	FILE *f = fopen(path, mode);
	struct stat st;

	if (f != NULL &&
	    (fstat(fileno(f), &st) == -1 || !is_lasting(path, &st)))
		is_lost = 1;
	return f;
}

int
reread_all(void)
{
	return !is_lost;
}

int
reread_file(const char *path)
{
	struct stat st;

	return stat(path, &st) == -1 || is_lasting(path, &st);
}
