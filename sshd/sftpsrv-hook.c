/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

#include "includes.h"

#include <sys/types.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "log.h"
#include "misc.h"
#include "sshbuf.h"
#include "ssherr.h"
#include "sftp.h"
#include "xmalloc.h"

#include "early-requests.h"
#include "shmpipe-hook.h"
#include "sftpsrv-hook.h"

#define SMALL_READ	(16 * 1024)	/* several requests without data */
#define LARGE_READ	(256 * 1024)	/* the longest message for stock */
#define LITTLE_TO_SEND	(64 * 1024)

/*
 * Returns the length of the request at the front of the queue; 0 if its length
 * field is incomplete.
 */
static size_t
request_len(const struct sshbuf *queue)
{
	u_int32_t len;

	return sshbuf_peek_u32(queue, 0, &len) == 0 ? (size_t)len + 4 : 0;
}

static int
has_whole_request(const struct sshbuf *in)
{
	size_t len = request_len(in);

	return len > 4 && len <= sshbuf_len(in);
}

/* Returns the type of the next complete request, or 0. */
static u_char
next_request(const struct sshbuf *in)
{
	u_char type;

	return has_whole_request(in) && sshbuf_peek_u8(in, 4, &type) == 0 ?
	    type : 0;
}

/*
 * Attaches to the memory that sshd may have sent before it started this
 * process.
 */
static void
attach_once(int in)
{
	static int done;

	if (!done)
		shmpipe_accept(in, STDOUT_FILENO);
	done = 1;
}

/* The queue of replies */
static struct sshbuf *replies;

/*
 * Sends all replies, because the server ends or the next request may block for
 * ever. Stops at an error.
 */
static void
send_replies(void)
{
	struct pollfd pfd = { .fd = STDOUT_FILENO, .events = POLLOUT };
	ssize_t n;

	while (sshbuf_len(replies) > 0) {
		n = shmpipe_write(pfd.fd, sshbuf_ptr(replies),
		    sshbuf_len(replies));
		if (n > 0)
			(void)sshbuf_consume(replies, (size_t)n);
		else if (n == 0 || (errno != EAGAIN && errno != EINTR))
			return;
		else
			(void)poll(&pfd, 1, -1);
	}
}

/* Offset of the path in an OPEN: length, type, ID, length of the path */
#define OPEN_PATH	(4 + 1 + 4 + 4)

/*
 * Returns 1 if the next request is an OPEN of something that is no file or
 * directory.
 */
static int
opens_special(const struct sshbuf *in, u_int32_t *id, u_int32_t *flags)
{
	const u_char *p = sshbuf_ptr(in);
	char path[PATH_MAX];
	struct stat st;
	size_t len;

	if (next_request(in) != SSH2_FXP_OPEN || request_len(in) < OPEN_PATH)
		return 0;
	len = PEEK_U32(p + OPEN_PATH - 4);
	if (len >= sizeof(path) || OPEN_PATH + len + 4 > request_len(in))
		return 0;
	memcpy(path, p + OPEN_PATH, len);
	path[len] = '\0';
	*id = PEEK_U32(p + 5);
	*flags = PEEK_U32(p + OPEN_PATH + len);
	/* stat() costs time when a file is created, which never blocks. */
	return ((*flags & SSH2_FXF_CREAT) == 0 || *id >= EARLY_REQUESTS_ID) &&
	    stat(path, &st) == 0 && !S_ISREG(st.st_mode) &&
	    !S_ISDIR(st.st_mode);
}

static void
refuse_open(struct sshbuf *in, u_int32_t id)
{
	static const u_char texts[8];	/* two empty strings */
	int r;

	debug("request %u: refused early OPEN of a special file", id);
	if ((r = sshbuf_consume(in, request_len(in))) != 0 ||
	    (r = sshbuf_put_u32(replies, 1 + 4 + 4 + sizeof(texts))) != 0 ||
	    (r = sshbuf_put_u8(replies, SSH2_FXP_STATUS)) != 0 ||
	    (r = sshbuf_put_u32(replies, id)) != 0 ||
	    (r = sshbuf_put_u32(replies, SSH2_FX_FAILURE)) != 0 ||
	    (r = sshbuf_put(replies, texts, sizeof(texts))) != 0)
		fatal_fr(r, "compose");
}

/* Call it before each request is processed that may be an OPEN. */
static void
check_open(struct sshbuf *in, int may_send)
{
	u_int32_t id, flags, from = EARLY_REQUESTS_ID;

	while (replies != NULL && next_request(in) == SSH2_FXP_OPEN &&
	    sshbuf_peek_u32(in, 5, &id) == 0 &&
	    (sshbuf_len(replies) > 0 || id >= from) &&
	    opens_special(in, &id, &flags)) {
		if (id - from < EARLY_REQUESTS_MAX && flags == SSH2_FXF_READ)
			refuse_open(in, id);
		else {
			if (may_send)
				send_replies();
			return;
		}
	}
}

const char *
sftpsrv_announce(struct sshbuf *version)
{
#ifdef SO_PEERCRED
	struct ucred maker;
	socklen_t len = sizeof(maker);
	int r;

	if (getsockopt(STDOUT_FILENO, SOL_SOCKET, SO_PEERCRED, &maker,
	    &len) == 0 && maker.pid > 0 && maker.pid == getppid() &&
	    ((r = sshbuf_put_cstring(version, OPENING_OWN)) != 0 ||
	    (r = sshbuf_put_cstring(version, "1")) != 0))
		fatal_fr(r, "compose");
#else
	(void)version;
#endif
	return "1";
}

unsigned int
sftpsrv_tag(void)
{
	return MAXIMUM(shmpipe_tag(), 0);
}

ssize_t
sftpsrv_read(int fd, struct sshbuf *queue)
{
	size_t want = request_len(queue), have = sshbuf_len(queue);
	ssize_t len;
	int r, saved;

	attach_once(fd);
	want = want > have ? want - have : 0;
	want = MAXIMUM(MINIMUM(want, LARGE_READ), SMALL_READ);
	if ((r = shmpipe_read_ref(fd, queue, want, &len)) != 0)
		fatal_fr(r, "read");
	saved = errno;
	if (len == 0 && replies != NULL)
		send_replies();
	/* Upstream sends the queued replies after this. */
	check_open(queue, 0);
	iotime_begin(next_request(queue));
	errno = saved;
	return len;
}

static ssize_t
write_or_wait(int fd, const struct sshbuf *queue)
{
	struct pollfd pfd = { .fd = fd, .events = POLLOUT };
	ssize_t n;

	while ((n = shmpipe_write(fd, sshbuf_ptr(queue),
	    sshbuf_len(queue))) == -1 && errno == EAGAIN)
		(void)poll(&pfd, 1, -1);
	return n;
}

ssize_t
sftpsrv_write(int fd, const struct sshbuf *queue)
{
	ssize_t n = write_or_wait(fd, queue);
	int saved = errno;

	iotime_restart();
	errno = saved;
	return n;
}

/* A request that took long is over, so the descriptors are polled. */
static int took_long;

static int
poll_queues(struct pollfd pfd[2], struct sshbuf *in, struct sshbuf *out)
{
	int is_little = sshbuf_len(out) <= LITTLE_TO_SEND, polls = took_long;

	took_long = 0;
	replies = out;
	if (is_little)
		check_open(in, 1);
	/* The rest of a slot would not wake poll(). */
	while (is_little && !has_whole_request(in) &&
	    shmpipe_pending(STDIN_FILENO) > 0) {
		if (sftpsrv_read(STDIN_FILENO, in) <= 0)
			break;
	}
	if (is_little)
		check_open(in, 1);
	/* Replies that were just sent must not be written again. */
	if (sshbuf_len(out) == 0)
		pfd[1].fd = -1;
	if (!has_whole_request(in))
		return poll(pfd, 2, -1);
	/*
	 * More requests would only use memory, and at end of input those that
	 * are queued would be lost.
	 */
	pfd[0].fd = -1;
	if (!is_little)
		return poll(pfd, 2, -1);
	return polls ? poll(pfd, 2, 0) : 0;
}

/* Directories that could not be read to their end */
static DIR **broken;
static size_t nbroken;
static int is_broken;			/* the one that was just read */

static size_t
find_broken(const DIR *dir)
{
	size_t i;

	for (i = 0; i < nbroken && broken[i] != dir; i++)
		;
	return i;
}

/* A new DIR may have the address of one that was closed: its position is 0. */
struct dirent *
sftpsrv_readdir(DIR *dir)
{
	size_t i = find_broken(dir);
	struct dirent *entry;

	if (i < nbroken && telldir(dir) != 0) {
		is_broken = 1;
		return NULL;
	}
	if (i < nbroken)
		broken[i] = broken[--nbroken];
	errno = 0;
	if ((entry = readdir(dir)) == NULL && errno != 0) {
		error("readdir: %s", strerror(errno));
		broken = xreallocarray(broken, nbroken + 1, sizeof(*broken));
		broken[nbroken++] = dir;
		is_broken = 1;
	}
	return entry;
}

/* SSH_FXP_STATUS of the end: length, type, id, status, its text, no language */
#define END_TEXT	"End of file"
#define END_LEN		(4 + 1 + 4 + 4 + 4 + sizeof(END_TEXT) - 1 + 4)
#define END_STATUS	(4 + 1 + 4)

/*
 * Upstream has replied "end of file", but the directory could not be read to
 * its end.
 */
static void
fail_broken_listing(struct sshbuf *out)
{
	size_t at = sshbuf_len(out) - MINIMUM(sshbuf_len(out), END_LEN);
	const u_char *p = sshbuf_ptr(out);
	u_char *status;

	if (!is_broken)
		return;
	is_broken = 0;
	if (sshbuf_len(out) < END_LEN || PEEK_U32(p + at) != END_LEN - 4 ||
	    p[at + 4] != SSH2_FXP_STATUS ||
	    PEEK_U32(p + at + END_STATUS) != SSH2_FX_EOF)
		return;
	status = sshbuf_mutable_ptr(out);
	POKE_U32(status + at + END_STATUS, SSH2_FX_FAILURE);
}

int
sftpsrv_poll(struct pollfd pfd[2], struct sshbuf *in, struct sshbuf *out)
{
	int n, saved;

	fail_broken_listing(out);
	iotime_end();
	n = poll_queues(pfd, in, out);
	saved = errno;
	iotime_begin(next_request(in));
	errno = saved;
	return n;
}

int
sftpsrv_client_waits(void)
{
	struct pollfd pfd[2] = {
		{ .fd = STDIN_FILENO }, { .fd = STDOUT_FILENO }
	};

	took_long = 1;
	/* At end of input the server ends, and sends no more replies. */
	return poll(pfd, 2, 0) <= 0;
}

/* SSH_FXP_DATA: length, type, id, length of the data, the data. */
#define DATA_HEADER	(4 + 1 + 4 + 4)

/* The reply's place in a ring, or NULL */
static u_char *ring_reply;

void *
sftpsrv_reserve(struct sshbuf *out, size_t len)
{
	u_char *p = NULL;
	int r;

	/* Waiting costs less than a copy: the slots hold enough to read. */
	ring_reply = sshbuf_len(out) > 0 ? NULL :
	    shmpipe_reserve(STDOUT_FILENO, DATA_HEADER + len);
	if (ring_reply == NULL &&
	    ((r = sshbuf_reserve(out, DATA_HEADER + len, &p)) != 0 ||
	    (r = sshbuf_consume_end(out, DATA_HEADER + len)) != 0))
		fatal_fr(r, "reserve");
	iotime_begin_read();
	return (ring_reply != NULL ? ring_reply : p) + DATA_HEADER;
}

static void
put_data_header(u_char *p, u_int32_t id, size_t len)
{
	POKE_U32(p, DATA_HEADER - 4 + len);
	p[4] = SSH2_FXP_DATA;
	POKE_U32(p + 5, id);
	POKE_U32(p + 9, len);
}

void
sftpsrv_send_data(struct sshbuf *out, u_int32_t id, size_t len)
{
	u_char *p = ring_reply;
	int r;

	iotime_end_read();
	if (p != NULL) {
		put_data_header(p, id, len);
		if (shmpipe_commit(STDOUT_FILENO, DATA_HEADER + len) == -1 &&
		    (r = sshbuf_put(out, p, DATA_HEADER + len)) != 0)
			fatal_fr(r, "put");
		return;
	}
	if ((r = sshbuf_reserve(out, DATA_HEADER + len, &p)) != 0)
		fatal_fr(r, "reserve");
	put_data_header(p, id, len);
}
