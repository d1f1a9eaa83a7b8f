/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * Reads a text of recall.h from standard input.
 *
 *   recall-replay find ID		prints the entry
 *   recall-replay put SALT ID [WORD]...	prints the text with that entry
 */

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recall.h"

static char text[4 * RECALL_BYTES];

static void
set_word(struct recall_entry *e, const char *word)
{
	if (strncmp(word, "key=", 4) == 0)
		snprintf(e->key, sizeof(e->key), "%s", word + 4);
	else if (strncmp(word, "methods=", 8) == 0)
		recall_set_methods(e, word + 8);
	else if (strncmp(word, "own=", 4) == 0)
		snprintf(e->own, sizeof(e->own), "%s", word + 4);
	else if (strncmp(word, "kex=", 4) == 0)
		snprintf(e->kex, sizeof(e->kex), "%s", word + 4);
	else if (strncmp(word, "hostkey=", 8) == 0)
		snprintf(e->hostkey, sizeof(e->hostkey), "%s", word + 8);
	else if (strcmp(word, "sftp") == 0)
		e->sftp = 1;
	else if (strcmp(word, "ext") == 0)
		e->ext = 1;
	else if (strcmp(word, "again") == 0)
		e->again = 1;
	else if (strcmp(word, "wait") == 0)
		e->wait = 1;
	else if (strcmp(word, "late") == 0)
		recall_mark_set(&e->late);
	else if (strcmp(word, "late-") == 0)
		recall_mark_count(&e->late);
	else if (strcmp(word, "plain") == 0)
		recall_mark_set(&e->plain);
	else
		errx(2, "%s", word);
}

int
main(int argc, char **argv)
{
	struct recall_entry e;
	char *out;
	int i;

	text[fread(text, 1, sizeof(text) - 1, stdin)] = '\0';
	if (argc == 3 && strcmp(argv[1], "find") == 0) {
		if (recall_find(text, argv[2], &e) != 0)
			errx(1, "none");
		printf("key=%s%s methods=%s ext=%d wait=%d late=%d.%d "
		    "plain=%d.%d\n", e.key, e.sftp ? " sftp" : "", e.methods,
		    e.ext, e.wait, e.late.left, e.late.times, e.plain.left,
		    e.plain.times);
		if (e.own[0] != '\0' || e.kex[0] != '\0')
			printf("own=%s kex=%s hostkey=%s%s\n", e.own, e.kex,
			    e.hostkey, e.again ? " again" : "");
		return 0;
	}
	if (argc < 4 || strcmp(argv[1], "put") != 0)
		errx(2, "usage");
	memset(&e, 0, sizeof(e));
	snprintf(e.id, sizeof(e.id), "%s", argv[3]);
	for (i = 4; i < argc; i++)
		set_word(&e, argv[i]);
	if ((out = recall_put(text, argv[2], &e)) == NULL)
		err(1, "recall_put");
	fputs(out, stdout);
	free(out);
	return 0;
}
