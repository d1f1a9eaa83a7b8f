/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * sftpq-hook: where scp and sftp ask sftpq.h about their requests under way.
 *
 * SFTP has a window of its own: so many READs or WRITEs of one buffer each.
 * Stock starts a download with one and adds one per reply, waits for the
 * first WRITE alone, and stops at 64, which is 16 MiB: less than 1 Gbit/s
 * holds at 200 ms. Here sftpq.h decides, from the age of a request and the
 * rate of the replies, and the start does not wait.
 *
 * Two round trips before the first byte are saved as well: the query for the
 * server's limits travels with the request after it, and a download of a
 * regular file that the request before looked up by lstat needs no stat.
 *
 * Called from patches/160-sftp-client-requests.patch, in scp and sftp. Does
 * nothing, so that stock code does what it always did, when the user chose
 * the requests (-R, -B, -X) or a rate (-l), without memory, or when ssh says
 * "Hayate no" (see sftp-tell.h). Main thread only.
 */

#ifndef HAYATE_SFTPQ_HOOK_H
#define HAYATE_SFTPQ_HOOK_H

#include <sys/types.h>
#include <stdint.h>

struct sftp_conn;
struct Attrib;
struct sshbuf;

/* What of upstream's private struct sftp_conn is read and written. */
struct sftpq_conn {
	int	 fd_in, fd_out;
	u_int	*msg_id, *num_requests, *download_buflen, *upload_buflen;
};

/*
 * A connection is set up; "chosen" if the user has a say. Returns whether
 * upstream should query the limits itself now; 0 also if there are none.
 */
int	sftpq_init(struct sftp_conn *, const struct sftpq_conn *, int limits,
    int chosen);

/*
 * "m" is a whole message, just read. Returns 1, and has taken it, if it is
 * the reply to the deferred query; the caller then reads the next one.
 * Replies may come in any order. Sizes that come while a transfer runs are
 * for the next one.
 */
int	sftpq_limits(struct sftp_conn *, struct sshbuf *m);

/*
 * lstat of "path" gave *a with the result "ret", which is returned: remember
 * it until the next request.
 */
int	sftpq_keep_stat(struct sftp_conn *, const char *path,
    const struct Attrib *a, int ret);

/*
 * A download begins and has the attributes "a", or NULL. Returns "a"; or
 * "room", filled, if the request before was the lstat of this path and found
 * a regular file. Serves once: what lies longer may have changed.
 */
struct Attrib *sftpq_kept_stat(struct sftp_conn *, const char *path,
    struct Attrib *a, struct Attrib *room);

/*
 * With how many requests of "unit" bytes a transfer of "size" bytes
 * (0: unknown) starts.
 */
u_int	sftpq_start(struct sftp_conn *, uint64_t size, u_int unit);

/* "len" bytes were read; moves *max_req unless it is 0 (end of file). */
void	sftpq_read(struct sftp_conn *, size_t len, u_int *max_req);

/* The request whose acknowledgement an upload waits for alone; 0: none. */
uint32_t sftpq_first_ack(struct sftp_conn *, uint32_t id);

/* Whether an upload is to take an acknowledgement and send nothing. */
int	sftpq_full(struct sftp_conn *, u_int under_way);

/*
 * *len bytes were acknowledged with *status. An error stays: with more than
 * one WRITE under way a later success must not hide it. From the error on
 * nothing counts as written, so *len becomes 0.
 */
void	sftpq_written(struct sftp_conn *, size_t *len, u_int *status);

/* Whether the file is to be cut after the last byte written in order. */
int	sftpq_cut(struct sftp_conn *);

#endif /* HAYATE_SFTPQ_HOOK_H */
