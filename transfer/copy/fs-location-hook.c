/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See fs-location-hook.h. */

#include "includes.h"

#include <sys/types.h>

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "xmalloc.h"

#include "deferred-signals-hook.h"
#include "file-hook.h"
#include "fs-identity-hook.h"
#include "fs-location-hook.h"

/* Where a put proves that another host sees the same files. */
static int
target_location(struct transfer *t, unsigned int n,
    struct fs_location *location)
{
	const char *slash = strrchr(t->root, '/');

	if (n > (unsigned int)t->root_is_dir)
		return -1;
	free(t->root_dir);
	if (n == 0 && t->root_is_dir)
		t->root_dir = xstrdup(t->root);
	else
		xasprintf(&t->root_dir, "%.*s", slash == NULL ? 0 :
		    (int)(slash - t->root + 1), t->root);
	signals_catch();
	location->dir = t->root_dir;
	return 0;
}

/* So many of the files that are in flight are looked at. */
#define CANDIDATES_MAX	256

/* Likewise a download: the n-th file that is not empty. */
static int
source_location(const struct transfer *t, unsigned int n,
    struct fs_location *location)
{
	struct sched_entry *j = sched_next_in_order(t->sched, NULL);
	const struct file *file;
	unsigned int i;

	for (i = 0; j != NULL && i < CANDIDATES_MAX; i++) {
		file = sched_info(j).user;
		if (sched_info(j).kind == KIND_FILE && file->size > 0 && n-- ==
		    0) {
			location->file = file->src;
			location->size = file->size;
			return 0;
		}
		j = sched_next_in_order(t->sched, j);
	}
	return -1;
}

int
fs_location_find(void *run, unsigned int n, struct fs_location *location)
{
	struct transfer *t = run;

	if (t->root == NULL || t->dest_stream != NULL)
		return -1;
	return t->ops->is_put ? target_location(t, n, location) :
	    source_location(t, n, location);
}
