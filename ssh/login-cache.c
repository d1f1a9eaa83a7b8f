/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See login-cache.h for the idea. */

#include <stddef.h>
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

/*
 * The words of an entry behind its ID, in the order in which they are written.
 * An empty text, a flag of 0 and a back-off without failures are not.
 */
enum kind {
	TEXT,			/* "key=value", a string */
	FLAG,			/* "key", an int */
	BACKOFF			/* "key=REMAINING.FAILURES" */
};

static const struct word {
	const char	*key;
	size_t		 offset;	/* in struct login_cache_entry */
	enum kind	 kind;
	const char	*charset;	/* of a TEXT, and its length: */
	size_t		 min, max;
} words[] = {
#define FIELD(name)	offsetof(struct login_cache_entry, name)
#define ROOM(name)	(sizeof(((struct login_cache_entry *)NULL)->name) - 1)
#define HASH(name)	FIELD(name), TEXT, DIGITS, ROOM(name), ROOM(name)
#define LIST(name, of)	FIELD(name), TEXT, of, 1, ROOM(name)
#define OTHER(name, kind)	FIELD(name), kind, NULL, 0, 0
	{ "key", HASH(accepted_key) },
	{ "sftp", OTHER(key_has_sftp, FLAG) },
	{ "algs", HASH(sig_algs) },
	{ "methods", LIST(methods, METHOD) },
	{ "own", HASH(proposal_hash) },
	{ "kex", LIST(kex, NAME) },
	{ "hostkey", LIST(hostkey_alg, NAME) },
	{ "again", OTHER(rekeys_at_session, FLAG) },
	{ "ext", OTHER(sends_ext_info, FLAG) },
	{ "wait", OTHER(defer_session, FLAG) },
	{ "late", OTHER(early_session_backoff, BACKOFF) },
	{ "plain", OTHER(early_auth_backoff, BACKOFF) }
};

#define NWORDS	(sizeof(words) / sizeof(words[0]))

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

/* Reads "=REMAINING.FAILURES". A key without is of an earlier version. */
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

/* Returns 0, also if no key is that of the word, or -1: it is not valid. */
static int
read_word(struct login_cache_entry *e, const char *word)
{
	const struct word *w;
	const char *value;
	char *field;

	for (w = words; w < words + NWORDS; w++) {
		if (strncmp(word, w->key, strlen(w->key)) != 0)
			continue;
		value = word + strlen(w->key);
		field = (char *)e + w->offset;
		if (w->kind == FLAG && *value == '\0')
			*(int *)(void *)field = 1;
		if (w->kind == BACKOFF && (*value == '=' || *value == '\0'))
			return read_backoff(value,
			    (struct backoff *)(void *)field);
		if (w->kind == TEXT && *value == '=')
			return read_value(value + 1, w->charset, w->min,
			    w->max, field);
	}
	return 0;
}

/* A line with "own" has "kex" and "hostkey" as well, or is not valid. */
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

/* Removes what says nothing without another word that the entry lacks. */
static void
normalize(struct login_cache_entry *e)
{
	if (e->accepted_key[0] == '\0')
		e->key_has_sftp = 0;
	if (is_incomplete(e))
		e->proposal_hash[0] = e->kex[0] = '\0';
	if (e->proposal_hash[0] == '\0')
		e->hostkey_alg[0] = '\0';
}

int
login_cache_is_same(const struct login_cache_entry *a,
    const struct login_cache_entry *b)
{
	struct login_cache_entry x = *a, y = *b;
	const struct word *w;
	const char *p, *q;
	int is_same = strcmp(x.id, y.id) == 0;

	normalize(&x);
	normalize(&y);
	for (w = words; w < words + NWORDS && is_same; w++) {
		p = (const char *)&x + w->offset;
		q = (const char *)&y + w->offset;
		is_same = w->kind == TEXT ? strcmp(p, q) == 0 :
		    memcmp(p, q, w->kind == FLAG ? sizeof(int) :
		    sizeof(struct backoff)) == 0;
	}
	return is_same;
}

static void
write_word(FILE *out, const struct word *w, const char *field)
{
	const struct backoff *m = (const struct backoff *)(const void *)field;

	if (w->kind == TEXT && field[0] != '\0')
		fprintf(out, " %s=%s", w->key, field);
	if (w->kind == FLAG && *(const int *)(const void *)field)
		fprintf(out, " %s", w->key);
	if (w->kind == BACKOFF && m->failures > 0)
		fprintf(out, " %s=%d.%d", w->key, m->remaining, m->failures);
}

static void
write_entry(FILE *out, const struct login_cache_entry *entry)
{
	struct login_cache_entry e = *entry;
	const struct word *w;

	normalize(&e);
	if (e.accepted_key[0] == '\0' && e.methods[0] == '\0' &&
	    e.kex[0] == '\0' && e.early_session_backoff.failures == 0 &&
	    e.early_auth_backoff.failures == 0)
		return;
	fprintf(out, "%s", e.id);
	for (w = words; w < words + NWORDS; w++)
		write_word(out, w, (const char *)&e + w->offset);
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
