/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See where-hook.h. */

#include "includes.h"

#include <sys/types.h>

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "xmalloc.h"

#include "file-hook.h"
#include "proof-hook.h"
#include "signals-hook.h"
#include "where-hook.h"

/* Where a put proves that another host sees the same files. */
static int
to_put(struct run *t, unsigned int n, struct proof_where *where)
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
	where->dir = t->root_dir;
	return 0;
}

/* So many of the files that are under way are looked at. */
#define LOOKED_MOST	256

/* Likewise a get: the n-th file that is not empty. */
static int
to_get(const struct run *t, unsigned int n, struct proof_where *where)
{
	struct job *j = plan_oldest(t->s);
	const struct file *file;
	unsigned int i;

	for (i = 0; j != NULL && i < LOOKED_MOST; i++) {
		file = plan_own(j);
		if (plan_kind(j) == PLAN_FILE && file->size > 0 && n-- == 0) {
			where->file = file->src;
			where->size = file->size;
			return 0;
		}
		j = plan_after(t->s, j);
	}
	return -1;
}

int
where_to_prove(void *run, unsigned int n, struct proof_where *where)
{
	struct run *t = run;

	if (t->root == NULL || t->to != NULL)
		return -1;
	return t->side->is_put ? to_put(t, n, where) :
	    to_get(t, n, where);
}
