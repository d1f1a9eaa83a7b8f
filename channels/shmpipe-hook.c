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

#include "shmpipe-hook.h"
#include "ring.h"
#include "sshbuf-hook.h"

/* The ends of this process, by descriptor. A socket may have both. */
struct shmpipe {
	struct ring *in, *out;
	struct sshbuf *ref_buf;	/* buffer with a slot of "in" */
	pid_t	 ref_pid;
	size_t	 read_size;			/* shmpipe_record_size() */
	size_t	 write_size;	/* shmpipe_set_record_size() */
	int	 is_offered, memory;	/* offer to ssh, not ended */
	dev_t	 dev;			/* file of "fd" until the */
	ino_t	 ino;			/* peer attaches; or 0 */
};
static struct shmpipe *pipes;
static int npipes;

static struct shmpipe *
find_pipe(int fd)
{
	return fd >= 0 && fd < npipes ? &pipes[fd] : NULL;
}

static struct shmpipe *
get_pipe(int fd)
{
	if (fd >= npipes) {
		pipes = xrecallocarray(pipes, npipes, fd + 1, sizeof(*pipes));
		npipes = fd + 1;
	}
	return &pipes[fd];
}

static struct ring *tagged;		/* our end of an attached memory */

void
shmpipe_forget(int fd)
{
	struct shmpipe *h = find_pipe(fd);
	int r;

	if (h == NULL)
		return;
	if (tagged == h->in)
		tagged = NULL;
	if (h->ref_buf != NULL && (r = sshbuf_unshare(h->ref_buf)) != 0)
		fatal_fr(r, "unshare");
	ring_free(h->in);
	ring_free(h->out);
	if (h->is_offered)
		close(h->memory);
	memset(h, 0, sizeof(*h));
}

/* Set-up */

/*
 * Empties the entries of two descriptors, which earlier files may have left:
 * someone else, or a parent, has closed those.
 */
static void
reset_ends(int in, int out)
{
	get_pipe(in);
	get_pipe(out);
	shmpipe_forget(in);
	shmpipe_forget(out);
}

static void
note_inode(int fd)
{
	struct stat sb;

	if (fstat(fd, &sb) == -1)
		return;
	find_pipe(fd)->dev = sb.st_dev;
	find_pipe(fd)->ino = sb.st_ino;
}

/*
 * Opens the creator's ends: it writes the program's input and reads its output.
 */
static int
open_ends(int memory, int in, int out)
{
	struct ring *to = memory == -1 ? NULL :
	    ring_open(memory, RING_INPUT, in);
	struct ring *from = memory == -1 ? NULL :
	    ring_open(memory, RING_OUTPUT, out);

	reset_ends(in, out);
	if (to == NULL || from == NULL) {
		verbose("no shared memory for sftp, using pipes: %s",
		    strerror(errno));
		ring_free(to);
		ring_free(from);
		return -1;
	}
	find_pipe(in)->out = to;
	find_pipe(out)->in = from;
	note_inode(in);
	note_inode(out);
	return 0;
}

#ifdef __linux__

/* A message of one byte that carries a descriptor */
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
send_memfd(int fd, int memory)
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
 * Returns a descriptor, or -1 if none was sent. Leaves any other data, because
 * "fd" may be the socket from which the requests are read.
 */
static int
receive_memfd(int fd)
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
send_memfd(int fd, int memory)
{
	(void)fd;
	(void)memory;
	return -1;
}

static int
receive_memfd(int fd)
{
	(void)fd;
	return -1;
}

#endif

void
shmpipe_offer(const int in[2], const int out[2])
{
	int memory = ring_create(in[0], out[1]);

	if (open_ends(memory, in[1], out[0]) == 0 &&
	    send_memfd(out[0], memory) == -1)
		debug("cannot offer shared memory: %s", strerror(errno));
	if (memory != -1)
		close(memory);
}

void
shmpipe_accept(int in, int out)
{
	int memory = receive_memfd(out);

	if (memory == -1)
		return;
	reset_ends(in, out);
	tagged = find_pipe(in)->in = ring_attach(memory, RING_INPUT, in);
	find_pipe(out)->out = ring_attach(memory, RING_OUTPUT, out);
	debug("shared memory for sftp: %s", find_pipe(in)->in != NULL &&
	    find_pipe(out)->out != NULL ? "attached" : "refused");
	close(memory);
}

int
shmpipe_offer_ssh(int fd)
{
	int memory = ring_create(-1, -1);

	if (open_ends(memory, fd, fd) == -1) {
		if (memory != -1)
			close(memory);
		return -1;
	}
	find_pipe(fd)->is_offered = 1;
	return find_pipe(fd)->memory = memory;
}

void
shmpipe_end_offer(int fd)
{
	struct shmpipe *h = find_pipe(fd);

	if (h == NULL || !h->is_offered)
		return;
	h->is_offered = 0;
	close(h->memory);
	if (!ring_is_attached(h->in) && !ring_is_attached(h->out) &&
	    ring_pending(h->in) == 0)
		shmpipe_forget(fd);
}

/* In ssh: memory that belongs to copies of the descriptor of standard input */
static struct {
	int	 memory;
	dev_t	 dev;
	ino_t	 ino;
} expected = { .memory = -1 };

void
shmpipe_expect_stdin(int memory)
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

/*
 * Attaches "fd" if it is a copy of standard input. ssh reads before it writes,
 * so the memory is closed after the writing end.
 */
static void
attach_expected(int fd, enum ring_dir dir)
{
	struct ring *r;
	struct stat st;

	if (expected.memory == -1 || fstat(fd, &st) == -1 ||
	    st.st_ino != expected.ino || st.st_dev != expected.dev)
		return;
	r = ring_attach(expected.memory, dir, fd);
	debug("shared memory with scp: %s", r != NULL ? "attached" : "refused");
	if (dir == RING_INPUT)
		get_pipe(fd)->in = tagged = r;
	else
		get_pipe(fd)->out = r;
	if (dir == RING_INPUT && r != NULL)
		return;
	close(expected.memory);
	expected.memory = -1;
}

/*
 * Returns the entry of "fd", emptied if "fd" is another file by now: upstream
 * closes the ends of a program that cannot be started without shmpipe_forget().
 */
static struct shmpipe *
find_live_pipe(int fd)
{
	struct shmpipe *h = find_pipe(fd);
	struct stat sb;

	if (h == NULL || h->ino == 0)
		return h;
	if (ring_is_attached(h->in != NULL ? h->in : h->out))
		h->ino = 0;
	else if (fstat(fd, &sb) == -1 || sb.st_dev != h->dev ||
	    sb.st_ino != h->ino)
		shmpipe_forget(fd);
	return h;
}

static struct ring *
get_reader(int fd)
{
	struct shmpipe *h = find_live_pipe(fd);

	return h == NULL ? NULL : h->in;
}

static struct ring *
get_writer(int fd)
{
	struct shmpipe *h = find_live_pipe(fd);

	return h == NULL ? NULL : h->out;
}

/* Moving data */

void (*shmpipe_at_eof)(int fd);

static ssize_t
read_pipe(int fd, void *p, size_t len)
{
	return get_reader(fd) == NULL ? read(fd, p, len) :
	    ring_read(get_reader(fd), p, len);
}

/*
 * Releases the slot of "fd" that was attached to a buffer. Does nothing in a
 * child process, which may free its copy of the buffer while the parent still
 * uses the slot.
 */
static void
release_slot(void *fd)
{
	struct shmpipe *h = find_pipe((int)(intptr_t)fd);

	if (h->ref_pid == getpid())
		ring_release(h->in);
	h->ref_buf = NULL;
}

/*
 * Attaches a large slot to the empty buffer. Returns 1 if the caller has to
 * read, 0 if "*n" is set.
 */
static int
attach_slot(int fd, struct sshbuf *buf, ssize_t *n)
{
	const u_char *p;
	int r;

	if ((*n = ring_acquire(get_reader(fd), &p)) <= 0)
		return 0;
	if (p == NULL)
		return 1;
	if ((r = sshbuf_attach(buf, p, *n, release_slot,
	    (void *)(intptr_t)fd)) != 0)
		fatal_fr(r, "attach");
	find_pipe(fd)->ref_buf = buf;
	find_pipe(fd)->ref_pid = getpid();
	find_pipe(fd)->read_size = (size_t)*n;
	return 0;
}

size_t
shmpipe_record_size(int fd)
{
	struct shmpipe *h = find_pipe(fd);

	return h == NULL ? 0 : h->read_size;
}

int
shmpipe_read_ref(int fd, struct sshbuf *buf, size_t max, ssize_t *n)
{
	u_char *p;
	int r, saved;

	/* At most one slot is attached: the last one is released first. */
	if (get_reader(fd) != NULL && sshbuf_len(buf) == 0) {
		if ((r = sshbuf_unshare(buf)) != 0)
			return r;
		if (!attach_slot(fd, buf, n))
			return 0;
	}
	if ((r = sshbuf_reserve(buf, max, &p)) != 0)
		return r;
	*n = read_pipe(fd, p, max);
	saved = errno;
	r = sshbuf_consume_end(buf, max - (*n > 0 ? *n : 0));
	errno = saved;
	return r;
}

static int
read_ring(int fd, struct sshbuf *buf, size_t *len)
{
	ssize_t n;
	int r;

	*len = 0;
	if ((r = shmpipe_read_ref(fd, buf, RING_SLOT, &n)) != 0)
		return r;
	if (n > 0)
		*len = n;
	else if (n == 0)
		errno = EPIPE;
	return n > 0 ? 0 : SSH_ERR_SYSTEM_ERROR;
}

int
shmpipe_read(int fd, struct sshbuf *buf, size_t max, size_t *len)
{
	int r;

	if (get_reader(fd) == NULL)
		attach_expected(fd, RING_INPUT);
	r = get_reader(fd) == NULL ? sshbuf_read(fd, buf, max, len) :
	    read_ring(fd, buf, len);
	if (r == SSH_ERR_SYSTEM_ERROR && errno == EPIPE &&
	    shmpipe_at_eof != NULL) {
		shmpipe_at_eof(fd);
		errno = EPIPE;
	}
	return r;
}

size_t
shmpipe_split(size_t len, size_t record)
{
	if (record == 0 || len <= record)
		return len;
	return len % record != 0 ? len % record : record;
}

/*
 * Writes records as long as slots are free. If the rest stayed in the buffer,
 * all later data would be copied behind it.
 */
static ssize_t
write_records(struct shmpipe *h, const u_char *p, size_t len)
{
	size_t done = 0;
	ssize_t n;

	do {
		n = ring_write(h->out, p + done,
		    shmpipe_split(len - done, h->write_size));
		if (n > 0)
			done += (size_t)n;
	} while (n > 0 && ring_uses_records(h->out) && done < len);
	return done > 0 ? (ssize_t)done : n;
}

ssize_t
shmpipe_write(int fd, const void *p, size_t len)
{
	if (get_writer(fd) == NULL)
		attach_expected(fd, RING_OUTPUT);
	return get_writer(fd) == NULL ? write(fd, p, len) :
	    write_records(find_pipe(fd), p, len);
}

void
shmpipe_set_record_size(int fd, size_t len)
{
	if (get_writer(fd) != NULL)
		find_pipe(fd)->write_size = len;
}

size_t
shmpipe_pending(int fd)
{
	return get_reader(fd) == NULL ? 0 : ring_pending(get_reader(fd));
}

/*
 * Reads for atomicio6(), which would otherwise wait until the descriptor is
 * writable.
 */
static ssize_t
read_or_wait(int fd, void *p, size_t len)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };
	ssize_t n = read_pipe(fd, p, len);

	if (n == -1 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
		(void)poll(&pfd, 1, -1);
		errno = EINTR;
	}
	return n;
}

void *
shmpipe_reserve(int fd, size_t len)
{
	return get_writer(fd) == NULL ? NULL :
	    ring_reserve(get_writer(fd), len);
}

void *
shmpipe_try_reserve(int fd, size_t len)
{
	return get_writer(fd) == NULL ? NULL :
	    ring_try_reserve(get_writer(fd), len);
}

/* Bytes queued: small requests are collected up to this, and share a slot. */
#define SHARE_MAX	(32 * 1024)
#define BACKLOG_MAX	(512 * 1024)

int
shmpipe_is_full(int fd, size_t len)
{
	struct ring *r = get_writer(fd);
	int has_room = r != NULL && ring_try_reserve(r, 1) != NULL;

	if (r == NULL || !ring_uses_records(r))
		return len >= BACKLOG_MAX;
	return len >= SHARE_MAX || (!has_room && !ring_peer_stalled(r));
}

int
shmpipe_commit(int fd, size_t len)
{
	return ring_commit(get_writer(fd), len);
}

static ssize_t
write_pipe(int fd, void *p, size_t len)
{
	return shmpipe_write(fd, p, len);
}

size_t
shmpipe_receive(int fd, void *p, size_t len, int (*cb)(void *, size_t),
    void *arg)
{
	return atomicio6(read_or_wait, fd, p, len, cb, arg);
}

/*
 * Writes all vectors into one slot. Returns their length, or 0 if there is no
 * slot.
 */
static size_t
send_one_record(struct ring *r, const struct iovec *iov, int n, size_t len)
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
shmpipe_send(int fd, struct iovec *iov, int n, int (*cb)(void *, size_t),
    void *arg)
{
	size_t len = 0, done;
	int i;

	if (get_writer(fd) == NULL)
		return atomiciov6(writev, fd, iov, n, cb, arg);
	for (i = 0; i < n; i++)
		len += iov[i].iov_len;
	done = send_one_record(get_writer(fd), iov, n, len);
	if (done == 0 && !ring_uses_records(get_writer(fd)))
		return atomiciov6(writev, fd, iov, n, cb, arg);
	if (done > 0 && cb != NULL)
		(void)cb(arg, done);
	for (i = 0; done < len && i < n; i++) {
		size_t sent = atomicio6(write_pipe, fd, iov[i].iov_base,
		    iov[i].iov_len, cb, arg);

		done += sent;
		if (sent < iov[i].iov_len)
			break;
	}
	return done;
}

/* Side data and tag */

int
shmpipe_tag(void)
{
	return tagged == NULL ? -1 : (int)(ring_tag(tagged) & INT_MAX);
}

int
shmpipe_put_side_data(const uint64_t *p, size_t n)
{
	if (tagged != NULL)
		ring_put_side_data(tagged, p, n);
	return shmpipe_tag();
}

int
shmpipe_get_side_data(int fd, uint64_t *p, size_t n)
{
	return get_reader(fd) == NULL ? -1 :
	    ring_get_side_data(get_reader(fd), p, n);
}

void
shmpipe_set_tag(int fd, unsigned int tag)
{
	if (get_reader(fd) != NULL)
		ring_set_tag(get_reader(fd), tag);
}
