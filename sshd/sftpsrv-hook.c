/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

#include "includes.h"

#include <sys/types.h>

#include <errno.h>
#include <stdarg.h>
#include <unistd.h>

#include "log.h"
#include "misc.h"
#include "sshbuf.h"
#include "ssherr.h"
#include "sftp.h"

#include "sftpsrv-hook.h"

#define SMALL_READ	(16 * 1024)	/* several requests without data */
#define LARGE_READ	(256 * 1024)	/* the longest message for stock */
#define LITTLE_TO_SEND	(64 * 1024)

/* Length of the whole request at the front; 0: its first word is not there. */
static size_t
request_len(const struct sshbuf *queue)
{
	u_int32_t len;

	return sshbuf_peek_u32(queue, 0, &len) == 0 ? (size_t)len + 4 : 0;
}

ssize_t
sftpsrv_read(int fd, struct sshbuf *queue)
{
	size_t want = request_len(queue), have = sshbuf_len(queue);
	u_char *p;
	ssize_t len;
	int r, saved;

	want = want > have ? want - have : 0;
	want = MAXIMUM(MINIMUM(want, LARGE_READ), SMALL_READ);
	if ((r = sshbuf_reserve(queue, want, &p)) != 0)
		fatal_fr(r, "reserve");
	len = read(fd, p, want);
	saved = errno;
	if ((r = sshbuf_consume_end(queue,
	    len > 0 ? want - (size_t)len : want)) != 0)
		fatal_fr(r, "consume");
	errno = saved;
	return len;
}

int
sftpsrv_has_request(const struct sshbuf *in, const struct sshbuf *out)
{
	size_t len = request_len(in);

	return len > 4 && len <= sshbuf_len(in) &&
	    sshbuf_len(out) <= LITTLE_TO_SEND;
}

/* SSH_FXP_DATA: length, type, id, length of the data, the data. */
#define DATA_HEAD	(4 + 1 + 4 + 4)

void *
sftpsrv_space(struct sshbuf *out, size_t len)
{
	u_char *p;
	int r;

	if ((r = sshbuf_reserve(out, DATA_HEAD + len, &p)) != 0 ||
	    (r = sshbuf_consume_end(out, DATA_HEAD + len)) != 0)
		fatal_fr(r, "reserve");
	return p + DATA_HEAD;
}

void
sftpsrv_send_data(struct sshbuf *out, u_int32_t id, size_t len)
{
	u_char *p;
	int r;

	if ((r = sshbuf_reserve(out, DATA_HEAD + len, &p)) != 0)
		fatal_fr(r, "reserve");
	POKE_U32(p, DATA_HEAD - 4 + len);
	p[4] = SSH2_FXP_DATA;
	POKE_U32(p + 5, id);
	POKE_U32(p + 9, len);
}
