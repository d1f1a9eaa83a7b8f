/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * checkfile-hook: sftp-server answers requests for SHA-256 checksums of a file.
 *
 * A client that resumes a file compares these with its own, so that the bytes
 * need not be copied again, or read back. The request is check-file-name of
 * draft-ietf-secsh-filexfer-extensions-00 (PROTOCOL, 4).
 *
 * The request only reads, so it is allowed in read-only mode. This module
 * refuses it if the list of denied requests (-P) has "read" or "open", or if
 * the client's list of algorithms lacks sha256. Upstream refuses it if -P has
 * the request itself. Symbolic links are followed, but only to regular files.
 *
 * A range is cut at the end of the file, and length 0 means up to there. If
 * more than 64 MiB, or too many blocks, remain, the range is refused. A range
 * that begins at the end of the file or behind it has no bytes: the reply has
 * no checksum, or with block size 0 that of no bytes. If the client
 * disconnects, reading stops within a MiB, and the reply is a failure.
 *
 * Called from patches/168-sftp-server-check-file.patch. Runs as the user, in
 * sftp-server and internal-sftp. Not thread safe.
 */

#ifndef HAYATE_CHECKFILE_HOOK_H
#define HAYATE_CHECKFILE_HOOK_H

#include <sys/types.h>

struct sshbuf;

#define CHECKFILE_RANGE_MAX	(64 * 1024 * 1024)	/* bytes per request */
#define CHECKFILE_SUMS_MAX	4096	/* checksums in a reply: 128 KiB */
#define CHECKFILE_BLOCK_MIN	256	/* bytes, or 0; set by the draft */

/*
 * Parses the fields of request "id" from "in", which it consumes, and appends
 * the reply with its length to "out", either the checksums or a status with the
 * reason. The status is SSH2_FX_NO_SUCH_FILE, _PERMISSION_DENIED (also for -P),
 * _BAD_MESSAGE for blocks that are too small, or _FAILURE for all other
 * reasons. Logs the range or the refusal at LogLevel INFO. "denied" is the list
 * of denied requests, or NULL; "version" is that of the client's protocol:
 * before 3 a status has no text. A malformed request ends the process, as in
 * upstream's handlers. Blocks while it reads the file.
 */
void	checkfile_answer(u_int32_t id, struct sshbuf *in, struct sshbuf *out,
    const char *denied, u_int version);

/* For the table in sftp-server.c, which alone defines the macro */
#ifdef SFTP_MAX_READ_LENGTH
static void
checkfile_name(u_int32_t id)
{
	checkfile_answer(id, iqueue, oqueue, request_denylist, version);
}
#endif

#endif /* HAYATE_CHECKFILE_HOOK_H */
