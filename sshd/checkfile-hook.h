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
 * The request only reads, so it is allowed in read-only mode. It is refused by
 * this module if the list of denied requests (-P) has "read" or "open", or if
 * the client's list of algorithms lacks sha256, and by upstream if -P has the
 * request itself. Only regular files are read, also through symbolic links.
 *
 * A range ends at the end of the file at the latest, and length 0 means to the
 * end of the file. A range that is still longer than 64 MiB, or has too many
 * blocks, is refused. A range that begins at the end of the file or after it is
 * empty: the reply has no checksum, or with block size 0 one checksum of no
 * bytes. If the client disconnects, reading stops within a MiB, and the reply
 * is a failure.
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
 * the reply with its length to "out": the checksums, or a status with the
 * reason: SSH2_FX_NO_SUCH_FILE, _PERMISSION_DENIED (also for -P), _BAD_MESSAGE
 * for blocks that are too small, or _FAILURE. Logs the range or the refusal at
 * LogLevel INFO. "denied" is the list of denied requests, or NULL; "version" is
 * that of the client's protocol: before 3 a status has no text. A malformed
 * request ends the process, as in upstream's handlers. Blocks while it reads
 * the file.
 */
void	checkfile_answer(u_int32_t id, struct sshbuf *in, struct sshbuf *out,
    const char *denied, u_int version);

/* The handler, in sftp-server.c, for its table */
#ifdef SFTP_MAX_READ_LENGTH
static void
checkfile_name(u_int32_t id)
{
	checkfile_answer(id, iqueue, oqueue, request_denylist, version);
}
#endif

#endif /* HAYATE_CHECKFILE_HOOK_H */
