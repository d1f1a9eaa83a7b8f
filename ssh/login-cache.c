/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See login-cache.h for the idea. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "login-cache.h"

#define HEAD	"hayate-logins 1 "
#define LINE	512		/* the longest that we write is shorter */
#define DIGITS	"0123456789abcdef"
/* What names of algorithms and methods consist of */
#define NAME	"abcdefghijklmnopqrstuvwxyz0123456789@.-"
#define METHOD	NAME ","

static int
is_hex(const char *p, size_t len)
{
	return strspn(p, DIGITS) == len;
}

int
login_cache_read_salt(const char *text, char *salt)
{
	const char *p = text + strlen(HEAD);

	if (strncmp(text, HEAD, strlen(HEAD)) != 0 || !is_hex(p,
	    LOGIN_CACHE_SALT) || p[LOGIN_CACHE_SALT] != '\n')
		return -1;
	memcpy(salt, p, LOGIN_CACHE_SALT);
	salt[LOGIN_CACHE_SALT] = '\0';
	return 0;
}

/* Copies the value if it consists of these characters only. */
static int
read_value(const char *value, const char *of, size_t least, size_t most,
    char *out)
{
	size_t len = strlen(value);

	if (len < least || len > most || strspn(value, of) != len)
		return -1;
	memcpy(out, value, len + 1);
	return 0;
}

#define FAILURES_MAX	3	/* from then on it is as rare */

static int
logins_to_skip(int times)
{
	return 4 << 3 * (times - 1);
}

static int
is_backoff_word(const char *word, const char *name)
{
	size_t len = strlen(name);

	return strncmp(word, name, len) == 0 &&
	    (word[len] == '=' || word[len] == '\0');
}

/* Reads "=LEFT.TIMES". One without is of an earlier version. */
static int
read_backoff(const char *value, struct backoff *backoff)
{
	struct backoff m = { .failures = 0 };
	int n = 0;

	if (*value == '\0')
		backoff_raise(&m);
	else if (sscanf(value, "=%3d.%1d%n", &m.remaining, &m.failures, &n) !=
	    2 || value[n] != '\0' || m.failures < 1 || m.failures >
	    FAILURES_MAX || m.remaining < 0 || m.remaining >
	    logins_to_skip(m.failures))
		return -1;
	*backoff = m;
	return 0;
}

static int
read_word(struct login_cache_entry *e, const char *word)
{
	if (strncmp(word, "key=", 4) == 0)
		return read_value(word + 4, DIGITS, LOGIN_CACHE_HASH,
		    LOGIN_CACHE_HASH, e->accepted_key);
	if (strncmp(word, "algs=", 5) == 0)
		return read_value(word + 5, DIGITS, LOGIN_CACHE_HASH,
		    LOGIN_CACHE_HASH, e->sig_algs);
	if (strncmp(word, "methods=", 8) == 0)
		return read_value(word + 8, METHOD, 1, LOGIN_CACHE_METHODS,
		    e->methods);
	if (strncmp(word, "own=", 4) == 0)
		return read_value(word + 4, DIGITS, LOGIN_CACHE_HASH,
		    LOGIN_CACHE_HASH, e->proposal_hash);
	if (strncmp(word, "kex=", 4) == 0)
		return read_value(word + 4, NAME, 1, LOGIN_CACHE_NAME, e->kex);
	if (strncmp(word, "hostkey=", 8) == 0)
		return read_value(word + 8, NAME, 1, LOGIN_CACHE_NAME,
		    e->hostkey_alg);
	if (strcmp(word, "sftp") == 0)
		e->key_has_sftp = 1;
	if (strcmp(word, "ext") == 0)
		e->sends_ext_info = 1;
	if (strcmp(word, "again") == 0)
		e->rekeys_at_session = 1;
	if (strcmp(word, "wait") == 0)
		e->defer_session = 1;
	if (is_backoff_word(word, "late"))
		return read_backoff(word + 4, &e->early_session_backoff);
	if (is_backoff_word(word, "plain"))
		return read_backoff(word + 5, &e->early_auth_backoff);
	return 0;
}

/* What is written with "own" stands in a line together, or the line is odd. */
static int
is_incomplete(const struct login_cache_entry *e)
{
	return e->proposal_hash[0] != '\0' && (e->kex[0] == '\0' ||
	    e->hostkey_alg[0] == '\0');
}

/* Reads a line without its end. */
static int
read_entry(const char *line, size_t len, struct login_cache_entry *e)
{
	char buf[LINE], *p = buf, *word;

	memset(e, 0, sizeof(*e));
	if (len >= sizeof(buf))
		return -1;
	memcpy(buf, line, len);
	buf[len] = '\0';
	if (strlen(buf) != len || (word = strsep(&p, " ")) == NULL ||
	    read_value(word, DIGITS, LOGIN_CACHE_HASH, LOGIN_CACHE_HASH,
	    e->id) != 0)
		return -1;
	while ((word = strsep(&p, " ")) != NULL) {
		if (read_word(e, word) != 0)
			return -1;
	}
	return is_incomplete(e) ? -1 : 0;
}

/*
 * Returns the next line and its length in *len; NULL if there is none with an
 * end. *at is where to go on, first the text.
 */
static const char *
next_line(const char **at, size_t *len)
{
	const char *line = *at, *end = strchr(line, '\n');

	if (end == NULL)
		return NULL;
	*len = (size_t)(end - line);
	*at = end + 1;
	return line;
}

int
login_cache_find(const char *text, const char *id, struct login_cache_entry *e)
{
	const char *line;
	char salt[LOGIN_CACHE_SALT + 1];
	size_t len;

	memset(e, 0, sizeof(*e));
	if (login_cache_read_salt(text, salt) != 0)
		return -1;
	while ((line = next_line(&text, &len)) != NULL) {
		if (strncmp(line, id, LOGIN_CACHE_HASH) == 0 &&
		    read_entry(line, len, e) == 0)
			return 0;
	}
	memset(e, 0, sizeof(*e));
	return -1;
}

void
login_cache_set_methods(struct login_cache_entry *e, const char *list)
{
	if (read_value(list, METHOD, 1, LOGIN_CACHE_METHODS, e->methods) != 0)
		e->methods[0] = '\0';
}

void
backoff_raise(struct backoff *m)
{
	if (m->failures < FAILURES_MAX)
		m->failures++;
	m->remaining = logins_to_skip(m->failures);
}

void
backoff_raise_to_max(struct backoff *m)
{
	m->failures = FAILURES_MAX;
	m->remaining = logins_to_skip(FAILURES_MAX);
}

void
backoff_count_login(struct backoff *m)
{
	if (m->remaining > 0)
		m->remaining--;
}

void
backoff_clear(struct backoff *m)
{
	m->remaining = m->failures = 0;
}

static int
is_same_backoff(const struct backoff *a, const struct backoff *b)
{
	return a->remaining == b->remaining && a->failures == b->failures;
}

int
login_cache_is_same(const struct login_cache_entry *a,
    const struct login_cache_entry *b)
{
	return strcmp(a->id, b->id) == 0 && strcmp(a->accepted_key,
	    b->accepted_key) == 0 && strcmp(a->sig_algs, b->sig_algs) == 0 &&
	    strcmp(a->methods, b->methods) == 0 && strcmp(a->proposal_hash,
	    b->proposal_hash) == 0 && strcmp(a->kex, b->kex) == 0 &&
	    strcmp(a->hostkey_alg, b->hostkey_alg) == 0 && a->sends_ext_info ==
	    b->sends_ext_info && (a->accepted_key[0] == '\0' ||
	    a->key_has_sftp == b->key_has_sftp) && a->rekeys_at_session ==
	    b->rekeys_at_session && a->defer_session == b->defer_session &&
	    is_same_backoff(&a->early_session_backoff,
	    &b->early_session_backoff) &&
	    is_same_backoff(&a->early_auth_backoff, &b->early_auth_backoff);
}

static void
write_backoff(FILE *out, const char *name, const struct backoff *m)
{
	if (m->failures > 0)
		fprintf(out, " %s=%d.%d", name, m->remaining, m->failures);
}

static void
write_entry(FILE *out, const struct login_cache_entry *e)
{
	if (e->accepted_key[0] == '\0' && e->methods[0] == '\0' && e->kex[0] ==
	    '\0' && e->early_session_backoff.failures == 0 &&
	    e->early_auth_backoff.failures == 0)
		return;
	fprintf(out, "%s", e->id);
	if (e->accepted_key[0] != '\0')
		fprintf(out, " key=%s%s", e->accepted_key, e->key_has_sftp ?
		    " sftp" : "");
	if (e->sig_algs[0] != '\0')
		fprintf(out, " algs=%s", e->sig_algs);
	if (e->methods[0] != '\0')
		fprintf(out, " methods=%s", e->methods);
	if (e->proposal_hash[0] != '\0' && e->kex[0] != '\0' &&
	    e->hostkey_alg[0] != '\0')
		fprintf(out, " own=%s kex=%s hostkey=%s", e->proposal_hash,
		    e->kex, e->hostkey_alg);
	else if (e->proposal_hash[0] == '\0' && e->kex[0] != '\0')
		fprintf(out, " kex=%s", e->kex);
	fprintf(out, "%s%s%s", e->rekeys_at_session ? " again" : "",
	    e->sends_ext_info ? " ext" : "", e->defer_session ? " wait" : "");
	write_backoff(out, "late", &e->early_session_backoff);
	write_backoff(out, "plain", &e->early_auth_backoff);
	fprintf(out, "\n");
}

static int
count_entries(const char *text)
{
	struct login_cache_entry e;
	const char *line;
	size_t len;
	int n = 0;

	while ((line = next_line(&text, &len)) != NULL)
		n += read_entry(line, len, &e) == 0;
	return n;
}

char *
login_cache_put(const char *text, const char *salt,
    const struct login_cache_entry *e)
{
	struct login_cache_entry old;
	const char *line;
	char *out = NULL, have[LOGIN_CACHE_SALT + 1];
	size_t len;
	FILE *f = open_memstream(&out, &len);
	int drop;

	if (f == NULL)
		return NULL;
	if (login_cache_read_salt(text, have) != 0)
		text = "";
	drop = count_entries(text) + 1 - LOGIN_CACHE_MAX;
	fprintf(f, HEAD "%s\n", text[0] == '\0' ? salt : have);
	while ((line = next_line(&text, &len)) != NULL) {
		if (read_entry(line, len, &old) == 0 && drop-- <= 0 &&
		    strcmp(old.id, e->id) != 0)
			write_entry(f, &old);
	}
	write_entry(f, e);
	if (fclose(f) != 0) {
		free(out);
		return NULL;
	}
	return out;
}
