/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * fuzz-sshbuf: operations on two buffers of channels/sshbuf-hook.c, either of
 * which may have a child that reads its memory, and on two arrays. They must
 * agree after each. regress/unit/sshbuf-model.c does the same with larger
 * buffers and random numbers, and watches what is left in memory.
 */

#include "includes.h"

#include <sys/types.h>

#include <stdlib.h>
#include <string.h>

#define SSHBUF_INTERNAL
#include "sshbuf.h"
#include "ssherr.h"

#include "fuzz.h"

#define MOST	(96 * 1024)

struct pair {
	struct sshbuf *b;
	u_char	 model[MOST];
	size_t	 len;
};

static struct pair pairs[2];
static u_char pattern[MOST];

static void
check(const struct pair *p)
{
	if (sshbuf_len(p->b) != p->len ||
	    (p->len > 0 && memcmp(sshbuf_ptr(p->b), p->model, p->len) != 0) ||
	    sshbuf_alloc(p->b) > sshbuf_max_size(p->b) ||
	    sshbuf_avail(p->b) != sshbuf_max_size(p->b) - p->len)
		abort();
}

static void
put(struct fuzz *f, struct pair *p, int reserve)
{
	size_t len = fuzz_pick(f, MOST);
	int r, fits = p->len + len <= sshbuf_max_size(p->b) &&
	    sshbuf_refcount(p->b) <= 1;
	u_char *d;

	if (!reserve)
		r = sshbuf_put(p->b, pattern, len);
	else if ((r = sshbuf_reserve(p->b, len, &d)) == 0)
		memcpy(d, pattern, len);
	if ((r == 0) != fits)
		abort();
	if (fits) {
		memcpy(p->model + p->len, pattern, len);
		p->len += len;
	}
}

static void
take(struct fuzz *f, struct pair *p, int from_end)
{
	size_t len = fuzz_pick(f, MOST);
	int r = from_end ? sshbuf_consume_end(p->b, len) :
	    sshbuf_consume(p->b, len);

	if ((r == 0) != (len <= p->len))
		abort();
	if (r != 0)
		return;
	p->len -= len;
	if (!from_end)
		memmove(p->model, p->model + len, p->len);
}

/* A child reads its parent's memory, which must stay where it is. */
static void
lend(struct fuzz *f, struct pair *p)
{
	struct sshbuf *child = sshbuf_fromb(p->b);
	size_t len = fuzz_pick(f, MOST);

	if (child == NULL)
		abort();
	put(f, p, 1);
	if (sshbuf_put_u8(child, 1) != SSH_ERR_BUFFER_READ_ONLY)
		abort();
	if (sshbuf_len(child) != p->len ||
	    sshbuf_ptr(child) != sshbuf_ptr(p->b) ||
	    (sshbuf_consume(child, len) == 0) != (len <= p->len))
		abort();
	sshbuf_free(child);
}

static void
set_max(struct fuzz *f, struct pair *p)
{
	size_t max = fuzz_pick(f, MOST);

	if (sshbuf_set_max_size(p->b, max) == 0 && max < p->len)
		abort();
}

static void
operate(struct fuzz *f)
{
	unsigned what = fuzz_byte(f);
	struct pair *p = &pairs[what & 1];

	switch (what / 2 % 8) {
	case 0: case 1: case 2:
		put(f, p, what & 0x80);
		break;
	case 3: case 4:
		take(f, p, 0);
		break;
	case 5:
		take(f, p, 1);
		break;
	case 6:
		if (what & 0x80) {
			sshbuf_reset(p->b);
			p->len = 0;
		} else
			set_max(f, p);
		break;
	case 7:
		lend(f, p);
		break;
	}
	check(p);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct fuzz f = { data, len };
	size_t i;

	for (i = 0; i < sizeof(pattern); i++)
		pattern[i] = (u_char)(i * 7 + i / 251);
	for (i = 0; i < 2; i++) {
		pairs[i].len = 0;
		if ((pairs[i].b = sshbuf_new()) == NULL ||
		    sshbuf_set_max_size(pairs[i].b, MOST) != 0)
			abort();
	}
	while (f.left > 0)
		operate(&f);
	sshbuf_free(pairs[0].b);
	sshbuf_free(pairs[1].b);
	return 0;
}
