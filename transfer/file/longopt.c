/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See longopt.h. */

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "longopt.h"

/* An option with an argument has a pointer as its field, the others an int. */
static const struct option {
	const char *name;
	const char *argument;		/* as usage names it; NULL: none */
	size_t	 field;
	const char *what;		/* for --help */
	enum longopt_of of;
} options[] = {
	{ "checksum", NULL, offsetof(struct longopt, checksum),
	    "compare both files after each copy", LONGOPT_BOTH },
	{ "files-from", "LIST", offsetof(struct longopt, files_from),
	    "copy the files below the source that LIST names",
	    LONGOPT_SCP },
	{ "from0", NULL, offsetof(struct longopt, from0),
	    "names in that list end with NUL", LONGOPT_SCP },
	{ "hosts", "LIST", offsetof(struct longopt, hosts),
	    "copy over these hosts as well, which see the same files",
	    LONGOPT_BOTH },
	{ "journal", "FILE", offsetof(struct longopt, journal),
	    "append to FILE a line of JSON for each file that is done",
	    LONGOPT_BOTH },
	{ "report", "FILE", offsetof(struct longopt, report),
	    "write to FILE what became of each file, as JSON", LONGOPT_BOTH },
	{ "resume", NULL, offsetof(struct longopt, resume),
	    "go on with a copy that was interrupted", LONGOPT_BOTH },
	{ "retry", "TIME", offsetof(struct longopt, retry),
	    "log in again for up to TIME if the connection is lost",
	    LONGOPT_BOTH },
};
#define OPTIONS	(sizeof(options) / sizeof(*options))

static int
option_is_for(const struct option *option, enum longopt_of of)
{
	return option->of == LONGOPT_BOTH || option->of == of;
}

static const struct option *
find_option(enum longopt_of of, const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < OPTIONS; i++) {
		if (option_is_for(&options[i], of) && strlen(options[i].name) ==
		    len && memcmp(options[i].name, name, len) == 0)
			return &options[i];
	}
	return NULL;
}

/* Returns how many words of argv the option at its front has, or -1. */
static int
parse_long(struct longopt *o, enum longopt_of of, char **argv, char *why,
    size_t whylen)
{
	const char *name = argv[0] + 2, *value = strchr(name, '=');
	size_t len = value == NULL ? strlen(name) : (size_t)(value - name);
	const struct option *option = find_option(of, name, len);
	char *field;
	int words = 1;

	if (strcmp(name, "help") == 0) {
		o->help = 1;
		return 1;
	}
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
		    "option --%s takes no argument" :
		    "option --%s needs an argument", option->name);
		return -1;
	}
	*(const char **)(void *)field = value;
	return words;
}

static int
is_conn_count(const char *word)
{
	return strcasecmp(word, "auto") == 0 ||
	    (word[0] >= '1' && word[0] <= '8' && word[1] == '\0');
}

/*
 * The group at argv[0] ends with a j, which is at "at". Returns how many words
 * it has with its argument, or -1. The new word is never freed.
 */
static int
replace_conn_count(struct longopt *o, char **argv, const char *at, char *why,
    size_t whylen)
{
	static const char option[] = "oTransferStreams=";
	int words = at[1] == '\0' ? 2 : 1, before = (int)(at - argv[0]);
	const char *value = words == 2 ? argv[1] : at + 1;
	size_t len;
	char *word;

	if (value == NULL || !is_conn_count(value)) {
		snprintf(why, whylen, "-j %.64s: auto or a number from 1 to 8 "
		    "is allowed", value == NULL ? "without a value" : value);
		return -1;
	}
	len = before + sizeof(option) + strlen(value);
	if ((word = malloc(len)) == NULL) {
		snprintf(why, whylen, "-j: out of memory");
		return -1;
	}
	snprintf(word, len, "%.*s%s%s", before, argv[0], option, value);
	argv[words - 1] = word;
	o->streams = 1;
	o->one_stream = strcmp(value, "1") == 0;
	return words;
}

/* Of a letter of getopt(3): 0 unknown, 1 a flag, 2 with an argument */
static int
letter_kind(const char *letters, char c)
{
	const char *at = c == ':' ? NULL : strchr(letters, c);

	return at == NULL ? 0 : at[1] == ':' ? 2 : 1;
}

/* Letters that only scp has, or that mean something else in sftp, come last. */
static void
note_letter(struct longopt *o, enum longopt_of of, char c)
{
	o->recursive |= c == 'r';
	o->preserve |= c == 'p';
	o->direct |= c == 'D';
	if (of != LONGOPT_SCP)
		return;
	o->into_dir |= c == 'd';
	if (c == 'R' || c == '3')
		o->away = c == 'R';
	o->old_protocol |= c == 'O';
	o->server |= c == 't' || c == 'f';
}

/*
 * Returns how many words a group of short options has, with its argument, or
 * -1. "*drop" is how many of them are to be taken out of argv.
 */
static int
parse_short(struct longopt *o, enum longopt_of of, char **argv,
    const char *letters, int *drop, char *why, size_t whylen)
{
	const char *at;
	int kind, words;

	*drop = 0;
	for (at = argv[0] + 1; *at != '\0'; at++) {
		note_letter(o, of, *at);
		if (*at == 'j') {
			words = replace_conn_count(o, argv, at, why, whylen);
			*drop = words - 1;
			return words;
		}
		if ((kind = letter_kind(letters, *at)) == 2)
			return at[1] == '\0' ? 2 : 1;
		o->unknown |= kind == 0;
	}
	return 1;
}

static int
is_option(const char *word)
{
	return word[0] == '-' && word[1] != '\0' && strcmp(word, "--") != 0;
}

int
longopt_take(struct longopt *o, enum longopt_of of, int argc, char **argv,
    const char *letters, char *why, size_t whylen)
{
	int i = 1, n, drop, has_long = 0;

	while (i < argc && is_option(argv[i])) {
		has_long |= argv[i][1] == '-';
		if (argv[i][1] != '-')
			n = parse_short(o, of, argv + i, letters, &drop, why,
			    whylen);
		else
			n = drop = parse_long(o, of, argv + i, why, whylen);
		if (n == -1)
			return -1;
		/* with the NULL at the end */
		memmove(argv + i, argv + i + drop,
		    (argc - i - drop + 1) * sizeof(*argv));
		argc -= drop;
		i += n - drop;
	}
	o->operands = i < argc ? i + (strcmp(argv[i], "--") == 0) : argc;
	/* Who may run "scp -f" on a server may be meant to do no more. */
	if (of == LONGOPT_SCP && o->server && (has_long || o->streams)) {
		snprintf(why, whylen, "long options and -j are not allowed "
		    "with -t or -f");
		return -1;
	}
	return argc;
}

void
longopt_usage(enum longopt_of of, char *text, size_t len)
{
	size_t i, at = 0;

	for (i = 0; i < OPTIONS && at < len; i++) {
		if (!option_is_for(&options[i], of))
			continue;
		at += snprintf(text + at, len - at, "%s[--%s%s%s]",
		    at == 0 ? "" : " ", options[i].name,
		    options[i].argument == NULL ? "" : " ",
		    options[i].argument == NULL ? "" : options[i].argument);
	}
}

void
longopt_help(enum longopt_of of, char *text, size_t len)
{
	const char *argument;
	size_t i, at;

	at = snprintf(text, len, "  -j N              copy over N connections: "
	    "auto, or 1 to 8\n");
	for (i = 0; i < OPTIONS && at < len; i++) {
		if (!option_is_for(&options[i], of))
			continue;
		argument = options[i].argument == NULL ? "" :
		    options[i].argument;
		at += snprintf(text + at, len - at, "  --%s %-*s%s\n",
		    options[i].name, (int)(15 - strlen(options[i].name)),
		    argument, options[i].what);
	}
}
