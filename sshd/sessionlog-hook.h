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
 *   limit=path share=93 end=closed granted=0 refused=0
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
 *   limit     as this end sees it alone (bottleneck.h), with its percentage
 *   end       closed, or killed: by a signal, and then "sent" and "received"
 *             are what the kernel counted, and how it was is not known
 *   granted   so often data in clear began
 *   refused   1 if it was asked for and refused
 *
 * The monitor writes it, which is root's: a user can neither keep the line back
 * nor change it. What happened is counted by the process of the user, in memory
 * that only these two have. So a user who takes over this process by a flaw of
 * it can make up what follows "what".
 *
 * The level is INFO, as of "Accepted". SessionLog no: no line. Where sshd logs
 * to syslog and systemd's journald listens, the line goes there, with its
 * fields (journald.h), and else to syslog.
 */

#ifndef HAYATE_SESSIONLOG_HOOK_H
#define HAYATE_SESSIONLOG_HOOK_H

struct Authctxt;
struct ssh;

/*
 * In the monitor (monitor-hook.h): before the process of the user begins, and
 * beside it. "authctxt" must exist until the process ends.
 */
void	sessionlog_share(void);
void	sessionlog_watch(struct ssh *, const struct Authctxt *);

/* In the process of the user */
void	sessionlog_begin(struct ssh *);

/* A request on a session channel, or the name of a configured subsystem */
void	sessionlog_request(const char *type);
void	sessionlog_subsystem(const char *name);

/* Data in clear began, or was refused. */
void	sessionlog_cleartext(int is_granted);

/* In both: the process of the user tells, and the monitor writes the line. */
void	sessionlog_end(struct ssh *);

#endif /* HAYATE_SESSIONLOG_HOOK_H */
