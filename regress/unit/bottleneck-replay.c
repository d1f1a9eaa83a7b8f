/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * bottleneck-replay: copies made of text.
 *
 * Each line is one copy: the words "put" or "get", "files" (by SFTP), "hayate"
 * (the peer), and KEY=VALUE. "bytes", "us" and "requests" are those of struct
 * bottleneck_input. A counter is END.NAME, with END "here", "there",
 * "files-here" or "files-there", and NAME as in stall-stats.h, in lower case.
 * An end without counters has not reported. The time of each END is that of the
 * copy unless it is given.
 *
 * The answer is the cause, the end, its percentage, "notable" or nothing, and
 * the sentence for the user:
 *
 *   window there 91 | the window of the server, ...
 *
 * A line "wire HEX" decodes a reading and prints its values, or "bad". A line
 * "write" prints an encoded reading.
 */

#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bottleneck.h"

static const char *const names[STAT_COUNT] = {
	"time", "wait-tcp", "wait-window", "wait-input", "wait-output",
	"wait-net", "cpu", "wait-cpu", "file-read", "file-write", "samples",
	"rwnd-full", "sndbuf-full", "sent", "received", "segments", "resent",
	"rtt-sum", "min-rtt", "mss", "tcp-rwnd", "max-rate", "own-window",
	"peer-window", "best-rate", "loss-tolerant"
};

static const char *const ends[] = { "here", "there", "files-here",
    "files-there" };
#define ENDS	(sizeof(ends) / sizeof(*ends))

static struct bottleneck_input c;
static struct stall_stats ends_read[ENDS];
static int has[ENDS];

static int
find_stat(const char *name)
{
	int i;

	for (i = 0; i < STAT_COUNT && strcmp(names[i], name) != 0; i++)
		;
	if (i == STAT_COUNT)
		errx(1, "unknown counter \"%s\"", name);
	return i;
}

static void
set_stat(char *word, uint64_t value)
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
	ends_read[i].n[find_stat(dot + 1)] = value;
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
		set_stat(word, n);
}

static const struct stall_stats *
get_end(int i)
{
	if (!has[i])
		return NULL;
	if (ends_read[i].n[STAT_TIME] == 0)
		ends_read[i].n[STAT_TIME] = c.us;
	return &ends_read[i];
}

static void
find(void)
{
	char text[BOTTLENECK_TEXT];
	struct bottleneck v;
	size_t n;

	c.local = get_end(0);
	c.remote = get_end(1);
	c.local_files = get_end(2);
	c.remote_files = get_end(3);
	v = bottleneck_find(&c);
	n = bottleneck_describe(&c, &v, text);
	if (n != strlen(text))
		errx(1, "the length is %zu", n);
	printf("%s %s %u%s | %s\n", bottleneck_name(&v),
	    v.is_remote ? "there" : "here", v.percent,
	    bottleneck_is_notable(&c, &v) ? " notable" : "", text);
}

static void
read_wire(const char *hex)
{
	unsigned char *p = malloc(strlen(hex) / 2 + 1);
	struct stall_stats f;
	size_t n = 0;
	unsigned int byte;
	int i;

	if (p == NULL)
		err(1, NULL);
	for (; sscanf(hex, "%2x", &byte) == 1; hex += 2)
		p[n++] = (unsigned char)byte;
	if (stall_stats_decode(&f, p, n) == -1)
		printf("bad");
	else {
		for (i = 0; i < STAT_COUNT; i++)
			printf("%s%" PRIu64, i == 0 ? "" : " ", f.n[i]);
	}
	printf("\n");
	free(p);
}

static void
write_wire(void)
{
	unsigned char out[STALL_STATS_WIRE_LEN];
	struct stall_stats f;
	size_t i;

	for (i = 0; i < STAT_COUNT; i++)
		f.n[i] = (i + 1) << (8 * (i % 8));
	stall_stats_encode(&f, out);
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
		memset(ends_read, 0, sizeof(ends_read));
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
		find();
	}
	return 0;
}
