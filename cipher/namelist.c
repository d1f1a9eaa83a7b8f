/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See namelist.h for the idea. */

#include <stdlib.h>
#include <string.h>

#include "namelist.h"

/* A name within a list */
struct span {
	const char	*text;
	size_t		 len;
};

/* Takes the first name off "*rest". Returns 0 at the end of the list. */
static int
next_name(const char **rest, struct span *name)
{
	if (**rest == '\0')
		return 0;
	name->text = *rest;
	name->len = strcspn(*rest, ",");
	*rest += name->len;
	if (**rest == ',')
		(*rest)++;
	return 1;
}

static int
has_name(const char *list, struct span name)
{
	struct span n;

	while (next_name(&list, &n)) {
		if (n.len == name.len && memcmp(n.text, name.text, n.len) == 0)
			return 1;
	}
	return 0;
}

static int
ends_in(struct span name, const char *suffix)
{
	size_t len = strlen(suffix);

	return name.len >= len &&
	    memcmp(name.text + name.len - len, suffix, len) == 0;
}

int
namelist_has_any(const char *list, const char *names)
{
	struct span name;

	while (next_name(&names, &name)) {
		if (has_name(list, name))
			return 1;
	}
	return 0;
}

int
namelist_choose(const char *client, const char *server,
    char name[NAMELIST_NAME_SIZE])
{
	struct span n;

	while (next_name(&client, &n)) {
		if (n.len == 0 || n.len >= NAMELIST_NAME_SIZE ||
		    !has_name(server, n))
			continue;
		memcpy(name, n.text, n.len);
		name[n.len] = '\0';
		return 1;
	}
	return 0;
}

char *
namelist_join(const char *first, const char *second)
{
	size_t len;
	char *list;

	if (first == NULL)
		return NULL;
	len = strlen(first);
	if ((list = malloc(len + 1 + strlen(second) + 1)) == NULL)
		return NULL;
	memcpy(list, first, len);
	if (len != 0 && *second != '\0')
		list[len++] = ',';
	strcpy(list + len, second);
	return list;
}

/*
 * Returns the names of "list" that "other" has or, if "in" is 0, does not have,
 * of those that end in "suffix".
 */
static char *
select_names(const char *list, const char *other, int in, const char *suffix)
{
	struct span name;
	char *out, *end;

	if (list == NULL || (out = malloc(strlen(list) + 1)) == NULL)
		return NULL;
	end = out;
	while (next_name(&list, &name)) {
		if (name.len == 0 || has_name(other, name) != in ||
		    !ends_in(name, suffix))
			continue;
		if (end != out)
			*end++ = ',';
		memcpy(end, name.text, name.len);
		end += name.len;
	}
	*end = '\0';
	return out;
}

char *
namelist_remove(const char *list, const char *names)
{
	return select_names(list, names, 0, "");
}

char *
namelist_common(const char *list, const char *other, const char *suffix)
{
	return select_names(list, other, 1, suffix);
}
