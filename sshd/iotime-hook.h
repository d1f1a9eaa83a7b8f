/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * iotime-hook: how long sftp-server is in calls that read, write and close
 * files, for a client that asks (PROTOCOL, section 6).
 *
 * sftpsrv-hook.c stands before and behind each request. It costs two readings
 * of the clock for each request that moves data. Where the system does not tell
 * how long a process waited for a processor, the times are not told either
 * (bottleneck.h).
 *
 * The request is refused where the list of denied requests has "figures", and
 * with "TellLimits no", which sshd tells by the mark of the memory that it
 * shares (ring.h). Runs as the user, in sftp-server and internal-sftp. Not
 * thread safe.
 */

#ifndef HAYATE_IOTIME_HOOK_H
#define HAYATE_IOTIME_HOOK_H

#include <sys/types.h>

struct sshbuf;

/* A request of this type is next; 0: none is there. */
void	iotime_begin(u_char type);

/* It is still next: something else took time meanwhile. */
void	iotime_restart(void);

/* It is answered. */
void	iotime_end(void);

/* A file is read now; it was read. */
void	iotime_begin_read(void);
void	iotime_end_read(void);

/* Such a mark says that nothing is told. */
#define IOTIME_DISABLED	1

/* Appends the reply to request "id" to "out". "version" is the client's. */
void	iotime_answer(u_int32_t id, struct sshbuf *out, u_int version);

#ifdef SFTP_MAX_READ_LENGTH	/* in sftp-server.c, for its table */
static void
iotime_reply(u_int32_t id)
{
	iotime_answer(id, oqueue, version);
}
#endif

#endif /* HAYATE_IOTIME_HOOK_H */
