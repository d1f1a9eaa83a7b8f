/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * iotime-hook: measures how long sftp-server is in system calls that read,
 * write and close files, and sends the times to a client that asks (PROTOCOL,
 * 6). All times are microseconds.
 *
 * sftpsrv-hook.c calls this before and after each request. That costs two
 * readings of the clock for each request that moves data. If the system does
 * not provide the time spent waiting for a processor, STAT_FILE_READ and
 * STAT_FILE_WRITE are sent as 0, because bottleneck.h could not tell a slow
 * disk from a busy machine.
 *
 * There are two reasons to refuse a client the times. If the lists of -P and -p
 * do not permit "figures", upstream refuses the request and does not call
 * iotime_reply(). If TellLimits is "no", subsys_open_output() has set the tag
 * IOTIME_DISABLED of the memory that sshd shares with sftp-server (ring.h), and
 * iotime_answer() refuses the request. If there is no shared memory,
 * sftp-server cannot know the value of TellLimits, and sends the times even if
 * the value is "no".
 *
 * Runs as the user, in sftp-server and internal-sftp. Not thread safe.
 */

#ifndef HAYATE_IOTIME_HOOK_H
#define HAYATE_IOTIME_HOOK_H

#include <sys/types.h>

struct sshbuf;

/*
 * Call it before a request of this type is processed; type 0 means that no
 * request is there yet. Begins to measure the time of a WRITE or CLOSE, and
 * nothing for any other type. Drops a measurement that iotime_end() has not
 * ended. STAT_TIME counts from the first call.
 */
void	iotime_begin(u_char type);

/*
 * Measures the time of the WRITE or CLOSE from now on, because other work came
 * before that request. Does nothing if no WRITE or CLOSE is being measured.
 */
void	iotime_restart(void);

/*
 * Call it when the request has been processed, or if there was none. Adds the
 * time of a WRITE or CLOSE to STAT_FILE_WRITE, which is the sum for both, and
 * ends all measurements, also that of iotime_begin_read().
 */
void	iotime_end(void);

/*
 * Call them right before and after a file is read for a READ: the time is added
 * to STAT_FILE_READ. If iotime_end_read() is not called, as after an error,
 * iotime_end() drops the time. Without iotime_begin_read() it adds nothing.
 */
void	iotime_begin_read(void);
void	iotime_end_read(void);

/* Tag of the memory that sshd shares: do not send the times */
#define IOTIME_DISABLED	1

/*
 * Appends the reply to request "id", with its length, to "out": an
 * EXTENDED_REPLY with the encoded struct stall_stats or, if the tag is
 * IOTIME_DISABLED, the status SSH2_FX_PERMISSION_DENIED. The times are totals.
 * Besides the times of files, only STAT_TIME, STAT_CPU and STAT_WAIT_CPU are
 * not 0. "version" is that of the client's protocol: below 3 a status has no
 * text. The process ends if out of memory.
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
