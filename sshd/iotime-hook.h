/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * iotime-hook: measures how long sftp-server is in system calls that read,
 * write and close files, and sends the times to a client that asks (PROTOCOL,
 * 6).
 *
 * sftpsrv-hook.c calls this before and after each request. That costs two
 * readings of the clock for each request that moves data. If the system does
 * not provide the time spent waiting for a processor, the two times are sent as
 * 0, because bottleneck.h could not tell a slow disk from a busy machine.
 *
 * The request is refused if the list of denied requests (-P) has "figures", and
 * with "TellLimits no", for which subsys_open_output() sets the tag
 * IOTIME_DISABLED of the shared memory (ring.h). A server without that memory
 * does not know the keyword, and answers. Runs as the user, in sftp-server and
 * internal-sftp. Not thread safe.
 */

#ifndef HAYATE_IOTIME_HOOK_H
#define HAYATE_IOTIME_HOOK_H

#include <sys/types.h>

struct sshbuf;

/*
 * Call it before a request of this type is processed: its time counts from now
 * on if it is a WRITE or CLOSE. 0: no request is there yet. STAT_TIME begins
 * with the first call.
 */
void	iotime_begin(u_char type);

/*
 * Counts the time of that request from now on, because other work came first.
 */
void	iotime_restart(void);

/* Call it when the request has been processed: adds its time. */
void	iotime_end(void);

/* Call them right before and after a file is read for a READ. */
void	iotime_begin_read(void);
void	iotime_end_read(void);

/* Tag of the shared memory: do not send the times */
#define IOTIME_DISABLED	1

/*
 * Appends the reply to request "id" to "out": a struct stall_stats, or a
 * status. "version" is that of the client's protocol.
 */
void	iotime_answer(u_int32_t id, struct sshbuf *out, u_int version);

/* The handler, in sftp-server.c, for its table */
#ifdef SFTP_MAX_READ_LENGTH
static void
iotime_reply(u_int32_t id)
{
	iotime_answer(id, oqueue, version);
}
#endif

#endif /* HAYATE_IOTIME_HOOK_H */
