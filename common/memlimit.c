/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See memlimit.h for the idea. */

#include <sys/types.h>

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memlimit.h"
#include "minmax.h"

/* Where a version of control groups has its limits; the list ends with NULL. */
static const struct version {
	const char *mount_point;
	const char *files[3];
} v1 = { "/sys/fs/cgroup/memory", { "memory.limit_in_bytes" } },
    v2 = { "/sys/fs/cgroup", { "memory.max", "memory.high" } };

/* Returns the number in a file; UINT64_MAX if it has none, as in "max". */
static uint64_t
read_limit(const char *dir, const char *name)
{
	char path[PATH_MAX], text[32], *end;
	uint64_t limit = UINT64_MAX;
	FILE *f;

	if (snprintf(path, sizeof(path), "%s/%s", dir, name) >=
	    (int)sizeof(path) || (f = fopen(path, "re")) == NULL)
		return UINT64_MAX;
	if (fgets(text, sizeof(text), f) != NULL) {
		errno = 0;
		limit = strtoull(text, &end, 10);
		if (errno != 0 || end == text)
			limit = UINT64_MAX;
	}
	fclose(f);
	return limit;
}

/* Returns the lowest limit of a group and of all above it. */
static uint64_t
lowest_limit(const char *root, const struct version *v, const char *group)
{
	char dir[PATH_MAX];
	size_t top = strlen(root) + strlen(v->mount_point);
	uint64_t least = UINT64_MAX;
	const char *const *name;

	if (snprintf(dir, sizeof(dir), "%s%s%s", root, v->mount_point, group) >=
	    (int)sizeof(dir))
		return UINT64_MAX;
	for (;;) {
		for (name = v->files; *name != NULL; name++)
			least = min_u64(least, read_limit(dir, *name));
		if (strlen(dir) <= top)
			return least;
		*strrchr(dir, '/') = '\0';
	}
}

/*
 * Returns the limit of the group in a line of /proc/self/cgroup: a number, the
 * controllers, of which version 2 names none, and the group.
 */
static uint64_t
limit_of_line(const char *root, char *line)
{
	char *controllers, *word;

	line[strcspn(line, "\n")] = '\0';
	(void)strsep(&line, ":");
	controllers = strsep(&line, ":");
	if (line == NULL || *line != '/' || strstr(line, "/..") != NULL)
		return UINT64_MAX;
	if (*controllers == '\0')
		return lowest_limit(root, &v2, line);
	while ((word = strsep(&controllers, ",")) != NULL) {
		if (strcmp(word, "memory") == 0)
			return lowest_limit(root, &v1, line);
	}
	return UINT64_MAX;
}

uint64_t
memlimit_read(const char *root)
{
	char path[PATH_MAX], *line = NULL;
	uint64_t least = UINT64_MAX;
	size_t size = 0;
	FILE *f;

	if (snprintf(path, sizeof(path), "%s/proc/self/cgroup", root) >=
	    (int)sizeof(path) || (f = fopen(path, "re")) == NULL)
		return UINT64_MAX;
	while (getline(&line, &size, f) != -1)
		least = min_u64(least, limit_of_line(root, line));
	free(line);
	fclose(f);
	return least;
}
