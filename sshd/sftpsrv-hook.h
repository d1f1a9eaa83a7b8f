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
 * a FIFO may lose its bytes. So replies are sent before such an OPEN, unless it
 * has SSH_FXF_CREAT and is not early (early-requests.h). An early OPEN for
 * reading, which the client has sent without knowing the type of the file,
 * fails.
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
 * As poll(2) of input (pfd[0]) and output (pfd[1]), with the events that
 * upstream wants. "in" and "out" are the queues of requests and replies.
 * Returns 0 at once while a complete request is in "in" or in the ring, from
 * which it is read then, and "out" has at most 64 KiB. No more input is read
 * while a request is queued. A descriptor that is not polled gets "fd" -1:
 * pfd[0] then, and pfd[1] while "out" is empty. After a call of
 * sftpsrv_client_waits() replies in "out" are polled for even so, without
 * waiting, so that they are sent and a disconnected client is noticed.
 *
 * One request is processed between two calls. Each call ends its time and
 * begins that of the next one (iotime-hook.h), corrects its reply
 * (sftpsrv_readdir()), and treats the next OPEN of a FIFO or device as
 * described above, for which it may block until all replies are sent.
 */
int	sftpsrv_poll(struct pollfd [2], struct sshbuf *in,
    struct sshbuf *out);

/*
 * Adds the extension OPENING_OWN to the VERSION reply if this process is the
 * only program of the session: then its output is a socket that its parent
 * process has created, and with a script in between it is not. Without
 * SO_PEERCRED it adds nothing. Returns "1", the version of
 * figures@hayate.invalid for the same reply.
 */
const char *sftpsrv_announce(struct sshbuf *version);

/*
 * Returns the tag of the memory shared with sshd (ring.h), or 0 without memory.
 */
unsigned int sftpsrv_tag(void);

/*
 * For a request that takes long, to be called now and then: returns 0 if the
 * client has disconnected or closed our input, so that nobody would receive the
 * reply, otherwise 1. Does not block, and reads and sends nothing; the next
 * sftpsrv_poll() polls for that.
 */
int	sftpsrv_client_waits(void);

/*
 * Reads from "fd" and appends to "queue". Asks for the rest of a request of
 * which a part is queued (up to 256 KiB), but for at least 16 KiB; a slot of
 * the ring may be larger, and is appended whole. Returns as read(2). At end of
 * input all replies are sent, blocking, before it returns. Attaches to sshd's
 * shared memory at the first call. Refuses an early OPEN of a FIFO or device
 * that is next in the queue, and begins the time of the next request
 * (iotime_begin()).
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
