/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * journald: sends a log line with its fields to systemd's journal.
 *
 * syslog(3) knows only one text. journald accepts fields as well, so that one
 * can ask "journalctl HAYATE_USER=alice" and count without parsing lines. This
 * is its native protocol (systemd.io/JOURNAL_NATIVE_PROTOCOL): a datagram with
 * a line NAME=value for each field. sshd needs no library for it.
 *
 * No state, no upstream header. Thread safe.
 */

#ifndef HAYATE_JOURNALD_H
#define HAYATE_JOURNALD_H

/* The socket of journald */
#define JOURNALD_SOCKET	"/run/systemd/journal/socket"

/* The MESSAGE_ID of our lines, to find all of them with journalctl */
#define JOURNALD_ID	"9276c2a6c81c43aab14e0ddac6c5ebaa"

/*
 * Sends "line" as the message, with MESSAGE_ID, priority INFO and our process
 * id, and each of its words "name=value" as a field HAYATE_NAME, too; other
 * words are in the message alone. A name that occurs twice gives two values.
 * "identifier" is the program's name for the log, "facility" one of syslog.h,
 * such as LOG_AUTH. Does not block. Opens a socket, which it closes again, so
 * do not call it under a sandbox.
 *
 * Returns 0; or -1 if nothing was sent: journald does not run or is busy, the
 * path is too long for a socket, the line has control characters, or the line
 * and its fields need more than 8 KiB together. Use syslog then.
 */
int	journald_send(const char *socket_path, const char *identifier,
    int facility, const char *line);

#endif /* HAYATE_JOURNALD_H */
