/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

#include "includes.h"

#include <sys/types.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "atomicio.h"
#include "log.h"
#include "misc.h"
#include "sftp-common.h"
#include "sshbuf.h"
#include "ssherr.h"
#include "xmalloc.h"

#include "hop-hook.h"
#include "ring.h"
#include "sshbuf-hook.h"

/* This process's ends by descriptor; NULL: none. A socket may have both. */
struct hop {
	struct ring *reads, *writes;
	struct sshbuf *borrower;	/* of a slot of "reads"; or NULL */
	pid_t	 borrowed_by;
	size_t	 lent;			/* the last time */
	size_t	 piece;			/* hop_cut() of "writes" */
	int	 is_offered, memory;	/* that ssh may open */
	dev_t	 dev;			/* of an end whose other end */
	ino_t	 ino;			/* has not attached; or 0 */
};
static struct hop *hops;
static int nhops;

static struct hop *
hop_of(int fd)
{
	return fd >= 0 && fd < nhops ? &hops[fd] : NULL;
}

static struct hop *
make_hop(int fd)
{
	if (fd >= nhops) {
		hops = xrecallocarray(hops, nhops, fd + 1, sizeof(*hops));
		nhops = fd + 1;
	}
	return &hops[fd];
}

static struct ring *marked;		/* this program's end with the mark */

void
hop_forget(int fd)
{
	struct hop *h = hop_of(fd);
	int r;

	if (h == NULL)
		return;
	if (marked == h->reads)
		marked = NULL;
	if (h->borrower != NULL && (r = sshbuf_own(h->borrower)) != 0)
		fatal_fr(r, "own");
	ring_free(h->reads);
	ring_free(h->writes);
	if (h->is_offered)
		close(h->memory);
	memset(h, 0, sizeof(*h));
}

/* Offering, and what takes it */

/* Their numbers may have been closed by someone else, or by a parent. */
static void
begin_ends(int in, int out)
{
	make_hop(in);
	make_hop(out);
	hop_forget(in);
	hop_forget(out);
}

static void
note_file(int fd)
{
	struct stat sb;

	if (fstat(fd, &sb) == -1)
		return;
	hop_of(fd)->dev = sb.st_dev;
	hop_of(fd)->ino = sb.st_ino;
}

/* The maker's ends: it writes the program's input, and reads its output. */
static int
open_ends(int memory, int in, int out)
{
	struct ring *to = memory == -1 ? NULL :
	    ring_open(memory, RING_INPUT, in);
	struct ring *from = memory == -1 ? NULL :
	    ring_open(memory, RING_OUTPUT, out);

	begin_ends(in, out);
	if (to == NULL || from == NULL) {
		verbose("no shared memory for sftp: %s", strerror(errno));
		ring_free(to);
		ring_free(from);
		return -1;
	}
	hop_of(in)->writes = to;
	hop_of(out)->reads = from;
	note_file(in);
	note_file(out);
	return 0;
}

#ifdef __linux__

/* One byte carries a descriptor. */
union control {
	struct cmsghdr	head;
	char		room[CMSG_SPACE(sizeof(int))];
};

static void
init_message(struct msghdr *m, struct iovec *byte, union control *control)
{
	memset(m, 0, sizeof(*m));
	memset(control, 0, sizeof(*control));
	m->msg_iov = byte;
	m->msg_iovlen = 1;
	m->msg_control = control->room;
	m->msg_controllen = sizeof(control->room);
}

static int
send_memory(int fd, int memory)
{
	struct iovec byte = { "", 1 };
	union control control;
	struct cmsghdr *c;
	struct msghdr m;

	init_message(&m, &byte, &control);
	c = CMSG_FIRSTHDR(&m);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &memory, sizeof(memory));
	return sendmsg(fd, &m, 0) == 1 ? 0 : -1;
}

/*
 * Returns a descriptor, or -1 if none has been sent. What else waits there is
 * not ours: "fd" may be the socket that the requests come from.
 */
static int
receive_memory(int fd)
{
	int memory = -1;
	char byte;
	struct iovec iov = { &byte, 1 };
	union control control;
	struct cmsghdr *c;
	struct msghdr m;

	init_message(&m, &iov, &control);
	if (recvmsg(fd, &m, MSG_PEEK | MSG_DONTWAIT | MSG_CMSG_CLOEXEC) != 1)
		return -1;
	c = CMSG_FIRSTHDR(&m);
	if (c != NULL && c->cmsg_level == SOL_SOCKET &&
	    c->cmsg_type == SCM_RIGHTS &&
	    c->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(&memory, CMSG_DATA(c), sizeof(memory));
	if (memory != -1)
		(void)recv(fd, &byte, 1, 0);
	return memory;
}

#else /* ring_create() has made nothing that could be sent. */

static int
send_memory(int fd, int memory)
{
	(void)fd;
	(void)memory;
	return -1;
}

static int
receive_memory(int fd)
{
	(void)fd;
	return -1;
}

#endif

void
hop_offer(const int in[2], const int out[2])
{
	int memory = ring_create(in[0], out[1]);

	if (open_ends(memory, in[1], out[0]) == 0 &&
	    send_memory(out[0], memory) == -1)
		debug("cannot offer shared memory: %s", strerror(errno));
	if (memory != -1)
		close(memory);
}

void
hop_accept(int in, int out)
{
	int memory = receive_memory(out);

	if (memory == -1)
		return;
	begin_ends(in, out);
	marked = hop_of(in)->reads = ring_attach(memory, RING_INPUT, in);
	hop_of(out)->writes = ring_attach(memory, RING_OUTPUT, out);
	debug("shared memory for sftp: %s", hop_of(in)->reads != NULL &&
	    hop_of(out)->writes != NULL ? "attached" : "refused");
	close(memory);
}

int
hop_offer_ssh(int fd)
{
	int memory = ring_create(-1, -1);

	if (open_ends(memory, fd, fd) == -1) {
		if (memory != -1)
			close(memory);
		return -1;
	}
	hop_of(fd)->is_offered = 1;
	return hop_of(fd)->memory = memory;
}

void
hop_settle(int fd)
{
	struct hop *h = hop_of(fd);

	if (h == NULL || !h->is_offered)
		return;
	h->is_offered = 0;
	close(h->memory);
	if (!ring_is_attached(h->reads) && !ring_is_attached(h->writes) &&
	    ring_pending(h->reads) == 0)
		hop_forget(fd);
}

/* What ssh expects: descriptors that are copies of what was standard input */
static struct {
	int	 memory;
	dev_t	 dev;
	ino_t	 ino;
} expected = { .memory = -1 };

void
hop_expect(int memory)
{
	struct stat in, out;

	if (memory == -1)
		return;
	if (fstat(STDIN_FILENO, &in) == -1 ||
	    fstat(STDOUT_FILENO, &out) == -1 || in.st_ino != out.st_ino ||
	    in.st_dev != out.st_dev) {
		close(memory);
		return;
	}
	expected.memory = memory;
	expected.dev = in.st_dev;
	expected.ino = in.st_ino;
}

/* ssh reads first, so that nothing is expected any more when it has written. */
static void
attach_expected(int fd, enum ring_dir of)
{
	struct ring *r;
	struct stat st;

	if (expected.memory == -1 || fstat(fd, &st) == -1 ||
	    st.st_ino != expected.ino || st.st_dev != expected.dev)
		return;
	r = ring_attach(expected.memory, of, fd);
	debug("shared memory with scp: %s", r != NULL ? "attached" : "refused");
	if (of == RING_INPUT)
		make_hop(fd)->reads = marked = r;
	else
		make_hop(fd)->writes = r;
	if (of == RING_INPUT && r != NULL)
		return;
	close(expected.memory);
	expected.memory = -1;
}

/*
 * Upstream closes the ends of a program that cannot be started, and the next
 * file has their numbers.
 */
static struct hop *
live_hop(int fd)
{
	struct hop *h = hop_of(fd);
	struct stat sb;

	if (h == NULL || h->ino == 0)
		return h;
	if (ring_is_attached(h->reads != NULL ? h->reads : h->writes))
		h->ino = 0;
	else if (fstat(fd, &sb) == -1 || sb.st_dev != h->dev ||
	    sb.st_ino != h->ino)
		hop_forget(fd);
	return h;
}

static struct ring *
reads(int fd)
{
	struct hop *h = live_hop(fd);

	return h == NULL ? NULL : h->reads;
}

static struct ring *
writes(int fd)
{
	struct hop *h = live_hop(fd);

	return h == NULL ? NULL : h->writes;
}

/* Moving data */

void (*hop_ended)(int fd);

static ssize_t
get(int fd, void *p, size_t len)
{
	return reads(fd) == NULL ? read(fd, p, len) :
	    ring_read(reads(fd), p, len);
}

/*
 * The borrower of "fd" has used the slot. A child that closes what it does not
 * need says nothing for its parent.
 */
static void
end_loan(void *fd)
{
	struct hop *h = hop_of((int)(intptr_t)fd);

	if (h->borrowed_by == getpid())
		ring_release(h->reads);
	h->borrower = NULL;
}

/* Lends what is large to an empty buffer. Returns 1 if there is more to do. */
static int
borrow(int fd, struct sshbuf *buf, ssize_t *n)
{
	const u_char *p;
	int r;

	if ((*n = ring_acquire(reads(fd), &p)) <= 0)
		return 0;
	if (p == NULL)
		return 1;
	if ((r = sshbuf_lend(buf, p, *n, end_loan, (void *)(intptr_t)fd)) != 0)
		fatal_fr(r, "lend");
	hop_of(fd)->borrower = buf;
	hop_of(fd)->borrowed_by = getpid();
	hop_of(fd)->lent = (size_t)*n;
	return 0;
}

size_t
hop_lent(int fd)
{
	struct hop *h = hop_of(fd);

	return h == NULL ? 0 : h->lent;
}

int
hop_take(int fd, struct sshbuf *buf, size_t most, ssize_t *n)
{
	u_char *p;
	int r, saved;

	/* One slot at a time: what was lent before goes back. */
	if (reads(fd) != NULL && sshbuf_len(buf) == 0) {
		if ((r = sshbuf_own(buf)) != 0)
			return r;
		if (!borrow(fd, buf, n))
			return 0;
	}
	if ((r = sshbuf_reserve(buf, most, &p)) != 0)
		return r;
	*n = get(fd, p, most);
	saved = errno;
	r = sshbuf_consume_end(buf, most - (*n > 0 ? *n : 0));
	errno = saved;
	return r;
}

static int
read_ring(int fd, struct sshbuf *buf, size_t *len)
{
	ssize_t n;
	int r;

	*len = 0;
	if ((r = hop_take(fd, buf, RING_SLOT, &n)) != 0)
		return r;
	if (n > 0)
		*len = n;
	else if (n == 0)
		errno = EPIPE;
	return n > 0 ? 0 : SSH_ERR_SYSTEM_ERROR;
}

int
hop_read(int fd, struct sshbuf *buf, size_t most, size_t *len)
{
	int r;

	if (reads(fd) == NULL)
		attach_expected(fd, RING_INPUT);
	r = reads(fd) == NULL ? sshbuf_read(fd, buf, most, len) :
	    read_ring(fd, buf, len);
	if (r == SSH_ERR_SYSTEM_ERROR && errno == EPIPE && hop_ended != NULL) {
		hop_ended(fd);
		errno = EPIPE;
	}
	return r;
}

size_t
hop_cut(size_t len, size_t piece)
{
	if (piece == 0 || len <= piece)
		return len;
	return len % piece != 0 ? len % piece : piece;
}

/* As far as there is room: behind a rest that stays, all else is copied. */
static ssize_t
write_pieces(struct hop *h, const u_char *p, size_t len)
{
	size_t done = 0;
	ssize_t n;

	do {
		n = ring_write(h->writes, p + done,
		    hop_cut(len - done, h->piece));
		if (n > 0)
			done += (size_t)n;
	} while (n > 0 && ring_uses_records(h->writes) && done < len);
	return done > 0 ? (ssize_t)done : n;
}

ssize_t
hop_write(int fd, const void *p, size_t len)
{
	if (writes(fd) == NULL)
		attach_expected(fd, RING_OUTPUT);
	return writes(fd) == NULL ? write(fd, p, len) :
	    write_pieces(hop_of(fd), p, len);
}

void
hop_set_piece(int fd, size_t len)
{
	if (writes(fd) != NULL)
		hop_of(fd)->piece = len;
}

size_t
hop_pending(int fd)
{
	return reads(fd) == NULL ? 0 : ring_pending(reads(fd));
}

/* For atomicio6(), which would wait for a descriptor to be writable. */
static ssize_t
get_or_wait(int fd, void *p, size_t len)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };
	ssize_t n = get(fd, p, len);

	if (n == -1 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
		(void)poll(&pfd, 1, -1);
		errno = EINTR;
	}
	return n;
}

void *
hop_space(int fd, size_t len)
{
	return writes(fd) == NULL ? NULL : ring_reserve(writes(fd), len);
}

void *
hop_space_now(int fd, size_t len)
{
	return writes(fd) == NULL ? NULL : ring_try_reserve(writes(fd), len);
}

/* Small requests wait for each other, and share a slot. */
#define SHARE_MAX	(32 * 1024)
#define BACKLOG_MAX	(512 * 1024)

int
hop_is_full(int fd, size_t len)
{
	struct ring *r = writes(fd);
	int has_room = r != NULL && ring_try_reserve(r, 1) != NULL;

	if (r == NULL || !ring_uses_records(r))
		return len >= BACKLOG_MAX;
	return len >= SHARE_MAX || (!has_room && !ring_peer_stalled(r));
}

int
hop_post(int fd, size_t len)
{
	return ring_commit(writes(fd), len);
}

static ssize_t
put(int fd, void *p, size_t len)
{
	return hop_write(fd, p, len);
}

size_t
hop_receive(int fd, void *p, size_t len, int (*cb)(void *, size_t), void *arg)
{
	return atomicio6(get_or_wait, fd, p, len, cb, arg);
}

/* Writes all pieces into one slot. Returns 0 if there is none. */
static size_t
send_at_once(struct ring *r, const struct iovec *iov, int n, size_t len)
{
	u_char *p = ring_reserve(r, len);
	int i;

	if (p == NULL)
		return 0;
	for (i = 0; i < n; i++) {
		memcpy(p, iov[i].iov_base, iov[i].iov_len);
		p += iov[i].iov_len;
	}
	return ring_commit(r, len) == 0 ? len : 0;
}

size_t
hop_send(int fd, struct iovec *iov, int n, int (*cb)(void *, size_t),
    void *arg)
{
	size_t len = 0, done;
	int i;

	if (writes(fd) == NULL)
		return atomiciov6(writev, fd, iov, n, cb, arg);
	for (i = 0; i < n; i++)
		len += iov[i].iov_len;
	done = send_at_once(writes(fd), iov, n, len);
	if (done == 0 && !ring_uses_records(writes(fd)))
		return atomiciov6(writev, fd, iov, n, cb, arg);
	if (done > 0 && cb != NULL)
		(void)cb(arg, done);
	for (i = 0; done < len && i < n; i++) {
		size_t sent = atomicio6(put, fd, iov[i].iov_base,
		    iov[i].iov_len, cb, arg);

		done += sent;
		if (sent < iov[i].iov_len)
			break;
	}
	return done;
}

/* Notes */

int
hop_mark(void)
{
	return marked == NULL ? -1 : (int)(ring_tag(marked) & INT_MAX);
}

int
hop_tell(const uint64_t *p, size_t n)
{
	if (marked != NULL)
		ring_put_side_data(marked, p, n);
	return hop_mark();
}

int
hop_told(int fd, uint64_t *p, size_t n)
{
	return reads(fd) == NULL ? -1 : ring_get_side_data(reads(fd), p, n);
}

void
hop_set_mark(int fd, unsigned int mark)
{
	if (reads(fd) != NULL)
		ring_set_tag(reads(fd), mark);
}
