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
 * request in each turn of its poll loop. The messages are the same here.
 *
 * Runs as the user, in sftp-server and internal-sftp. Uses no libcrypto.
 * Errors of memory end the process, as stock's do. Not thread safe.
 */

#ifndef HAYATE_SFTPSRV_HOOK_H
#define HAYATE_SFTPSRV_HOOK_H

#include <sys/types.h>

#include "checkfile-hook.h"

struct sshbuf;

/*
 * Appends to "queue" what a read(2) of "fd" brings: the rest of a request that
 * is there in part, or 16 KiB where that is more. Returns as read(2).
 */
ssize_t	sftpsrv_read(int fd, struct sshbuf *queue);

/*
 * Whether another whole request waits in "in", or in the ring, from which it is
 * then read, while there is little to send in "out".
 */
int	sftpsrv_has_request(struct sshbuf *in, const struct sshbuf *out);

/* Writes from the front of "queue". Returns as write(2), and waits for room. */
ssize_t	sftpsrv_write(int fd, const struct sshbuf *queue);

/*
 * Room for "len" bytes of a file where the reply to a READ will hold them;
 * valid until "out" changes.
 */
void	*sftpsrv_space(struct sshbuf *out, size_t len);

/* Sends the first "len" bytes of that room as SSH_FXP_DATA. */
void	sftpsrv_send_data(struct sshbuf *out, u_int32_t id, size_t len);

#endif /* HAYATE_SFTPSRV_HOOK_H */
