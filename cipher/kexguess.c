/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See kexguess.h for the idea. */

#include <stdlib.h>
#include <string.h>

#include "kexguess.h"
#include "namelist.h"

/* Copies the first name. Returns 0 if there is none, or a name is too long. */
static int
get_first(const char *list, char name[NAMELIST_NAME_SIZE])
{
	size_t len = strcspn(list, ",");

	if (len == 0 || len >= NAMELIST_NAME_SIZE)
		return 0;
	memcpy(name, list, len);
	name[len] = '\0';
	return 1;
}

static int
has_same_first(const char *one, const char *other)
{
	char a[NAMELIST_NAME_SIZE], b[NAMELIST_NAME_SIZE];

	return get_first(one, a) && get_first(other, b) && strcmp(a, b) == 0;
}

/* The first name of a client that a server has is the one that is chosen. */
static int
has_first_of(const char *server, const char *client)
{
	char name[NAMELIST_NAME_SIZE];

	return get_first(client, name) && strcmp(name, KEXGUESS_NAME) != 0 &&
	    namelist_has_any(server, name);
}

int
kexguess_is_named(const struct kexguess_lists *client,
    const struct kexguess_lists *server)
{
	return namelist_has_any(client->kex, KEXGUESS_NAME) &&
	    namelist_has_any(server->kex, KEXGUESS_NAME);
}

int
kexguess_is_right(const struct kexguess_lists *client,
    const struct kexguess_lists *server)
{
	if (kexguess_is_named(client, server))
		return has_first_of(server->kex, client->kex) &&
		    has_first_of(server->key, client->key);
	return has_same_first(client->kex, server->kex) &&
	    has_same_first(client->key, server->key);
}

char *
kexguess_put_first(const char *list, const char *name)
{
	char *rest, *all;

	if (*name == '\0' || strchr(name, ',') != NULL ||
	    !namelist_has_any(list, name) ||
	    (rest = namelist_remove(list, name)) == NULL)
		return NULL;
	all = namelist_join(name, rest);
	free(rest);
	return all;
}
