/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * sftpsrv-hook: input and output of sftp-server. A request is read into the
 * queue, and a file into the reply, without a copy between.
 *
 * Stock's sftp-server copies what it reads from the client twice, what it reads
 * from a file three times, reads 16 KiB from its pipe at once, and answers one
 * request in each turn of its poll loop. The messages are the same here. At end
 * of input stock's exits at once, with requests not answered and replies not
 * sent; ours answers and sends them first.
 *
 * OPEN of a FIFO or device may block, and may have side effects: the writer of
 * a FIFO may lose its bytes. If such an OPEN is early (early-requests.h) and
 * only for reading, it fails, because the client has sent it without knowing
 * the type of the file. If it is not early and has SSH_FXF_CREAT, it is treated
 * as any other request, which saves a stat() for each new file. Before all
 * other kinds, replies are sent: see sftpsrv_poll() and sftpsrv_read().
 *
 * Runs as the user, in sftp-server and internal-sftp. Uses no libcrypto. Out of
 * memory ends the process, as in stock's. Not thread safe.
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
 * As poll(2) without a timeout, of input (pfd[0]) and output (pfd[1]), with the
 * events that upstream wants. "in" and "out" are the queues of requests and
 * replies, the same in each call.
 *
 * While "out" has at most 64 KiB, a call reads from the ring until "in" has a
 * complete request or the ring is empty, and returns 0 at once if "in" has a
 * complete request. A descriptor that is not polled gets "fd" -1. This is
 * pfd[0] if "in" has a complete request, because no more are read before that
 * one is processed, and pfd[1] if "out" is empty. After sftpsrv_client_waits(),
 * the next call polls pfd[1] even where it returns at once, so that replies are
 * sent and a disconnected client is noticed.
 *
 * At most one request is processed between two calls. Each call ends the time
 * of that request and begins the time of the next one (iotime-hook.h), corrects
 * the reply (sftpsrv_readdir()), and treats the next OPEN of a FIFO or device
 * as described above, for which it may block until all replies are sent.
 */
int	sftpsrv_poll(struct pollfd [2], struct sshbuf *in,
    struct sshbuf *out);

/*
 * Adds the extension OPENING_OWN (early-requests.h) to the VERSION reply if
 * this process is the only program of the session. That is so if its output is
 * a socket that its parent process has created. If a script has started this
 * process, the creator of the socket is not the parent. Adds nothing on a
 * system without SO_PEERCRED. Returns "1", the version of
 * figures@hayate.invalid for the same reply.
 */
const char *sftpsrv_announce(struct sshbuf *version);

/*
 * Returns the tag of the memory shared with sshd (ring.h), or 0 if there is no
 * shared memory, as before the first sftpsrv_read().
 */
unsigned int sftpsrv_tag(void);

/*
 * For a request that takes long, to be called now and then: returns 0 if the
 * client has disconnected or closed our input, so that nobody would receive the
 * reply, otherwise 1. Does not block, and reads and sends nothing, but the next
 * sftpsrv_poll() polls the output.
 */
int	sftpsrv_client_waits(void);

/*
 * Reads from "fd" and appends to "queue". If a part of a request is queued, the
 * rest of that request is read, but at least 16 KiB and at most 256 KiB are
 * asked for. A slot of the ring is appended whole, even if larger. Returns as
 * read(2). At end of input all replies are sent, blocking, before it returns.
 * Attaches to sshd's shared memory at the first call. If the next request in
 * the queue is an early OPEN of a FIFO or device only for reading, replaces it
 * by a failure among the replies. Before another OPEN of a FIFO or device
 * upstream writes the replies, if the last sftpsrv_poll() has found the output
 * writable. Begins the time of the next request (iotime_begin()).
 */
ssize_t	sftpsrv_read(int fd, struct sshbuf *queue);

/*
 * Writes from the front of "queue", and waits until that is possible; the
 * caller consumes. Returns as write(2), also fewer bytes. The time of the next
 * request begins after it (iotime_restart()).
 */
ssize_t	sftpsrv_write(int fd, const struct sshbuf *queue);

/*
 * Returns room for "len" bytes of a file, at the place that they will have in
 * the reply to a READ: in "out" or, if that is empty, in the ring, where it may
 * have to wait for a free slot. Never NULL. Valid until "out" changes; follow
 * it by sftpsrv_send_data() or by any other reply, which drops it. Begins the
 * time of reading (iotime_begin_read()).
 */
void	*sftpsrv_reserve(struct sshbuf *out, size_t len);

/*
 * Replies to request "id" with the first "len" bytes of that room: appends the
 * reply to "out", or sends it through the ring at once. Ends the time of
 * reading. Call it once for each room.
 */
void	sftpsrv_send_data(struct sshbuf *out, u_int32_t id, size_t len);

/*
 * As readdir(3), for sftp-server.c. If it fails before the end of the
 * directory, it logs an error, sftpsrv_poll() changes the reply to READDIR from
 * "end of file" to a failure, and later calls for that directory fail as well,
 * without a log.
 */
struct dirent *sftpsrv_readdir(DIR *);

#endif /* HAYATE_SFTPSRV_HOOK_H */
