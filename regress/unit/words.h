/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * words: a driver whose input is one run a line, in words KEY=VALUE. A key that
 * a line does not have gets its default. A word that is no key ends the driver.
 */

#ifndef HAYATE_WORDS_H
#define HAYATE_WORDS_H

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct word {
	const char *name;
	long	*value;
	long	 def;
};

static void
words_set(const struct word *keys, size_t n, const char *text)
{
	size_t i, len;

	for (i = 0; i < n; i++) {
		len = strlen(keys[i].name);
		if (strncmp(text, keys[i].name, len) == 0 && text[len] == '=') {
			*keys[i].value = strtol(text + len + 1, NULL, 10);
			return;
		}
	}
	errx(1, "unknown word \"%s\"", text);
}

/* Reads standard input to its end. */
static void
words_read(const struct word *keys, size_t n, void (*run)(void))
{
	char line[512], *text;
	size_t i;

	while (fgets(line, sizeof(line), stdin) != NULL) {
		for (i = 0; i < n; i++)
			*keys[i].value = keys[i].def;
		for (text = strtok(line, " \n"); text != NULL;
		    text = strtok(NULL, " \n"))
			words_set(keys, n, text);
		run();
	}
}

#endif /* HAYATE_WORDS_H */
