/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * Reads a text of login-cache.h from standard input.
 *
 *   login-cache-replay find ID		prints the entry
 *   login-cache-replay put SALT ID [WORD]...	prints the text with that entry
 */

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "login-cache.h"

static char text[4 * LOGIN_CACHE_BYTES];

static void
set_word(struct login_cache_entry *e, const char *word)
{
	if (strncmp(word, "key=", 4) == 0)
		snprintf(e->accepted_key, sizeof(e->accepted_key), "%s", word +
		    4);
	else if (strncmp(word, "methods=", 8) == 0)
		login_cache_set_methods(e, word + 8);
	else if (strncmp(word, "own=", 4) == 0)
		snprintf(e->proposal_hash, sizeof(e->proposal_hash), "%s",
		    word + 4);
	else if (strncmp(word, "kex=", 4) == 0)
		snprintf(e->kex, sizeof(e->kex), "%s", word + 4);
	else if (strncmp(word, "hostkey=", 8) == 0)
		snprintf(e->hostkey_alg, sizeof(e->hostkey_alg), "%s", word +
		    8);
	else if (strcmp(word, "sftp") == 0)
		e->key_has_sftp = 1;
	else if (strcmp(word, "ext") == 0)
		e->sends_ext_info = 1;
	else if (strcmp(word, "again") == 0)
		e->rekeys_at_session = 1;
	else if (strcmp(word, "wait") == 0)
		e->defer_session = 1;
	else if (strcmp(word, "late") == 0)
		backoff_raise(&e->early_session_backoff);
	else if (strcmp(word, "late-") == 0)
		backoff_count_login(&e->early_session_backoff);
	else if (strcmp(word, "plain") == 0)
		backoff_raise(&e->early_auth_backoff);
	else
		errx(2, "%s", word);
}

int
main(int argc, char **argv)
{
	struct login_cache_entry e;
	char *out;
	int i;

	text[fread(text, 1, sizeof(text) - 1, stdin)] = '\0';
	if (argc == 3 && strcmp(argv[1], "find") == 0) {
		if (login_cache_find(text, argv[2], &e) != 0)
			errx(1, "none");
		printf("key=%s%s methods=%s ext=%d wait=%d late=%d.%d "
		    "plain=%d.%d\n", e.accepted_key, e.key_has_sftp ? " sftp" :
		    "", e.methods, e.sends_ext_info, e.defer_session,
		    e.early_session_backoff.remaining,
		    e.early_session_backoff.failures,
		    e.early_auth_backoff.remaining,
		    e.early_auth_backoff.failures);
		if (e.proposal_hash[0] != '\0' || e.kex[0] != '\0')
			printf("own=%s kex=%s hostkey=%s%s\n", e.proposal_hash,
			    e.kex, e.hostkey_alg, e.rekeys_at_session ? " again"
			    : "");
		return 0;
	}
	if (argc < 4 || strcmp(argv[1], "put") != 0)
		errx(2, "usage");
	memset(&e, 0, sizeof(e));
	snprintf(e.id, sizeof(e.id), "%s", argv[3]);
	for (i = 4; i < argc; i++)
		set_word(&e, argv[i]);
	if ((out = login_cache_put(text, argv[2], &e)) == NULL)
		err(1, "recall_put");
	fputs(out, stdout);
	free(out);
	return 0;
}
