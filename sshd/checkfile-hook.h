/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * checkfile-hook: sftp-server tells the SHA-256 of blocks of a file.
 *
 * A client that goes on with a file that is there in part compares these with
 * its own, so the bytes need not be copied again, or read back. The request is
 * check-file-name of draft-ietf-secsh-filexfer-extensions-00 (PROTOCOL, 4).
 *
 * It reads, so it is there in read-only mode, and is refused where the list of
 * denied requests has it, or "read" or "open". Only regular files are read, at
 * most 64 MiB for one request, and nothing is written. It ends within a MiB of
 * the client's end.
 *
 * Called from patches/168-sftp-server-check-file.patch. Runs as the user, in
 * sftp-server and internal-sftp. Not thread safe.
 */

#ifndef HAYATE_CHECKFILE_HOOK_H
#define HAYATE_CHECKFILE_HOOK_H

#include <sys/types.h>

struct sshbuf;

#define CHECKFILE_RANGE_MAX	(64 * 1024 * 1024)	/* bytes of a request */
#define CHECKFILE_SUMS_MAX	4096			/* 128 KiB of reply */
#define CHECKFILE_BLOCK_MIN	256			/* says the draft */

/*
 * Takes the fields of request "id" from "in" and appends the reply to "out".
 * "denied" is the list of denied requests, or NULL. "version" is the client's.
 * A malformed request ends the process, as upstream's do.
 */
void	checkfile_answer(u_int32_t id, struct sshbuf *in, struct sshbuf *out,
    const char *denied, u_int version);

#ifdef SFTP_MAX_READ_LENGTH	/* in sftp-server.c, for its table */
static void
checkfile_name(u_int32_t id)
{
	checkfile_answer(id, iqueue, oqueue, request_denylist, version);
}
#endif

#endif /* HAYATE_CHECKFILE_HOOK_H */
