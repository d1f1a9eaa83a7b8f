/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * sessionlog-hook: one line in the log when a connection ends: who moved how
 * much, how, for how long, and what limited it.
 *
 *   Session 1: user=alice from=192.0.2.7 port=50022 what=sftp,forwarding
 *   sent=536870912 received=91833 seconds=61.2 cipher=aes128-gcm@openssh.com
 *   clear=no rtt_ms=100.2 min_rtt_ms=100.0 resent=12 window=14680064
 *   limit=path share=93
 *
 * It is one line. The number is the version of the format: fields keep their
 * names, their order and their meaning, and new ones come at the end. A space,
 * control character, quotation mark or equals sign in a value is written as
 * "_". What is not known is "-".
 *
 *   what      shell, exec, the name of a subsystem, forwarding (of ports and
 *             sockets), x11, agent (what the client asked for), in the order in
 *             which each came first; "none"
 *   sent      bytes of the connection, from here; likewise received
 *   cipher    of what is sent, at the end
 *   clear     whether data is in clear at the end
 *   rtt_ms    mean of what the kernel said, and its least
 *   resent    TCP segments
 *   window    bytes: the largest that a channel was offered
 *   limit     as this end sees it alone (verdict.h), with its percentage
 *
 * The level is INFO, as of "Accepted". SessionLog no: no line. Where sshd logs
 * to syslog and systemd's journald listens, the line goes there, with its
 * fields (journald.h), and else to syslog.
 */

#ifndef HAYATE_SESSIONLOG_HOOK_H
#define HAYATE_SESSIONLOG_HOOK_H

struct ssh;
struct Authctxt;

/* "authctxt" must exist until the process ends. */
void	sessionlog_begin(struct ssh *, const struct Authctxt *);

/* A request on a session channel, or the name of a configured subsystem */
void	sessionlog_request(const char *type);
void	sessionlog_subsystem(const char *name);

/* Writes the line, once. */
void	sessionlog_end(struct ssh *);

#endif /* HAYATE_SESSIONLOG_HOOK_H */
