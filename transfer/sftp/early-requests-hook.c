/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* See early-requests-hook.h for the idea. */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE		/* for memfd_create */
#endif

#include "includes.h"

#include <sys/types.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log.h"
#include "sftp.h"
#include "sftp-common.h"
#include "sshbuf.h"
#include "ssherr.h"
#include "xmalloc.h"

#include "early-requests.h"
#include "early-requests-hook.h"
#include "rendezvous.h"
#include "sftp-request-hook.h"
#include "shmpipe-hook.h"

#ifndef O_NOATIME
#define O_NOATIME	0
#endif

/* One read finds the end of a file that the one before it has whole. */
#define READ_SIZE	EARLY_REQUESTS_FILE_MAX

/* As upstream's; longer messages are an error. */
#define MESSAGE_MAX	(256 * 1024)

static struct {
	struct early_requests	*requests; /* NULL: nothing is sent ahead */
	int		 fd, memory;	/* of the connection */
	int		 is_sent;
	struct sshbuf	*message;	/* a request that is being built */
	struct sshbuf	*ready;		/* replies, with their lengths */

	char		*file;		/* that is sent, or NULL */
	u_char		*data;		/* its contents */
	size_t		 len;
} state = { .memory = -1 };

/* Requests */

static struct sshbuf *
begin_request(struct request_sink *sink)
{
	(void)sink;
	if ((state.message = sshbuf_new()) == NULL)
		fatal_f("sshbuf_new failed");
	return state.message;
}

static void
end_request(struct request_sink *sink)
{
	(void)sink;
	if (state.requests != NULL && early_requests_add(state.requests,
	    sshbuf_ptr(state.message), sshbuf_len(state.message)) != 0)
		early_requests_none();
	sshbuf_free(state.message);
}

/* early_requests_add() sets the IDs. */
static struct request_sink first = { begin_request, end_request };
#define NO_ID	0

static u_char handle_id[] = EARLY_REQUESTS_HANDLE;
static const struct handle handle = { handle_id, EARLY_REQUESTS_HANDLE_LEN };

/* The first of all, in either direction */
static void
begin_requests(void)
{
	early_requests_none();
	if ((state.requests = early_requests_new()) == NULL)
		fatal_f("out of memory");
	request_extended(&first, NO_ID, "limits@openssh.com", NULL);
}

void
early_requests_none(void)
{
	early_requests_free(state.requests);
	state.requests = NULL;
	free(state.file);
	state.file = NULL;
	freezero(state.data, state.len);
	state.data = NULL;
	state.len = 0;
}

void
early_requests_get(const char *path)
{
	begin_requests();
	request_path(&first, NO_ID, SSH2_FXP_LSTAT, path, NULL);
	request_path(&first, NO_ID, SSH2_FXP_STAT, path, NULL);
	request_open(&first, NO_ID, path, SSH2_FXF_READ, NULL);
	request_read(&first, NO_ID, &handle, 0, READ_SIZE);
	request_read(&first, NO_ID, &handle, READ_SIZE, READ_SIZE);
}

/*
 * Reads a small file whole. Returns 0 and what it is, or -1: it is none,
 * or it has changed. One with holes is sent in another way.
 */
static int
read_small_file(const char *file, u_char *p, size_t *len, struct stat *sb)
{
	int fd, r = -1;
	ssize_t n;

	/*
	 * To open anything but a file may do something, so that waits. A file
	 * that is read-only at the target could not be opened a second time.
	 */
	if (stat(file, sb) == -1 || !S_ISREG(sb->st_mode) ||
	    (sb->st_mode & S_IWUSR) == 0 || (fd = open(file,
	    O_RDONLY | O_NONBLOCK | O_NOATIME | O_CLOEXEC)) == -1)
		return -1;
	if (fstat(fd, sb) == 0 && S_ISREG(sb->st_mode) && sb->st_size > 0 &&
	    sb->st_size <= EARLY_REQUESTS_FILE_MAX && sb->st_blocks > 0 &&
	    (n = read(fd, p, EARLY_REQUESTS_FILE_MAX)) == sb->st_size) {
		*len = n;
		r = 0;
	}
	close(fd);
	return r;
}

/* Opens the target, writes all of the file, and closes it. */
static void
add_upload(const char *target, const struct stat *sb, int preserve)
{
	Attrib a;

	stat_to_attrib(sb, &a);
	a.flags &= ~(SSH2_FILEXFER_ATTR_SIZE | SSH2_FILEXFER_ATTR_UIDGID);
	if (!preserve)
		a.flags &= ~SSH2_FILEXFER_ATTR_ACMODTIME;
	a.perm &= 0777;
	request_open(&first, NO_ID, target, SSH2_FXF_WRITE | SSH2_FXF_CREAT,
	    &a);
	request_write(&first, NO_ID, &handle, 0, state.data, state.len);
	request_fsetsize(&first, NO_ID, &handle, state.len);
	if (preserve)
		request_handle(&first, NO_ID, SSH2_FXP_FSETSTAT, &handle, &a);
	request_handle(&first, NO_ID, SSH2_FXP_CLOSE, &handle, NULL);
}

void
early_requests_put(const char *file, const char *target, int preserve)
{
	u_char *data = xmalloc(EARLY_REQUESTS_FILE_MAX);
	struct stat sb;
	size_t len;

	begin_requests();
	request_path(&first, NO_ID, SSH2_FXP_STAT, target, NULL);
	if (read_small_file(file, data, &len, &sb) != 0) {
		free(data);
		return;
	}
	state.file = xstrdup(file);
	state.data = data;
	state.len = len;
	add_upload(target, &sb, preserve);
}

/* The connection */

int
early_requests_offer(int fd)
{
	const void *p;
	size_t len;

	state.fd = fd;
	state.is_sent = 0;
	sshbuf_free(state.ready);
	state.ready = NULL;
	if (state.requests == NULL)
		return -1;
	p = early_requests_bytes(state.requests, &len);
#ifdef __linux__
	state.memory = memfd_create("scp requests", MFD_CLOEXEC);
#endif
	if (state.memory != -1 && (write(state.memory, "", 1) != 1 ||
	    write(state.memory, p, len) != (ssize_t)len)) {
		close(state.memory);
		state.memory = -1;
	}
	return state.memory;
}

/* Reads one message. Returns its length, which is "len" at most. */
static size_t
receive_message(int fd, u_char *p, size_t len)
{
	u_char head[4];
	size_t n;

	if (shmpipe_receive(fd, head, sizeof(head), NULL, NULL) != sizeof(head))
		fatal("Connection closed");
	if ((n = PEEK_U32(head)) > len)
		fatal("Received message too long %zu", n);
	if (shmpipe_receive(fd, p, n, NULL, NULL) != n)
		fatal("Connection closed");
	return n;
}

/* Behind VERSION, before any other request */
static void
send_requests(int fd)
{
	size_t len, n;
	const u_char *p = early_requests_bytes(state.requests, &len);
	struct iovec iov[2];

	for (; len > 0; p += n, len -= n) {
		n = 4 + PEEK_U32(p);
		iov[0].iov_base = (void *)(uintptr_t)p;
		iov[0].iov_len = 4;
		iov[1].iov_base = (void *)(uintptr_t)(p + 4);
		iov[1].iov_len = n - 4;
		if (shmpipe_send(fd, iov, 2, NULL, NULL) != n)
			fatal("Couldn't send packet: %s", strerror(errno));
	}
}

/* The server may never end, so ssh is not to wait for that. */
static void
say_stuck(void)
{
	const u_char says = EARLY_REQUESTS_STUCK;

	if (pwrite(state.memory, &says, 1, 0) != 1)
		debug_f("pwrite: %s", strerror(errno));
}

int
early_requests_begin(int fd)
{
	u_char *p, says;
	size_t n;

	if (state.memory == -1 || fd != state.fd)
		return 0;
	if (pread(state.memory, &says, 1, 0) != 1 || says ==
	    EARLY_REQUESTS_NOTHING) {
		close(state.memory);
		state.memory = -1;
		early_requests_none();
		return 0;
	}
	if (says == EARLY_REQUESTS_MAY_SEND)
		send_requests(fd);
	state.is_sent = 1;
	if ((state.ready = sshbuf_new()) == NULL)
		fatal_f("sshbuf_new failed");
	p = xmalloc(MESSAGE_MAX);
	while (!early_requests_are_answered(state.requests)) {
		n = receive_message(fd, p, MESSAGE_MAX);
		if (early_requests_keep_reply(state.requests, p, n) != 1)
			fatal("The server sent a reply to no request");
	}
	free(p);
	if (early_requests_are_stuck(state.requests))
		say_stuck();
	close(state.memory);
	state.memory = -1;
	debug("the first requests went out %s, and were answered",
	    says == EARLY_REQUESTS_MAY_SEND ? "behind VERSION" : "with INIT");
	if (early_requests_have_failed(state.requests))
		debug("one of them failed; opening the file again");
	return 1;
}

void
early_requests_forget(int fd)
{
	if (fd != state.fd)
		return;
	state.is_sent = 0;
	sshbuf_free(state.ready);
	state.ready = NULL;
	early_requests_none();
}

/* Returns 1 if the file that was sent is the one that lies there. */
static int
source_is_unchanged(void)
{
	u_char *p = xmalloc(EARLY_REQUESTS_FILE_MAX);
	struct stat sb;
	size_t len;
	int same;

	same = read_small_file(state.file, p, &len, &sb) == 0 &&
	    len == state.len && memcmp(p, state.data, len) == 0;
	freezero(p, EARLY_REQUESTS_FILE_MAX);
	return same;
}

int
early_requests_has_reply(int fd, void *request, size_t len)
{
	const void *reply;
	size_t n;
	int sends, r;

	if (!state.is_sent || state.requests == NULL || fd != state.fd ||
	    len < 5)
		return 0;
	if (state.file != NULL && *(const u_char *)request == SSH2_FXP_OPEN &&
	    !source_is_unchanged()) {
		debug("\"%s\" has changed since it was sent early; sending it "
		    "again", state.file);
		early_requests_none();
		return 0;
	}
	reply = early_requests_find_reply(state.requests, request, len, &n,
	    &sends);
	if (reply == NULL)
		return 0;
	if ((r = sshbuf_put_string(state.ready, reply, n)) != 0)
		fatal_fr(r, "keep");
	/* The server's own reply is dropped. */
	if (sends)
		POKE_U32((u_char *)request + 1, EARLY_REQUESTS_ID +
		    EARLY_REQUESTS_MAX);
	return !sends;
}

struct sshbuf *
early_requests_ready(int fd)
{
	return state.ready != NULL && fd == state.fd &&
	    sshbuf_len(state.ready) > 0 ? state.ready : NULL;
}

/* For upstream's functions, which send one message and wait for the reply */

size_t
early_requests_send(int fd, struct iovec *iov, int n, int (*cb)(void *, size_t),
    void *arg)
{
	/* the length, and the message */
	if (n == 2 && early_requests_has_reply(fd, iov[1].iov_base,
	    iov[1].iov_len))
		return iov[0].iov_len + iov[1].iov_len;
	return shmpipe_send(fd, iov, n, cb, arg);
}

size_t
early_requests_receive(int fd, void *p, size_t len, int (*cb)(void *, size_t),
    void *arg)
{
	struct sshbuf *ready = early_requests_ready(fd);

	if (ready == NULL)
		return shmpipe_receive(fd, p, len, cb, arg);
	/* Each reply is whole, and is read as it is written. */
	return sshbuf_get(ready, p, len) == 0 ? len : 0;
}
