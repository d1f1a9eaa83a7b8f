/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See early-requests.h for the idea. */

#include <sys/types.h>
#include <sys/stat.h>

#include <stdlib.h>
#include <string.h>

#include "early-requests.h"

/* draft-ietf-secsh-filexfer-02, 3 */
enum {
	OPEN = 3, CLOSE = 4, READ = 5, STATUS = 101, HANDLE = 102, DATA = 103,
	ATTRS = 105
};
#define STATUS_OK	0
#define STATUS_EOF	1
#define HAS_SIZE	0x1		/* in attributes */
#define HAS_OWNER	0x2
#define HAS_MODE	0x4

#define MOST		EARLY_REQUESTS_MAX
#define HEAD		5		/* type and ID */

/* Behind the head of a READ: the handle, with its length; offset; length */
#define READ_OFFSET	(HEAD + 4 + EARLY_REQUESTS_HANDLE_LEN)
#define READ_LEN	(READ_OFFSET + 8)
#define READ_SIZE	(READ_LEN + 4)
#define DATA_BYTES	(HEAD + 4)

struct early_requests {
	struct {
		size_t	 at, len;	/* in "bytes" */
		uint8_t	*reply;		/* NULL: none yet */
		size_t	 reply_len;
	} r[MOST];
	size_t	 n, used;		/* those before "used" are */
	size_t	 open_at;		/* the request that opens the file */
	int	 is_open;		/* that was used */
	uint8_t	*bytes;
	size_t	 len;
	uint8_t	*made;			/* the last answer */
};

static uint32_t
get_u32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 |
	    (uint32_t)p[2] << 8 | p[3];
}

static uint64_t
get_u64(const uint8_t *p)
{
	return (uint64_t)get_u32(p) << 32 | get_u32(p + 4);
}

static void
put_u32(uint8_t *p, uint32_t v)
{
	p[0] = v >> 24;
	p[1] = v >> 16;
	p[2] = v >> 8;
	p[3] = v;
}

struct early_requests *
early_requests_new(void)
{
	struct early_requests *o = calloc(1, sizeof(*o));

	if (o != NULL)
		o->open_at = MOST;
	return o;
}

void
early_requests_free(struct early_requests *o)
{
	size_t i;

	if (o == NULL)
		return;
	for (i = 0; i < o->n; i++)
		free(o->r[i].reply);
	free(o->bytes);
	free(o->made);
	free(o);
}

int
early_requests_add(struct early_requests *o, const void *request, size_t len)
{
	uint8_t *p;

	if (o->n == MOST || len < HEAD ||
	    (p = realloc(o->bytes, o->len + 4 + len)) == NULL)
		return -1;
	o->bytes = p;
	p += o->len;
	put_u32(p, len);
	memcpy(p + 4, request, len);
	put_u32(p + 4 + 1, EARLY_REQUESTS_ID + o->n);
	if (p[4] == OPEN)
		o->open_at = o->n;
	o->r[o->n].at = o->len + 4;
	o->r[o->n++].len = len;
	o->len += 4 + len;
	return 0;
}

const void *
early_requests_bytes(const struct early_requests *o, size_t *len)
{
	*len = o->len;
	return o->bytes;
}

int
early_requests_keep_reply(struct early_requests *o, const void *message,
    size_t len)
{
	uint32_t i;

	if (len < HEAD)
		return 0;
	i = get_u32((const uint8_t *)message + 1) - EARLY_REQUESTS_ID;
	if (i >= o->n || o->r[i].reply != NULL)
		return 0;
	if ((o->r[i].reply = malloc(len)) == NULL)
		return -1;
	memcpy(o->r[i].reply, message, len);
	o->r[i].reply_len = len;
	return 1;
}

/*
 * The attributes in reply i. Returns their flags, and sets what these name; 0
 * if the reply has none.
 */
static uint32_t
attrs_of(const struct early_requests *o, size_t i, uint64_t *size,
    uint32_t *mode)
{
	const uint8_t *p = o->r[i].reply;
	size_t left = o->r[i].reply_len;
	uint32_t flags;

	if (p == NULL || p[0] != ATTRS || left < HEAD + 4)
		return 0;
	flags = get_u32(p + HEAD);
	p += HEAD + 4;
	left -= HEAD + 4;
	if ((flags & HAS_SIZE) != 0) {
		if (left < 8)
			return 0;
		*size = get_u64(p);
		p += 8;
		left -= 8;
	}
	if ((flags & HAS_OWNER) != 0) {
		if (left < 8)
			return flags & HAS_SIZE;
		p += 8;
		left -= 8;
	}
	if ((flags & HAS_MODE) != 0) {
		if (left < 4)
			return flags & HAS_SIZE;
		*mode = get_u32(p);
	}
	return flags;
}

static const uint8_t *
request_of(const struct early_requests *o, size_t i)
{
	return o->bytes + o->r[i].at;
}

static int
is_special(const struct early_requests *o)
{
	uint64_t size;
	uint32_t mode;
	size_t i;

	for (i = 0; i < o->n; i++) {
		if ((attrs_of(o, i, &size, &mode) & HAS_MODE) != 0 &&
		    !S_ISREG(mode) && !S_ISDIR(mode) && !S_ISLNK(mode))
			return 1;
	}
	return 0;
}

static int
is_read(const void *m, size_t len)
{
	const uint8_t *p = m;

	return len == READ_SIZE && p[0] == READ && get_u32(p + HEAD) ==
	    EARLY_REQUESTS_HANDLE_LEN && memcmp(p + HEAD + 4,
	    EARLY_REQUESTS_HANDLE, EARLY_REQUESTS_HANDLE_LEN) == 0;
}

/* Whether the file is got. */
static int
is_download(const struct early_requests *o)
{
	return is_read(request_of(o, o->n - 1), o->r[o->n - 1].len);
}

int
early_requests_are_answered(const struct early_requests *o)
{
	size_t i;

	for (i = 0; i < o->n; i++) {
		if (request_of(o, i)[0] == OPEN && is_download(o) &&
		    is_special(o))
			return 1;
		if (o->r[i].reply == NULL)
			return 0;
	}
	return 1;
}

/* How many bytes a reply to a READ has; 0 if it has none. */
static uint32_t
data_len(const struct early_requests *o, size_t i)
{
	const uint8_t *p = o->r[i].reply;

	return o->r[i].reply_len > DATA_BYTES && p[0] == DATA &&
	    get_u32(p + HEAD) == o->r[i].reply_len - DATA_BYTES ?
	    get_u32(p + HEAD) : 0;
}

static int
has_status(const struct early_requests *o, size_t i, uint32_t status)
{
	const uint8_t *p = o->r[i].reply;

	return o->r[i].reply_len >= HEAD + 4 && p[0] == STATUS &&
	    get_u32(p + HEAD) == status;
}

static int
is_eof(const struct early_requests *o, size_t i)
{
	return has_status(o, i, STATUS_EOF);
}

static int
is_success(const struct early_requests *o, size_t i)
{
	const uint8_t *p = o->r[i].reply;

	if (i == o->open_at)
		return p[0] == HANDLE && o->r[i].reply_len == READ_OFFSET &&
		    memcmp(p + HEAD + 4, EARLY_REQUESTS_HANDLE,
		    EARLY_REQUESTS_HANDLE_LEN) == 0;
	if (is_read(request_of(o, i), o->r[i].len))
		return data_len(o, i) > 0 || is_eof(o, i);
	return has_status(o, i, STATUS_OK);
}

int
early_requests_have_failed(const struct early_requests *o)
{
	size_t i;

	for (i = o->open_at; i < o->n && o->r[i].reply != NULL; i++) {
		if (!is_success(o, i))
			return 1;
	}
	return 0;
}

/*
 * Whether the end of the file has arrived as well. A larger one is read as
 * ever: the copy measures the path by the time that its READs take.
 */
static int
has_end(const struct early_requests *o)
{
	return o->r[o->n - 1].reply != NULL && is_eof(o, o->n - 1);
}

/* A READ from the same place that asks for no less than has arrived */
static int
is_read_answered(const struct early_requests *o, size_t i, const uint8_t *m)
{
	const uint8_t *p = request_of(o, i);

	return is_read(p, o->r[i].len) && has_end(o) &&
	    get_u64(p + READ_OFFSET) == get_u64(m + READ_OFFSET) &&
	    (is_eof(o, i) || (data_len(o, i) > 0 &&
	    data_len(o, i) <= get_u32(m + READ_LEN)));
}

/*
 * Whether the file ends where this READ begins: so says its size, the READ
 * before brought all bytes up to there and no more, and this one, which begins
 * further behind, found none.
 */
static int
is_end_known(const struct early_requests *o, size_t i, const uint8_t *m)
{
	uint64_t size = 0, end = get_u64(m + READ_OFFSET);
	uint32_t mode;
	int is_known = 0;
	size_t j;

	if (i == 0 || !is_read(request_of(o, i), o->r[i].len) ||
	    !is_read(request_of(o, i - 1), o->r[i - 1].len) || !is_eof(o, i))
		return 0;
	for (j = 0; j < i; j++) {
		if ((attrs_of(o, j, &size, &mode) & HAS_SIZE) != 0)
			is_known = 1;
	}
	return is_known && size == end && data_len(o, i - 1) > 0 &&
	    get_u64(request_of(o, i - 1) + READ_OFFSET) +
	    data_len(o, i - 1) == end &&
	    get_u64(request_of(o, i) + READ_OFFSET) > end;
}

static int
is_answered(const struct early_requests *o, size_t i, const uint8_t *m,
    size_t len)
{
	const uint8_t *p = request_of(o, i);

	if (o->r[i].reply == NULL || (i > o->open_at && !o->is_open) ||
	    (i >= o->open_at && early_requests_have_failed(o)))
		return 0;
	if (is_read(m, len))
		return is_read_answered(o, i, m) || is_end_known(o, i, m);
	return len == o->r[i].len && m[0] == p[0] &&
	    memcmp(m + HEAD, p + HEAD, len - HEAD) == 0;
}

/* Copies a reply, with the ID of the request. */
static const void *
copy_reply(struct early_requests *o, const void *reply, size_t len,
    const uint8_t *request)
{
	free(o->made);
	if ((o->made = malloc(len)) == NULL)
		return NULL;
	memcpy(o->made, reply, len);
	memcpy(o->made + 1, request + 1, 4);
	return o->made;
}

/*
 * The file that was opened for reading is closed, so all that is wanted of it
 * has arrived. What the server has to say of that changes nothing.
 */
static int
is_close(const struct early_requests *o, const uint8_t *m, size_t len)
{
	return o->is_open && is_download(o) && len == READ_OFFSET && m[0] ==
	    CLOSE && get_u32(m + HEAD) == EARLY_REQUESTS_HANDLE_LEN &&
	    memcmp(m + HEAD + 4, EARLY_REQUESTS_HANDLE,
	    EARLY_REQUESTS_HANDLE_LEN) == 0;
}

/*
 * Whether the server is busy with opening what it may never have opened. It
 * answers nothing, so what it has said is still good.
 */
int
early_requests_are_stuck(const struct early_requests *o)
{
	return o->n > 0 && o->r[o->n - 1].reply == NULL;
}

const void *
early_requests_find_reply(struct early_requests *o, const void *request,
    size_t len, size_t *reply_len, int *sends)
{
	/* type, ID, SSH_FX_OK, and two empty strings */
	static const uint8_t ok[HEAD + 4 + 4 + 4] = { STATUS };
	const uint8_t *m = request;
	size_t i;

	*sends = 0;
	if (len < HEAD)
		return NULL;
	if (is_close(o, m, len)) {
		*sends = 1;
		*reply_len = sizeof(ok);
		return copy_reply(o, ok, sizeof(ok), m);
	}
	for (i = early_requests_are_stuck(o) ? 0 : o->used; i < o->n; i++) {
		if (!is_answered(o, i, m, len))
			continue;
		o->used = i + 1;
		o->is_open |= m[0] == OPEN;
		*reply_len = o->r[i].reply_len;
		return copy_reply(o, o->r[i].reply, *reply_len, m);
	}
	return NULL;
}
