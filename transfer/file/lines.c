/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See lines.h. */

#include <stdlib.h>
#include <string.h>

#include "lines.h"

/* Bytes that are read at once, at most */
#define CHUNK	(32 * 1024)

struct lines {
	char	 end;
	int	 is_over;		/* no more bytes come */
	uint64_t number;		/* of the line that comes */
	char	 chunk[CHUNK];
	size_t	 len, at;		/* of it; used */
	char	 line[LINES_MAX + 1];
	size_t	 n;			/* bytes of it, as far as they fit */
	int	 has_nul, is_long;
};

struct lines *
lines_new(char end)
{
	struct lines *l = calloc(1, sizeof(*l));

	if (l == NULL)
		return NULL;
	l->end = end;
	l->number = 1;
	return l;
}

void
lines_free(struct lines *l)
{
	free(l);
}

char *
lines_room(struct lines *l, size_t *len)
{
	*len = sizeof(l->chunk);
	return l->chunk;
}

void
lines_filled(struct lines *l, size_t len)
{
	l->at = 0;
	l->len = len;
	l->is_over |= len == 0;
}

static void
append_bytes(struct lines *l, const char *p, size_t len)
{
	size_t room = LINES_MAX - l->n;

	l->has_nul |= memchr(p, '\0', len) != NULL;
	l->is_long |= len > room;
	if (len > room)
		len = room;
	memcpy(l->line + l->n, p, len);
	l->n += len;
}

/* Returns 1 if a line has arrived to its end. */
static int
gather_line(struct lines *l)
{
	const char *from = l->chunk + l->at, *end;
	size_t left = l->len - l->at;

	if (left == 0)
		return l->is_over && l->n > 0;
	end = memchr(from, l->end, left);
	append_bytes(l, from, end == NULL ? left : (size_t)(end - from));
	l->at += end == NULL ? left : (size_t)(end - from) + 1;
	return end != NULL || (l->is_over && l->n > 0);
}

/* Cleans the line in its place. Returns how many components it has. */
static unsigned int
clean_name(char *line)
{
	char *to = line;
	const char *from = line;
	unsigned int depth = 0;
	size_t n;

	for (; *from != '\0'; from += n) {
		from += strspn(from, "/");
		n = strcspn(from, "/");
		if (n == 0 || (n == 1 && *from == '.'))
			continue;
		if (to != line)
			*to++ = '/';
		memmove(to, from, n);
		to += n;
		depth++;
	}
	*to = '\0';
	return depth;
}

/* Returns 1 if a component is "..". */
static int
has_dotdot(const char *name)
{
	size_t n;

	for (; *name != '\0'; name += n) {
		name += strspn(name, "/");
		n = strcspn(name, "/");
		if (n == 2 && name[0] == '.' && name[1] == '.')
			return 1;
	}
	return 0;
}

static const char *
fault_of_line(const struct lines *l)
{
	if (l->is_long)
		return "longer than a path can be";
	if (l->has_nul)
		return "contains a NUL byte";
	return has_dotdot(l->line) ? "\"..\" is not allowed" : NULL;
}

/* The line has arrived to its end. Returns 1 unless it is empty. */
static int
take_line(struct lines *l, struct line *line)
{
	size_t n = l->n;

	l->line[n] = '\0';
	memset(line, 0, sizeof(*line));
	line->number = l->number++;
	line->name = l->line;
	line->why = fault_of_line(l);
	if (line->why == NULL)
		line->depth = clean_name(l->line);
	l->n = 0;
	l->has_nul = l->is_long = 0;
	return n > 0;
}

int
lines_next(struct lines *l, struct line *line)
{
	while (l->at < l->len || (l->is_over && l->n > 0)) {
		if (gather_line(l) && take_line(l, line))
			return 1;
	}
	return 0;
}

int
lines_ended(const struct lines *l)
{
	return l->is_over && l->at == l->len && l->n == 0;
}
