/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See xopt.h. */

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "xopt.h"

/* An option with an argument has a pointer as its field, the others an int. */
static const struct option {
	const char *name;
	const char *argument;		/* as usage names it; NULL: none */
	size_t	 field;
} options[] = {
	{ "checksum", NULL, offsetof(struct xopt, checksum) },
	{ "report", "FILE", offsetof(struct xopt, report) },
	{ "resume", NULL, offsetof(struct xopt, resume) },
};
#define OPTIONS	(sizeof(options) / sizeof(*options))

static const struct option *
find_option(const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < OPTIONS; i++) {
		if (strlen(options[i].name) == len &&
		    memcmp(options[i].name, name, len) == 0)
			return &options[i];
	}
	return NULL;
}

/* Returns how many words of argv the option at its front has, or -1. */
static int
take_long(struct xopt *o, char **argv, char *why, size_t whylen)
{
	const char *name = argv[0] + 2, *value = strchr(name, '=');
	size_t len = value == NULL ? strlen(name) : (size_t)(value - name);
	const struct option *option = find_option(name, len);
	char *field;
	int words = 1;

	if (option == NULL) {
		snprintf(why, whylen, "unknown option --%.*s", (int)len, name);
		return -1;
	}
	field = (char *)o + option->field;
	if (option->argument == NULL && value == NULL) {
		*(int *)(void *)field = 1;
		return 1;
	}
	if (option->argument != NULL && value == NULL) {
		value = argv[1];
		words = 2;
	} else if (option->argument != NULL)
		value++;
	if (option->argument == NULL || value == NULL || *value == '\0') {
		snprintf(why, whylen, option->argument == NULL ?
		    "option --%s has no argument" :
		    "option --%s needs an argument", option->name);
		return -1;
	}
	*(const char **)(void *)field = value;
	return words;
}

/* Returns how many words a group of short options has, with its argument. */
static int
skip_short(struct xopt *o, const char *word, const char *with_argument)
{
	for (word++; *word != '\0'; word++) {
		if (*word == 'O')
			o->old_protocol = 1;
		if (strchr(with_argument, *word) != NULL)
			return word[1] == '\0' ? 2 : 1;
	}
	return 1;
}

static int
is_option(const char *word)
{
	return word[0] == '-' && word[1] != '\0' && strcmp(word, "--") != 0;
}

int
xopt_take(struct xopt *o, int argc, char **argv, const char *with_argument,
    char *why, size_t whylen)
{
	int i = 1, n;

	while (i < argc && is_option(argv[i])) {
		if (argv[i][1] != '-') {
			i += skip_short(o, argv[i], with_argument);
			continue;
		}
		if ((n = take_long(o, argv + i, why, whylen)) == -1)
			return -1;
		/* with the NULL at the end */
		memmove(argv + i, argv + i + n,
		    (argc - i - n + 1) * sizeof(*argv));
		argc -= n;
	}
	o->operands = i < argc ? i + (strcmp(argv[i], "--") == 0) : argc;
	return argc;
}

void
xopt_usage(char *text, size_t len)
{
	size_t i, at = 0;

	for (i = 0; i < OPTIONS && at < len; i++)
		at += snprintf(text + at, len - at, "%s[--%s%s%s]",
		    i == 0 ? "" : " ", options[i].name,
		    options[i].argument == NULL ? "" : " ",
		    options[i].argument == NULL ? "" : options[i].argument);
}
