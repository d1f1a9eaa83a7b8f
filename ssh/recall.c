/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See recall.h for the idea. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recall.h"

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
recall_salt(const char *text, char *salt)
{
	const char *p = text + strlen(HEAD);

	if (strncmp(text, HEAD, strlen(HEAD)) != 0 || !is_hex(p, RECALL_SALT) ||
	    p[RECALL_SALT] != '\n')
		return -1;
	memcpy(salt, p, RECALL_SALT);
	salt[RECALL_SALT] = '\0';
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

#define TIMES	3	/* from then on it is as rare */

static int
logins_for(int times)
{
	return 4 << 3 * (times - 1);
}

static int
is_mark(const char *word, const char *name)
{
	size_t len = strlen(name);

	return strncmp(word, name, len) == 0 &&
	    (word[len] == '=' || word[len] == '\0');
}

/* Reads "=LEFT.TIMES". One without is of an earlier version. */
static int
read_mark(const char *value, struct recall_mark *mark)
{
	struct recall_mark m = { .times = 0 };
	int n = 0;

	if (*value == '\0')
		recall_mark_set(&m);
	else if (sscanf(value, "=%3d.%1d%n", &m.left, &m.times, &n) != 2 ||
	    value[n] != '\0' || m.times < 1 || m.times > TIMES ||
	    m.left < 0 || m.left > logins_for(m.times))
		return -1;
	*mark = m;
	return 0;
}

static int
read_word(struct recall_entry *e, const char *word)
{
	if (strncmp(word, "key=", 4) == 0)
		return read_value(word + 4, DIGITS, RECALL_HASH, RECALL_HASH,
		    e->key);
	if (strncmp(word, "algs=", 5) == 0)
		return read_value(word + 5, DIGITS, RECALL_HASH, RECALL_HASH,
		    e->algs);
	if (strncmp(word, "methods=", 8) == 0)
		return read_value(word + 8, METHOD, 1, RECALL_METHODS,
		    e->methods);
	if (strncmp(word, "own=", 4) == 0)
		return read_value(word + 4, DIGITS, RECALL_HASH, RECALL_HASH,
		    e->own);
	if (strncmp(word, "kex=", 4) == 0)
		return read_value(word + 4, NAME, 1, RECALL_NAME, e->kex);
	if (strncmp(word, "hostkey=", 8) == 0)
		return read_value(word + 8, NAME, 1, RECALL_NAME, e->hostkey);
	if (strcmp(word, "sftp") == 0)
		e->sftp = 1;
	if (strcmp(word, "ext") == 0)
		e->ext = 1;
	if (strcmp(word, "again") == 0)
		e->again = 1;
	if (strcmp(word, "wait") == 0)
		e->wait = 1;
	if (is_mark(word, "late"))
		return read_mark(word + 4, &e->late);
	if (is_mark(word, "plain"))
		return read_mark(word + 5, &e->plain);
	return 0;
}

/* What is written with "own" stands in a line together, or the line is odd. */
static int
is_odd(const struct recall_entry *e)
{
	return e->own[0] != '\0' && (e->kex[0] == '\0' ||
	    e->hostkey[0] == '\0');
}

/* Reads a line without its end. */
static int
read_entry(const char *line, size_t len, struct recall_entry *e)
{
	char buf[LINE], *p = buf, *word;

	memset(e, 0, sizeof(*e));
	if (len >= sizeof(buf))
		return -1;
	memcpy(buf, line, len);
	buf[len] = '\0';
	if (strlen(buf) != len || (word = strsep(&p, " ")) == NULL ||
	    read_value(word, DIGITS, RECALL_HASH, RECALL_HASH, e->id) != 0)
		return -1;
	while ((word = strsep(&p, " ")) != NULL) {
		if (read_word(e, word) != 0)
			return -1;
	}
	return is_odd(e) ? -1 : 0;
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
recall_find(const char *text, const char *id, struct recall_entry *e)
{
	const char *line;
	char salt[RECALL_SALT + 1];
	size_t len;

	memset(e, 0, sizeof(*e));
	if (recall_salt(text, salt) != 0)
		return -1;
	while ((line = next_line(&text, &len)) != NULL) {
		if (strncmp(line, id, RECALL_HASH) == 0 &&
		    read_entry(line, len, e) == 0)
			return 0;
	}
	memset(e, 0, sizeof(*e));
	return -1;
}

void
recall_set_methods(struct recall_entry *e, const char *list)
{
	if (read_value(list, METHOD, 1, RECALL_METHODS, e->methods) != 0)
		e->methods[0] = '\0';
}

void
recall_mark_set(struct recall_mark *m)
{
	if (m->times < TIMES)
		m->times++;
	m->left = logins_for(m->times);
}

void
recall_mark_longest(struct recall_mark *m)
{
	m->times = TIMES;
	m->left = logins_for(TIMES);
}

void
recall_mark_count(struct recall_mark *m)
{
	if (m->left > 0)
		m->left--;
}

void
recall_mark_clear(struct recall_mark *m)
{
	m->left = m->times = 0;
}

static int
is_same_mark(const struct recall_mark *a, const struct recall_mark *b)
{
	return a->left == b->left && a->times == b->times;
}

int
recall_same(const struct recall_entry *a, const struct recall_entry *b)
{
	return strcmp(a->id, b->id) == 0 && strcmp(a->key, b->key) == 0 &&
	    strcmp(a->algs, b->algs) == 0 &&
	    strcmp(a->methods, b->methods) == 0 &&
	    strcmp(a->own, b->own) == 0 && strcmp(a->kex, b->kex) == 0 &&
	    strcmp(a->hostkey, b->hostkey) == 0 && a->ext == b->ext &&
	    (a->key[0] == '\0' || a->sftp == b->sftp) &&
	    a->again == b->again && a->wait == b->wait &&
	    is_same_mark(&a->late, &b->late) &&
	    is_same_mark(&a->plain, &b->plain);
}

static void
write_mark(FILE *out, const char *name, const struct recall_mark *m)
{
	if (m->times > 0)
		fprintf(out, " %s=%d.%d", name, m->left, m->times);
}

static void
write_entry(FILE *out, const struct recall_entry *e)
{
	if (e->key[0] == '\0' && e->methods[0] == '\0' && e->kex[0] == '\0' &&
	    e->late.times == 0 && e->plain.times == 0)
		return;
	fprintf(out, "%s", e->id);
	if (e->key[0] != '\0')
		fprintf(out, " key=%s%s", e->key, e->sftp ? " sftp" : "");
	if (e->algs[0] != '\0')
		fprintf(out, " algs=%s", e->algs);
	if (e->methods[0] != '\0')
		fprintf(out, " methods=%s", e->methods);
	if (e->own[0] != '\0' && e->kex[0] != '\0' && e->hostkey[0] != '\0')
		fprintf(out, " own=%s kex=%s hostkey=%s", e->own, e->kex,
		    e->hostkey);
	else if (e->own[0] == '\0' && e->kex[0] != '\0')
		fprintf(out, " kex=%s", e->kex);
	fprintf(out, "%s%s%s", e->again ? " again" : "", e->ext ? " ext" : "",
	    e->wait ? " wait" : "");
	write_mark(out, "late", &e->late);
	write_mark(out, "plain", &e->plain);
	fprintf(out, "\n");
}

static int
count_entries(const char *text)
{
	struct recall_entry e;
	const char *line;
	size_t len;
	int n = 0;

	while ((line = next_line(&text, &len)) != NULL)
		n += read_entry(line, len, &e) == 0;
	return n;
}

char *
recall_put(const char *text, const char *salt, const struct recall_entry *e)
{
	struct recall_entry old;
	const char *line;
	char *out = NULL, have[RECALL_SALT + 1];
	size_t len;
	FILE *f = open_memstream(&out, &len);
	int drop;

	if (f == NULL)
		return NULL;
	if (recall_salt(text, have) != 0)
		text = "";
	drop = count_entries(text) + 1 - RECALL_MOST;
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
