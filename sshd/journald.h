/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * journald: a line of the log with its fields, for systemd's journal.
 *
 * syslog(3) knows one text. journald takes fields as well, so that one can ask
 * "journalctl HAYATE_USER=alice" and count without taking lines apart. This is
 * its native protocol (systemd.io/JOURNAL_NATIVE_PROTOCOL): a datagram with a
 * line NAME=value for each field. It needs no library in sshd.
 */

#ifndef HAYATE_JOURNALD_H
#define HAYATE_JOURNALD_H

/* Where journald listens */
#define JOURNALD_SOCKET	"/run/systemd/journal/socket"

/* The messages that have our fields: journalctl MESSAGE_ID=... */
#define JOURNALD_ID	"9276c2a6c81c43aab14e0ddac6c5ebaa"

/*
 * Sends "line" with level INFO. For each of its words "name=value" there is a
 * field HAYATE_NAME. "facility" is one of syslog.h. Does not wait. Returns 0,
 * or -1 if nothing was sent: there is no journald, it is busy, or the line is
 * too long or has control characters.
 */
int	journald_send(const char *socket_path, const char *identifier,
    int facility, const char *line);

#endif /* HAYATE_JOURNALD_H */
