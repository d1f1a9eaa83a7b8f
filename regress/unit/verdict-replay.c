/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * verdict-replay: copies made of text.
 *
 * Each line is one copy: the words "put" or "get", "files" (by SFTP), "hayate"
 * (the peer), and KEY=VALUE. "bytes", "us" and "requests" are of the copy. A
 * figure is END.NAME, with END "here", "there", "files-here" or "files-there",
 * and a name of figures.h in lower case; an end with no figure has not told.
 * Each END has the time of the copy unless it says so.
 *
 * The answer is the limit, where it is, its share, and the line of a user:
 *
 *   window there 91 | the window of the server, ...
 *
 * A line "wire HEX" reads figures as a peer tells them, and prints them, or
 * "bad". A line "write" prints some as they are told.
 */

#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verdict.h"

static const char *const names[FIGURES] = {
	"time", "tcp", "window", "input", "output", "net", "cpu", "queue",
	"read", "write", "samples", "at-window", "at-buffer", "sent",
	"received", "segments", "resent", "rtt-sum", "min-rtt", "mss",
	"tcp-window", "max-rate", "own-window", "peer-window", "best",
	"bears-loss"
};

static const char *const ends[] = { "here", "there", "files-here",
    "files-there" };
#define ENDS	(sizeof(ends) / sizeof(*ends))

static struct verdict_case c;
static struct figures told[ENDS];
static int has[ENDS];

static int
figure_of(const char *name)
{
	int i;

	for (i = 0; i < FIGURES && strcmp(names[i], name) != 0; i++)
		;
	if (i == FIGURES)
		errx(1, "unknown figure \"%s\"", name);
	return i;
}

static void
set_figure(char *word, uint64_t value)
{
	char *dot = strchr(word, '.');
	size_t i;

	if (dot == NULL)
		errx(1, "unknown word \"%s\"", word);
	*dot = '\0';
	for (i = 0; i < ENDS && strcmp(ends[i], word) != 0; i++)
		;
	if (i == ENDS)
		errx(1, "unknown end \"%s\"", word);
	has[i] = 1;
	told[i].n[figure_of(dot + 1)] = value;
}

static void
set_word(char *word)
{
	char *value = strchr(word, '=');
	uint64_t n;

	if (value == NULL) {
		c.is_put |= strcmp(word, "put") == 0;
		c.is_files |= strcmp(word, "files") == 0;
		c.is_peer_hayate |= strcmp(word, "hayate") == 0;
		return;
	}
	*value = '\0';
	n = strtoull(value + 1, NULL, 10);
	if (strcmp(word, "bytes") == 0)
		c.bytes = n;
	else if (strcmp(word, "us") == 0)
		c.us = n;
	else if (strcmp(word, "requests") == 0)
		c.requests = n;
	else
		set_figure(word, n);
}

static const struct figures *
end_of(int i)
{
	if (!has[i])
		return NULL;
	if (told[i].n[FIGURE_TIME] == 0)
		told[i].n[FIGURE_TIME] = c.us;
	return &told[i];
}

static void
judge(void)
{
	char text[VERDICT_TEXT];
	struct verdict v;
	size_t n;

	c.here = end_of(0);
	c.there = end_of(1);
	c.files_here = end_of(2);
	c.files_there = end_of(3);
	v = verdict_of(&c);
	n = verdict_text(&c, &v, text);
	if (n != strlen(text))
		errx(1, "the length is %zu", n);
	printf("%s %s %u%s | %s\n", verdict_name(&v),
	    v.is_there ? "there" : "here", v.share,
	    verdict_is_news(&c, &v) ? " news" : "", text);
}

static void
read_wire(const char *hex)
{
	unsigned char *p = malloc(strlen(hex) / 2 + 1);
	struct figures f;
	size_t n = 0;
	unsigned int byte;
	int i;

	if (p == NULL)
		err(1, NULL);
	for (; sscanf(hex, "%2x", &byte) == 1; hex += 2)
		p[n++] = (unsigned char)byte;
	if (figures_read(&f, p, n) == -1)
		printf("bad");
	else {
		for (i = 0; i < FIGURES; i++)
			printf("%s%" PRIu64, i == 0 ? "" : " ", f.n[i]);
	}
	printf("\n");
	free(p);
}

static void
write_wire(void)
{
	unsigned char out[FIGURES_ROOM];
	struct figures f;
	size_t i;

	for (i = 0; i < FIGURES; i++)
		f.n[i] = (i + 1) << (8 * (i % 8));
	figures_write(&f, out);
	for (i = 0; i < sizeof(out); i++)
		printf("%02x", out[i]);
	printf("\n");
}

int
main(void)
{
	char line[4096], *word;

	while (fgets(line, sizeof(line), stdin) != NULL) {
		memset(&c, 0, sizeof(c));
		memset(told, 0, sizeof(told));
		memset(has, 0, sizeof(has));
		if ((word = strtok(line, " \n")) == NULL)
			continue;
		if (strcmp(word, "wire") == 0) {
			word = strtok(NULL, " \n");
			read_wire(word == NULL ? "" : word);
			continue;
		}
		if (strcmp(word, "write") == 0) {
			write_wire();
			continue;
		}
		for (; word != NULL; word = strtok(NULL, " \n"))
			set_word(word);
		judge();
	}
	return 0;
}
