/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 *   kexguess-replay guess CLIENT-KEX CLIENT-KEY SERVER-KEX SERVER-KEY
 *	right or wrong, and by which rule: first or chosen
 *   kexguess-replay front LIST NAME		the list, or none
 *   kexguess-replay noise SEED
 *	fails if a guess that is right is not of what is chosen
 */

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kexguess.h"
#include "namelist.h"

#define ROUNDS	20000
#define LONGEST	160

static void
judge(const struct kexguess_lists *client, const struct kexguess_lists *server)
{
	printf("%s by what is %s\n",
	    kexguess_is_right(client, server) ? "right" : "wrong",
	    kexguess_is_named(client, server) ? "chosen" : "first");
}

static void
front(const char *list, const char *name)
{
	char *all = kexguess_put_first(list, name);

	puts(all == NULL ? "none" : all);
	free(all);
}

/* Commas, a few letters, and the name of the rule, in any order */
static char *
make_noise(void)
{
	static const char *const parts[] = { ",", ",,", "a", "b", "ab", "\xff",
	    KEXGUESS_NAME, "," KEXGUESS_NAME,
	    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" };
	char *list = calloc(1, LONGEST + 40);
	size_t i, len = (size_t)random() % LONGEST;

	if (list == NULL)
		err(1, "calloc");
	while (strlen(list) < len) {
		i = (size_t)random() % (sizeof(parts) / sizeof(*parts));
		strcat(list, parts[i]);
	}
	return list;
}

/* Whether both of a side's first names are those that are chosen */
static int
is_chosen(const struct kexguess_lists *client,
    const struct kexguess_lists *server)
{
	char name[NAMELIST_NAME_SIZE];
	size_t len;

	len = strcspn(client->kex, ",");
	if (!namelist_choose(client->kex, server->kex, name) ||
	    len != strlen(name) || strncmp(client->kex, name, len) != 0)
		return 0;
	len = strcspn(client->key, ",");
	return namelist_choose(client->key, server->key, name) &&
	    len == strlen(name) && strncmp(client->key, name, len) == 0;
}

static void
noise(unsigned int seed)
{
	struct kexguess_lists one, other;
	char *list[4];
	int i, n;

	srandom(seed);
	for (n = 0; n < ROUNDS; n++) {
		for (i = 0; i < 4; i++)
			list[i] = make_noise();
		one = (struct kexguess_lists){ list[0], list[1] };
		other = (struct kexguess_lists){ list[2], list[3] };
		if (kexguess_is_right(&one, &other) &&
		    !is_chosen(&one, &other))
			errx(1, "%s %s", list[0], list[2]);
		free(kexguess_put_first(list[0], list[1]));
		for (i = 0; i < 4; i++)
			free(list[i]);
	}
}

int
main(int argc, char **argv)
{
	if (argc == 6 && strcmp(argv[1], "guess") == 0)
		judge(&(struct kexguess_lists){ argv[2], argv[3] },
		    &(struct kexguess_lists){ argv[4], argv[5] });
	else if (argc == 4 && strcmp(argv[1], "front") == 0)
		front(argv[2], argv[3]);
	else if (argc == 3 && strcmp(argv[1], "noise") == 0)
		noise((unsigned int)atoi(argv[2]));
	else
		errx(2, "usage");
	return 0;
}
