/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * sshbuf-model SEED OPERATIONS: random operations on a buffer of
 * channels/sshbuf-hook.c and on an array, which must agree after each.
 *
 * Every byte of content has its top bit set, and new memory is filled with
 * FRESH. This shows content that is left in freed memory, or in a buffer after
 * a reset. The linker replaces malloc() and free() by functions of this file.
 *
 * Prints the number of operations, growths and resets, and exits with 1 at the
 * first difference.
 *
 * sshbuf-model -m MIB: a backlog of so much grows in packets, and is taken.
 * Prints the most memory that the process had while it grew, and what it has
 * when a half, and when all was taken, as MiB beyond what it had before.
 */

#include "includes.h"

#include <sys/types.h>
#include <sys/resource.h>

#include <err.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SSHBUF_INTERNAL
#include "sshbuf.h"
#include "sshbuf-hook.h"

#define FRESH	0x11
#define MOST	(3 * 1024 * 1024)
#define MIB	(1024 * 1024)
#define PACKET	(255 * 1024)

void *__real_malloc(size_t);
void __real_free(void *);
void *__wrap_malloc(size_t);
void __wrap_free(void *);

static int watching;
static u_char model[2 * MOST], chunk[MOST];
static size_t model_off, model_end;
static unsigned long long state, growths, resets, attachments, kept,
    externals;

static int
has_content(const u_char *p, size_t len)
{
	while (len-- > 0) {
		if ((*p++ & 0x80) != 0)
			return 1;
	}
	return 0;
}

void *
__wrap_malloc(size_t len)
{
	void *p = __real_malloc(len);

	if (p != NULL && watching)
		memset(p, FRESH, malloc_usable_size(p));
	return p;
}

void
__wrap_free(void *p)
{
	if (p != NULL && watching && has_content(p, malloc_usable_size(p)))
		errx(1, "content is left in memory that was freed");
	__real_free(p);
}

/* Knuth's MMIX generator: the same numbers on every system. */
static size_t
pick(size_t most)
{
	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (size_t)((state >> 33) % (most + 1));
}

/* Sizes of each order of magnitude are equally likely. */
static size_t
pick_size(void)
{
	return pick((size_t)1 << pick(18));
}

static void
put_into_model(const u_char *p, size_t len)
{
	size_t held = model_end - model_off;

	if (model_end + len > sizeof(model)) {
		memmove(model, model + model_off, held);
		model_off = 0;
		model_end = held;
	}
	memcpy(model + model_end, p, len);
	model_end += len;
}

static void
put(struct sshbuf *b, int reserve)
{
	size_t len = pick_size(), i, held = model_end - model_off;
	u_char *p;
	int r;

	for (i = 0; i < len; i++)
		chunk[i] = (u_char)(0x80 | pick(0x7f));
	if (reserve) {
		if ((r = sshbuf_reserve(b, len, &p)) == 0)
			memcpy(p, chunk, len);
	} else
		r = sshbuf_put(b, chunk, len);
	if ((r == 0) != (held + len <= sshbuf_max_size(b)))
		errx(1, "%zu bytes put behind %zu: %d", len, held, r);
	if (r == 0)
		put_into_model(chunk, len);
}

/*
 * Attached content: one area, and then the other. Once released, others use the
 * area, and it has no content. Until then it has all, used or not.
 */
static u_char area[2][MOST];
static const u_char *attached;
static u_char attached_last;
static size_t attached_len;

static void
release_area(void *arg)
{
	if (arg != attached)
		errx(1, "content is released that is not attached");
	memset(arg, FRESH, MOST);
	attached = NULL;
}

static void
attach(struct sshbuf *b)
{
	size_t len = 1 + pick_size(), i;
	u_char *p = attached == area[0] ? area[1] : area[0];
	int r, fits = len <= sshbuf_max_size(b);

	for (i = 0; i < len; i++)
		p[i] = (u_char)(0x80 | pick(0x7f));
	if (((r = sshbuf_attach(b, p, len, release_area, p)) == 0) != fits)
		errx(1, "%zu bytes attached: %d", len, r);
	if (!fits)
		return;
	if (attached != NULL)
		errx(1, "two areas are attached");
	attached = p;
	attached_last = p[len - 1];
	attached_len = len;
	attachments++;
	memcpy(model, p, len);
	model_off = 0;
	model_end = len;
}

/* External data, the first and the second area in turn */
static u_char far_area[2][MOST];

static void
put_external(struct sshbuf *b)
{
	static int turn;
	size_t len = pick_size(), i, held = model_end - model_off;
	u_char *p = far_area[turn];
	int r;

	for (i = 0; i < len; i++)
		p[i] = (u_char)(0x80 | pick(0x7f));
	r = sshbuf_put_external(b, p, len);
	if ((r == 0) != (held + len <= sshbuf_max_size(b)))
		errx(1, "%zu bytes external behind %zu: %d", len, held, r);
	if (r != 0)
		return;
	put_into_model(p, len);
	turn = !turn;
}

/* Each byte is where it belongs, and nothing is in the room of others. */
static int
differs(const struct sshbuf *b)
{
	struct sshbuf_external o = sshbuf_external(b);
	const u_char *p = sshbuf_ptr(b), *m = model + model_off;
	size_t behind = o.at + o.len, len = model_end - model_off;

	if (sshbuf_len(b) != len)
		return 1;
	if (o.len == 0)
		return memcmp(p, m, len) != 0;
	externals++;
	if (has_content(p + o.at, o.len))
		errx(1, "there is content in the gap of external data");
	return behind > len || memcmp(p, m, o.at) != 0 ||
	    memcmp(o.data, m + o.at, o.len) != 0 ||
	    memcmp(p + behind, m + behind, len - behind) != 0;
}

static void
take(struct sshbuf *b, int from_end)
{
	size_t len = pick_size();
	int fits = len <= model_end - model_off;
	int r = from_end ? sshbuf_consume_end(b, len) : sshbuf_consume(b, len);

	if ((r == 0) != fits)
		errx(1, "%zu bytes taken: %d", len, r);
	if (fits && from_end)
		model_end -= len;
	else if (fits)
		model_off += len;
}

static void
reset(struct sshbuf *b)
{
	sshbuf_reset(b);
	model_off = model_end = 0;
	resets++;
	if (has_content(sshbuf_mutable_ptr(b), sshbuf_alloc(b)))
		errx(1, "content is left in a buffer after a reset");
}

static void
operate(struct sshbuf *b)
{
	size_t alloc = sshbuf_alloc(b), what = pick(99);
	int was_attached = attached != NULL;

	if (model_off == model_end && pick(1))
		attach(b);
	else if (what < 40)
		put(b, what < 20);
	else if (what < 50)
		put_external(b);
	else if (what < 85)
		take(b, 0);
	else if (what < 95)
		take(b, 1);
	else if (what < 97)
		sshbuf_trim(b);
	else if (what < 98)
		reset(b);
	else
		(void)sshbuf_set_max_size(b, model_end - model_off +
		    pick(MOST - (model_end - model_off)));
	growths += sshbuf_alloc(b) > alloc;
	kept += was_attached && attached != NULL;
	if (attached != NULL && attached[attached_len - 1] != attached_last)
		errx(1, "attached content has changed");
	if (differs(b))
		errx(1, "the content differs");
	if (sshbuf_alloc(b) > sshbuf_max_size(b))
		errx(1, "more than the maximum is allocated");
}

/*
 * See bufgrow_colour(): copying is slow if the places in a page of two buffers,
 * or of a buffer and memory that malloc() mapped, are too close to each other.
 */
static void
compare_places(size_t len)
{
	struct sshbuf *a = sshbuf_new(), *b = sshbuf_new();
	size_t apart;

	if (a == NULL || b == NULL || sshbuf_allocate(a, len) != 0 ||
	    sshbuf_allocate(b, len) != 0)
		errx(1, "no buffer");
	if ((uintptr_t)sshbuf_ptr(a) % 4096 < 64)
		errx(1, "a large buffer begins where a page does");
	apart = (size_t)(sshbuf_ptr(a) - sshbuf_ptr(b)) % 4096;
	if (apart < 64 || apart > 4096 - 64)
		errx(1, "two large buffers begin %zu bytes apart in a page",
		    apart);
	sshbuf_free(a);
	sshbuf_free(b);
}

/* MiB that the process has now */
static unsigned long
resident(void)
{
	unsigned long all, pages = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	if (f == NULL || fscanf(f, "%lu %lu", &all, &pages) != 2)
		errx(1, "no /proc");
	fclose(f);
	return pages * (unsigned long)sysconf(_SC_PAGESIZE) / MIB;
}

/* A number that stands at each place of the stream */
static u_char
at_place(size_t place)
{
	return (u_char)(place / PACKET * 7 + place % 251);
}

static void
put_packet(struct sshbuf *b, size_t place)
{
	size_t i;

	for (i = 0; i < PACKET; i++)
		chunk[i] = at_place(place + i);
	if (sshbuf_put(b, chunk, PACKET) != 0)
		errx(1, "no room at %zu", place);
}

static void
take_packet(struct sshbuf *b, size_t place)
{
	const u_char *p = sshbuf_ptr(b);
	size_t i;

	for (i = 0; i < PACKET; i++) {
		if (p[i] != at_place(place + i))
			errx(1, "the byte at %zu differs", place + i);
	}
	if (sshbuf_consume(b, PACKET) != 0)
		errx(1, "nothing at %zu", place);
	sshbuf_trim(b);
}

static void
measure(size_t bytes)
{
	struct sshbuf *b = sshbuf_new();
	unsigned long before = resident(), half = 0;
	struct rusage use;
	size_t in = 0, out = 0;

	/* It may grow on: at its end no copy would be needed. */
	if (b == NULL || sshbuf_raise_max(b, 2 * bytes) != 0)
		errx(1, "no buffer");
	for (; in < bytes; in += PACKET)
		put_packet(b, in);
	if (getrusage(RUSAGE_SELF, &use) != 0)
		err(1, "getrusage");
	for (; out < in; out += PACKET) {
		take_packet(b, out);
		if (out < in / 2)
			half = resident() - before;
	}
	printf("%lu %lu %lu\n", (unsigned long)use.ru_maxrss / 1024 - before,
	    half, resident() - before);
	sshbuf_free(b);
}

int
main(int argc, char **argv)
{
	struct sshbuf *b;
	unsigned long n, i;

	if (argc == 3 && strcmp(argv[1], "-m") == 0) {
		measure(strtoul(argv[2], NULL, 10) * MIB);
		return 0;
	}
	if (argc != 3)
		errx(2, "usage: sshbuf-model SEED OPERATIONS");
	state = strtoull(argv[1], NULL, 10);
	n = strtoul(argv[2], NULL, 10);
	watching = 1;
	if ((b = sshbuf_new()) == NULL || sshbuf_set_max_size(b, MOST) != 0)
		errx(1, "no buffer");
	for (i = 0; i < n; i++)
		operate(b);
	sshbuf_free(b);
	if (attached != NULL)
		errx(1, "attached content outlives its buffer");
	watching = 0;
	for (i = 0; i < 200; i++)
		compare_places(256 * 1024);
	printf("%lu operations, %llu growths, %llu resets, %llu attached, "
	    "%llu used in part, %llu times external\n", n, growths, resets,
	    attachments, kept, externals);
	return 0;
}
