/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * fuzz-login: what decides on an early login takes a file of ssh/login-cache.h
 * of any contents, and banners and lists that a server chooses. An input is
 * four texts, each with a NUL behind it: the file, a banner, and two lists.
 *
 * What is found in a file is found again in the one that it is put into, and to
 * put it there once more changes nothing. What sends and receives is met by
 * peers/hostile-login, for which a connection is needed.
 */

#include "includes.h"

#include <sys/types.h>

#include <stdlib.h>
#include <string.h>

#include "early-servers.h"
#include "fuzz.h"
#include "kexguess.h"
#include "namelist.h"
#include "login-cache.h"

static const char id[] = "0000000000000000000000000000000000000001";
static const char salt[] = "0123456789abcdef0123456789abcdef";

/* The next text, which the caller frees */
static char *
next_text(struct fuzz *f)
{
	const uint8_t *end = memchr(f->p, '\0', f->left);
	size_t len = end == NULL ? f->left : (size_t)(end - f->p);
	char *text = malloc(len + 1);

	if (text == NULL)
		abort();
	memcpy(text, f->p, len);
	text[len] = '\0';
	f->p += len + (end != NULL);
	f->left -= len + (end != NULL);
	return text;
}

static void
change(struct login_cache_entry *e, const char *list)
{
	login_cache_set_methods(e, list);
	if (list[0] == 'w')
		backoff_raise(&e->early_session_backoff);
	else
		backoff_count_login(&e->early_session_backoff);
}

static void
recall(const char *text, const char *list)
{
	struct login_cache_entry e, again;
	char *once, *twice;

	if (login_cache_find(text, id, &e) != 0)
		memcpy(e.id, id, sizeof(e.id));
	else
		change(&e, list);
	if ((once = login_cache_put(text, salt, &e)) == NULL ||
	    (twice = login_cache_put(once, salt, &e)) == NULL ||
	    strcmp(once, twice) != 0)
		abort();
	if (login_cache_find(once, id, &again) == 0 &&
	    (strcmp(again.kex, e.kex) != 0 ||
	    strcmp(again.accepted_key, e.accepted_key) != 0 ||
	    again.early_session_backoff.remaining !=
	    e.early_session_backoff.remaining))
		abort();
	free(once);
	free(twice);
}

static int
is_enabled(const char *method)
{
	return method[0] != 'k';
}

static void
lists(const char *a, const char *b)
{
	struct kexguess_lists mine = { a, b }, server = { b, a };
	char name[NAMELIST_NAME_SIZE], *first;

	kexguess_is_named(&mine, &server);
	kexguess_is_right(&mine, &server);
	early_key_is_first(a, b, is_enabled);
	early_key_is_first("gssapi-with-mic,publickey,password", b, is_enabled);
	if (!namelist_choose(a, b, name))
		return;
	/* An empty name of the list may be lost. */
	if ((first = kexguess_put_first(a, name)) == NULL ||
	    strlen(first) > strlen(a) + 1 ||
	    strncmp(first, name, strlen(name)) != 0)
		abort();
	free(first);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz f = { data, size };
	char *text = next_text(&f), *banner = next_text(&f);
	char *a = next_text(&f), *b = next_text(&f);

	recall(text, a);
	if (early_server_takes_session(banner) &&
	    !early_server_is_openssh(banner))
		abort();
	early_server_is_allowed(banner);
	early_server_skips_guess(banner);
	early_server_rekeys(banner);
	lists(a, b);
	free(text);
	free(banner);
	free(a);
	free(b);
	return 0;
}
