/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * sftp-server reads a request into its queue and a file into the
 * reply, without a copy between.
 *
 * Stock's sftp-server copies what it reads from the client twice, what it reads
 * from a file three times, takes 16 KiB from its pipe at once, and answers one
 * request in each turn of its poll loop. The messages are the same here. At the
 * end of its input stock's ends at once, with requests that were not answered
 * and replies that were not sent; ours answers and sends them first.
 *
 * What is no file may keep an OPEN waiting, and be changed by it: a FIFO has a
 * writer whose bytes are lost. So what has been answered is sent before, and an
 * OPEN that a client sends for reading before it can know what lies there
 * (opening.h) fails.
 *
 * Runs as the user, in sftp-server and internal-sftp. Uses no libcrypto.
 * Errors of memory end the process, as stock's do. Not thread safe.
 */

#ifndef HAYATE_SFTPSRV_HOOK_H
#define HAYATE_SFTPSRV_HOOK_H

#include <sys/types.h>

#include <dirent.h>

#include "checkfile-hook.h"
#include "iotime-hook.h"

struct pollfd;
struct sshbuf;

/*
 * As poll(2) of input and output, with the events that upstream wants. Returns
 * 0 at once while a whole request waits in "in", or in the ring, from which it
 * is then read, and there is little to send in "out". No more input is taken
 * while one waits. After sftpsrv_client_waits() it looks at both in any case,
 * so that replies leave and a client that has hung up is seen.
 */
int	sftpsrv_poll(struct pollfd [2], struct sshbuf *in,
    struct sshbuf *out);

/*
 * Adds to VERSION that this process is all that the session runs, if it is: its
 * output is a socket that was made by the process that started it. A program in
 * between has neither. Returns the version of figures@hayate.invalid.
 */
const char *sftpsrv_announce(struct sshbuf *version);

/* The mark of the memory that sshd has offered (ring.h), or 0 */
unsigned int sftpsrv_tag(void);

/*
 * For a request that takes long, now and then: whether the client is still
 * there. If it is not, the answer would reach nobody.
 */
int	sftpsrv_client_waits(void);

/*
 * Appends to "queue" what a read(2) of "fd" brings: the rest of a request that
 * is there in part, or 16 KiB where that is more. Returns as read(2).
 */
ssize_t	sftpsrv_read(int fd, struct sshbuf *queue);

/* Writes from the front of "queue". Returns as write(2), and waits for room. */
ssize_t	sftpsrv_write(int fd, const struct sshbuf *queue);

/*
 * Room for "len" bytes of a file where the reply to a READ will hold them;
 * valid until "out" changes.
 */
void	*sftpsrv_reserve(struct sshbuf *out, size_t len);

/* Sends the first "len" bytes of that room as SSH_FXP_DATA. */
void	sftpsrv_send_data(struct sshbuf *out, u_int32_t id, size_t len);

/*
 * As readdir(3), for sftp-server.c, whose answer to a READDIR of a directory
 * that could not be read to its end becomes a failure in sftpsrv_poll().
 */
struct dirent *sftpsrv_readdir(DIR *);

#endif /* HAYATE_SFTPSRV_HOOK_H */
