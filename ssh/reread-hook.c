/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See reread-hook.h for the idea. */

#include <sys/types.h>
#include <sys/stat.h>

#include <stdio.h>

#include "reread-hook.h"

static int read_pipe;		/* something came from a pipe */

/* The null device is empty each time, also by another name. */
static int
can_read_again(const struct stat *st)
{
	struct stat null;

	if (S_ISREG(st->st_mode) || S_ISDIR(st->st_mode))
		return 1;
	return S_ISCHR(st->st_mode) && stat("/dev/null", &null) == 0 &&
	    S_ISCHR(null.st_mode) && st->st_rdev == null.st_rdev;
}

FILE *
reread_fopen(const char *path, const char *mode)
{
	FILE *f = fopen(path, mode);
	struct stat st;

	if (f != NULL && (fstat(fileno(f), &st) == -1 || !can_read_again(&st)))
		read_pipe = 1;
	return f;
}

int
reread_all(void)
{
	return !read_pipe;
}

int
reread_file(const char *path)
{
	struct stat st;

	return stat(path, &st) == -1 || can_read_again(&st);
}
