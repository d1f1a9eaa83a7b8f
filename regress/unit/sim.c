/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See sim.h. */

#include <err.h>
#include <stdlib.h>
#include <string.h>

#include "sim.h"

void
sim_must(int holds, const char *promise)
{
	if (!holds)
		errx(1, "broken: %s", promise);
}

/* Files */

struct sim_file *
sim_file_new(uint64_t size, uint64_t most)
{
	struct sim_file *f = calloc(1, sizeof(*f));

	if (f == NULL || (f->map = calloc(most + 1, 1)) == NULL)
		err(1, "calloc");
	f->size = size;
	f->most = most;
	memset(f->map, SIM_OLD, size);
	return f;
}

void
sim_file_free(struct sim_file *f)
{
	if (f == NULL)
		return;
	free(f->map);
	free(f);
}

static void
move_frontier(struct sim_file *f)
{
	while (f->frontier < f->size && f->map[f->frontier] == SIM_NEW)
		f->frontier++;
}

int
sim_fill(struct sim_file *f, uint64_t at, uint64_t len,
    enum sim_content content)
{
	if (f == NULL || at > f->most || len > f->most - at)
		return -1;
	memset(f->map + at, (int)content, len);
	if (f->size < at + len)
		f->size = at + len;
	if (content != SIM_NEW && at < f->frontier)
		f->frontier = at;
	move_frontier(f);
	return 0;
}

void
sim_truncate(struct sim_file *f, uint64_t size)
{
	if (f->size > size)
		memset(f->map + size, SIM_HOLE, f->size - size);
	f->size = size;
	if (f->frontier > size)
		f->frontier = size;
}

uint64_t
sim_count(const struct sim_file *f, enum sim_content content)
{
	uint64_t i, n = 0;

	for (i = 0; i < f->size; i++)
		n += f->map[i] == content;
	return n;
}

int
sim_has_hole(const struct sim_file *f, uint64_t at, uint64_t len)
{
	return memchr(f->map + at, SIM_HOLE, len) != NULL;
}

int
sim_is_in_order(const struct sim_file *f)
{
	return f->size == f->frontier || (f->map[f->frontier] == SIM_OLD &&
	    memcmp(f->map + f->frontier, f->map + f->frontier + 1,
	    f->size - f->frontier - 1) == 0);
}

/* Handles */

int
sim_may_open(const struct sim_handles *h)
{
	return h->allowed == 0 || h->open < h->allowed;
}

void
sim_open(struct sim_handles *h)
{
	if (++h->open > h->most)
		h->most = h->open;
}

void
sim_close(struct sim_handles *h, int *is_open)
{
	sim_must(*is_open, "what is closed is open");
	*is_open = 0;
	h->open--;
}

/* Requests */

void
sim_reset(struct sim *s)
{
	s->n = 0;
	memset(s->seen, 0, sizeof(s->seen));
}

int
sim_serve(struct sim *s, unsigned int op)
{
	return ++s->seen[op] == s->fail[op];
}

uint64_t
sim_wait(const struct sim *s, unsigned int op)
{
	return s->seen[op] == s->late[op] ? s->late_rounds[op] : 0;
}

struct sim_request *
sim_push(struct sim *s, unsigned int conn, const void *body, size_t len)
{
	struct sim_request *r = &s->queue[s->n];

	sim_must(s->n + 1 < SIM_REQUESTS, "requests in flight are bounded");
	sim_must(len <= SIM_BODY && conn < SIM_LINKS, "a request has room");
	s->n++;
	r->link = conn;
	r->wait = r->left = 0;
	memcpy(r->body, body, len);
	return r;
}

const struct sim_request *
sim_pop(struct sim *s, unsigned int conn)
{
	size_t i;

	for (i = 0; i < s->n && s->queue[i].link != conn; i++)
		;
	if (i == s->n)
		return NULL;
	s->now[0] = s->queue[i];
	memmove(&s->queue[i], &s->queue[i + 1],
	    (--s->n - i) * sizeof(*s->queue));
	return &s->now[0];
}

size_t
sim_waiting(const struct sim *s, unsigned int conn)
{
	size_t i, n = 0;

	for (i = 0; i < s->n; i++)
		n += s->queue[i].link == conn;
	return n;
}

void
sim_lose(struct sim *s, unsigned int conn)
{
	size_t i, n = 0;

	for (i = 0; i < s->n; i++) {
		if (s->queue[i].link != conn)
			s->queue[n++] = s->queue[i];
	}
	s->n = n;
}

/* Puts the replies into another order. */
static void
reorder(struct sim_request *now, size_t n, uint64_t order)
{
	struct sim_request swap;
	size_t i, j;

	for (i = 0; i + 1 < n && order != SIM_FORWARDS; i++) {
		j = order == SIM_BACKWARDS ? n - 1 - i :
		    i + (size_t)rand() % (n - i);
		if (order == SIM_BACKWARDS && j <= i)
			break;
		swap = now[i];
		now[i] = now[j];
		now[j] = swap;
	}
}

size_t
sim_round(struct sim *s, uint64_t order)
{
	size_t i, left = 0, taken = 0;

	for (i = 0; i < s->n; i++) {
		if (s->queue[i].wait == 0)
			s->now[taken++] = s->queue[i];
		else {
			s->queue[i].wait--;
			s->queue[left++] = s->queue[i];
		}
	}
	s->n = left;
	reorder(s->now, taken, order);
	return taken;
}

size_t
sim_carry(struct sim *s, uint64_t path, uint64_t window)
{
	uint64_t windows[SIM_LINKS], n;
	size_t i, left = 0, taken = 0;
	struct sim_request *r;

	for (i = 0; i < SIM_LINKS; i++)
		windows[i] = window;
	for (i = 0; i < s->n; i++) {
		r = &s->queue[i];
		n = r->left < path ? r->left : path;
		n = n < windows[r->link] ? n : windows[r->link];
		r->left -= n;
		path -= n;
		windows[r->link] -= n;
		if (r->left > 0) {
			windows[r->link] = 0;
			s->queue[left++] = *r;
		} else
			s->now[taken++] = *r;
	}
	s->n = left;
	return taken;
}
