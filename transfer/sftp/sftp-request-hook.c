/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See sftp-request-hook.h. */

#include "includes.h"

#include <sys/types.h>

#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "sftp.h"
#include "sftp-common.h"
#include "sshbuf.h"
#include "ssherr.h"

#include "blocksum-hook.h"
#include "sftp-request-hook.h"

/* Requests */

static void
compose(int r)
{
	if (r != 0)
		fatal_fr(r, "sshbuf");
}

static struct sshbuf *
begin_request(struct request_sink *s, u_char code, uint32_t id)
{
	struct sshbuf *m = s->begin(s);

	compose(sshbuf_put_u8(m, code));
	compose(sshbuf_put_u32(m, id));
	return m;
}

static void
put_handle(struct sshbuf *m, const struct handle *h)
{
	compose(sshbuf_put_string(m, h->id, h->len));
}

void
request_init_session(struct request_sink *s)
{
	begin_request(s, SSH2_FXP_INIT, SSH2_FILEXFER_VERSION);
	s->end(s);
}

void
request_path(struct request_sink *s, uint32_t id, u_char code, const char *path,
    const Attrib *attrs)
{
	struct sshbuf *m = begin_request(s, code, id);

	compose(sshbuf_put_cstring(m, path));
	if (attrs != NULL)
		compose(encode_attrib(m, attrs));
	s->end(s);
}

void
request_handle(struct request_sink *s, uint32_t id, u_char code,
    const struct handle *h, const Attrib *attrs)
{
	struct sshbuf *m = begin_request(s, code, id);

	put_handle(m, h);
	if (attrs != NULL)
		compose(encode_attrib(m, attrs));
	s->end(s);
}

static Attrib
size_alone(uint64_t size)
{
	Attrib a;

	attrib_clear(&a);
	a.flags = SSH2_FILEXFER_ATTR_SIZE;
	a.size = size;
	return a;
}

void
request_setsize(struct request_sink *s, uint32_t id, const char *path,
    uint64_t size)
{
	Attrib a = size_alone(size);

	request_path(s, id, SSH2_FXP_SETSTAT, path, &a);
}

void
request_fsetsize(struct request_sink *s, uint32_t id, const struct handle *h,
    uint64_t size)
{
	Attrib a = size_alone(size);

	request_handle(s, id, SSH2_FXP_FSETSTAT, h, &a);
}

void
request_open(struct request_sink *s, uint32_t id, const char *path, u_int flags,
    const Attrib *attrs)
{
	struct sshbuf *m = begin_request(s, SSH2_FXP_OPEN, id);
	Attrib none;

	attrib_clear(&none);
	compose(sshbuf_put_cstring(m, path));
	compose(sshbuf_put_u32(m, flags));
	compose(encode_attrib(m, attrs != NULL ? attrs : &none));
	s->end(s);
}

void
request_rename(struct request_sink *s, uint32_t id, const char *from,
    const char *to)
{
	struct sshbuf *m = begin_request(s, SSH2_FXP_RENAME, id);

	compose(sshbuf_put_cstring(m, from));
	compose(sshbuf_put_cstring(m, to));
	s->end(s);
}

void
request_read(struct request_sink *s, uint32_t id, const struct handle *h,
    uint64_t off, uint32_t len)
{
	struct sshbuf *m = begin_request(s, SSH2_FXP_READ, id);

	put_handle(m, h);
	compose(sshbuf_put_u64(m, off));
	compose(sshbuf_put_u32(m, len));
	s->end(s);
}

struct sshbuf *
request_begin_write(struct request_sink *s, uint32_t id, const struct handle *h,
    uint64_t off)
{
	struct sshbuf *m = begin_request(s, SSH2_FXP_WRITE, id);

	put_handle(m, h);
	compose(sshbuf_put_u64(m, off));
	return m;
}

void
request_write(struct request_sink *s, uint32_t id, const struct handle *h,
    uint64_t off, const void *data, size_t len)
{
	struct sshbuf *m = request_begin_write(s, id, h, off);

	compose(sshbuf_put_string(m, data, len));
	s->end(s);
}

static struct sshbuf *
begin_extended(struct request_sink *s, uint32_t id, const char *name)
{
	struct sshbuf *m = begin_request(s, SSH2_FXP_EXTENDED, id);

	compose(sshbuf_put_cstring(m, name));
	return m;
}

void
request_extended(struct request_sink *s, uint32_t id, const char *name,
    const struct handle *h)
{
	struct sshbuf *m = begin_extended(s, id, name);

	if (h != NULL)
		put_handle(m, h);
	s->end(s);
}

void
request_copy_data(struct request_sink *s, uint32_t id,
    const struct handle *from, uint64_t from_off, uint64_t len,
    const struct handle *to, uint64_t to_off)
{
	struct sshbuf *m = begin_extended(s, id, "copy-data");

	put_handle(m, from);
	compose(sshbuf_put_u64(m, from_off));
	compose(sshbuf_put_u64(m, len));
	put_handle(m, to);
	compose(sshbuf_put_u64(m, to_off));
	s->end(s);
}

void
request_hashes(struct request_sink *s, uint32_t id, const char *path,
    uint64_t off, uint64_t len, uint32_t block)
{
	struct sshbuf *m = begin_extended(s, id, "check-file-name");

	compose(sshbuf_put_cstring(m, path));
	compose(sshbuf_put_cstring(m, BLOCKSUM_NAME));
	compose(sshbuf_put_u64(m, off));
	compose(sshbuf_put_u64(m, len));
	compose(sshbuf_put_u32(m, block));
	s->end(s);
}

/* Replies */

int
reply_get_handle(struct sshbuf *m, struct handle *h)
{
	free(h->id);
	h->id = NULL;
	return sshbuf_get_string(m, &h->id, &h->len);
}

/* The line of "ls -l" between both is not used. */
int
reply_get_name(struct sshbuf *m, char **name, Attrib *a)
{
	int r;

	*name = NULL;
	if ((r = sshbuf_get_cstring(m, name, NULL)) != 0 ||
	    (r = sshbuf_skip_string(m)) != 0)
		return r;
	return decode_attrib(m, a);
}

int
reply_get_path(struct sshbuf *m, char **path)
{
	uint32_t count;
	int r;

	*path = NULL;
	if ((r = sshbuf_get_u32(m, &count)) != 0)
		return r;
	return count == 1 ? sshbuf_get_cstring(m, path, NULL) :
	    SSH_ERR_INVALID_FORMAT;
}

int
reply_get_limits(struct sshbuf *m, struct reply_limits *l)
{
	int r;

	if ((r = sshbuf_get_u64(m, &l->packet)) != 0 ||
	    (r = sshbuf_get_u64(m, &l->read)) != 0 ||
	    (r = sshbuf_get_u64(m, &l->write)) != 0)
		return r;
	return sshbuf_get_u64(m, &l->handles);
}

int
reply_get_free_space(struct sshbuf *m, uint64_t *bytes)
{
	uint64_t v[5];		/* of statvfs(3): v[1] bytes, v[4] times */
	int i, r;

	for (i = 0; i < 5; i++) {
		if ((r = sshbuf_get_u64(m, &v[i])) != 0)
			return r;
	}
	*bytes = v[1] != 0 && v[4] > UINT64_MAX / v[1] ? UINT64_MAX : v[4] *
	    v[1];
	return 0;
}

/* The reply begins with the algorithm, that of paramiko with a name more. */
ssize_t
reply_get_hashes(struct sshbuf *m, unsigned char *sums, size_t most)
{
	char *name = NULL;
	size_t len;
	int r;

	if ((r = sshbuf_get_cstring(m, &name, NULL)) == 0 &&
	    strcmp(name, "check-file") == 0) {
		free(name);
		name = NULL;
		r = sshbuf_get_cstring(m, &name, NULL);
	}
	len = sshbuf_len(m);
	if (r != 0 || strcmp(name, BLOCKSUM_NAME) != 0 ||
	    len % BLOCKSUM_LEN != 0 || len / BLOCKSUM_LEN > most) {
		verbose("server sent %zu bytes of %.20s; at most %zu hashes of "
		    "%s were requested", len, r == 0 ? name : "no hash", most,
		    BLOCKSUM_NAME);
		free(name);
		return -1;
	}
	free(name);
	return sshbuf_get(m, sums, len) != 0 ? -1 :
	    (ssize_t)(len / BLOCKSUM_LEN);
}

/* Replies that are due */

void
reply_expect(struct replies *r, uint32_t id, reply_fn *take, void *ctx)
{
	if (r->n == REPLIES_MAX)
		fatal_f("too many requests");
	r->due[r->n].id = id;
	r->due[r->n].take = take;
	r->due[r->n++].ctx = ctx;
}

/* The function may send further requests, so its entry is removed first. */
int
reply_deliver(struct replies *r, struct sshbuf *m)
{
	reply_fn *take;
	void *ctx;
	u_char type;
	uint32_t id;
	size_t i;

	if (sshbuf_peek_u8(m, 0, &type) != 0 || sshbuf_peek_u32(m, 1, &id) != 0)
		return 0;
	if (r->dropped_from != 0 && id >= r->dropped_from)
		return 1;
	for (i = 0; i < r->n && r->due[i].id != id; i++)
		;
	if (i == r->n || sshbuf_consume(m, 5) != 0)
		return 0;
	take = r->due[i].take;
	ctx = r->due[i].ctx;
	r->due[i] = r->due[--r->n];
	take(ctx, id, type, m);
	return 1;
}
