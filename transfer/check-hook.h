/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * check-hook: asks an SFTP server what it has in a file: hashes, or bytes.
 *
 * A server is asked for hashes with the request check-file-name (PROTOCOL, 4),
 * if it may have it (server_has_hashes()). Without hashes a range can be read
 * back.
 *
 * A reply that breaks the protocol ends the process, as it does in upstream.
 * Hashes of another kind or number than asked for are no answer.
 *
 * No other request may be under way. Main thread only.
 */

#ifndef HAYATE_CHECK_HOOK_H
#define HAYATE_CHECK_HOOK_H

#include <sys/types.h>
#include <stdint.h>

struct sftp_conn;

/* Asks for the hashes of a range in blocks. Returns the ID of the request. */
u_int	check_send(struct sftp_conn *, const char *path, uint64_t off,
    uint64_t len, uint32_t block);

/*
 * Waits for the reply. Returns the number of hashes in "sums", at most "most",
 * or -1 if the server refused or gave none that can be used.
 */
ssize_t	check_take(struct sftp_conn *, u_int id, unsigned char *sums,
    size_t most);

/* Takes bytes of a file at an offset. Returns 0 to get no more. */
typedef int check_take_fn(void *, uint64_t off, const u_char *, size_t len);

/*
 * Reads "len" bytes at "off" of a file, with as many requests under way as a
 * download has, at the rate that -l sets. They are taken in any order, and some
 * also after that function has returned 0. Returns how many of them, from "off"
 * on, were taken without a gap.
 */
uint64_t check_read(struct sftp_conn *, const char *path, uint64_t off,
    uint64_t len, check_take_fn *, void *arg);

#endif /* HAYATE_CHECK_HOOK_H */
