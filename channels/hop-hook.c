/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

#include "includes.h"

#include <sys/types.h>
#include <sys/socket.h>

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "log.h"
#include "sshbuf.h"
#include "ssherr.h"
#include "xmalloc.h"

#include "hop-hook.h"
#include "ring.h"

/* Ends of rings by descriptor; NULL: none */
static struct ring **ends;
static int nends;

static void
keep(int fd, struct ring *r)
{
	if (fd >= nends) {
		ends = xrecallocarray(ends, nends, fd + 1, sizeof(*ends));
		nends = fd + 1;
	}
	ring_free(ends[fd]);
	ends[fd] = r;
}

static struct ring *
ring_of_fd(int fd)
{
	return fd >= 0 && fd < nends ? ends[fd] : NULL;
}

void
hop_forget(int fd)
{
	if (ring_of_fd(fd) != NULL)
		keep(fd, NULL);
}

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

void
hop_offer(const int in[2], const int out[2])
{
	int memory = ring_make(in[0], out[1]);
	struct ring *input, *output;

	if (memory == -1) {
		verbose("no shared memory for sftp: %s", strerror(errno));
		return;
	}
	input = ring_open(memory, RING_INPUT, in[1]);
	output = ring_open(memory, RING_OUTPUT, out[0]);
	if (input == NULL || output == NULL ||
	    send_memory(out[0], memory) == -1) {
		verbose("no shared memory for sftp: %s", strerror(errno));
		ring_free(input);
		ring_free(output);
	} else {
		keep(in[1], input);
		keep(out[0], output);
	}
	close(memory);
}

void
hop_accept(int in, int out, struct ring *both[2])
{
	int memory = receive_memory(out), r;

	r = ring_attach(memory, in, out, both);
	if (memory == -1)
		return;
	debug("shared memory for sftp: %s", r == 0 ? "attached" : "refused");
	close(memory);
}

int
hop_read(int fd, struct sshbuf *buf, size_t most, size_t *len)
{
	struct ring *ring = ring_of_fd(fd);
	u_char *p;
	ssize_t n;
	int r, saved;

	if (ring == NULL)
		return sshbuf_read(fd, buf, most, len);
	if ((r = sshbuf_reserve(buf, RING_SLOT, &p)) != 0)
		return r;
	n = ring_read(ring, p, RING_SLOT);
	saved = errno;
	if ((r = sshbuf_consume_end(buf, RING_SLOT - (n > 0 ? n : 0))) != 0)
		return r;
	*len = n > 0 ? n : 0;
	errno = n == 0 ? EPIPE : saved;
	return n > 0 ? 0 : SSH_ERR_SYSTEM_ERROR;
}

ssize_t
hop_write(int fd, const void *p, size_t len)
{
	struct ring *ring = ring_of_fd(fd);

	return ring == NULL ? write(fd, p, len) : ring_write(ring, p, len);
}
