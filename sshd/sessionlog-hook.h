/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * sessionlog-hook: one line in the log when a connection ends on which a user
 * has logged in: who transferred how much, how, for how long, and what limited
 * the rate.
 *
 *   Session 1: user=alice from=192.0.2.7 port=50022 what=sftp,forwarding
 *   sent=536870912 received=91833 seconds=61.2 cipher=aes128-gcm@openssh.com
 *   clear=no rtt_ms=100.2 min_rtt_ms=100.0 resent=12 window=14680064
 *   limit=path share=93 end=closed granted=0 refused=0
 *
 * This is one line. The number is the version of the format: fields keep their
 * names, their order and their meaning, and new ones are added at the end. A
 * space, control character, quotation mark or equals sign in a value is written
 * as "_", and so is a comma in the name of a subsystem. A value that is not
 * known is "-".
 *
 *   user      the login name; "from" and "port" are the client's address
 *   what      a list of all that the client has requested, in order of the
 *             first request, each once: shell, exec, forwarding, x11, agent,
 *             and names of subsystems; "none" if the list is empty.
 *             "forwarding": the client asked for a channel other than a
 *             session, or asked sshd to listen, even if that was refused.
 *             The name of a subsystem is cut to 32 bytes, "unknown" if the
 *             subsystem is not configured, and left out if the list has 11
 *             entries, of whatever kind, already
 *   sent      bytes of all packets of the connection that sshd has sent,
 *             without their MACs; "received" likewise
 *   seconds   since the user was authenticated
 *   cipher    for sending, at the end
 *   clear     whether data is unencrypted at the end
 *   rtt_ms    mean of the kernel's RTT; "min_rtt_ms" is the smallest
 *   resent    TCP segments that were retransmitted
 *   window    bytes: the largest receive window of a channel
 *   limit     the bottleneck as this end alone sees it (bottleneck.h); "-"
 *             unless one direction has carried less than a quarter of the
 *             bytes that the other has carried
 *   share     percent of the time during which this was the bottleneck
 *   end       "closed", or "killed" if a signal ended the process of the
 *             user. If killed, "sent" and "received" are the kernel's
 *             counts, and all fields from "cipher" to "share" are "-"
 *   granted   how often unencrypted data began
 *   refused   1 if unencrypted data was requested and refused, otherwise 0
 *
 * The monitor writes the line, as root, so a user can neither suppress the line
 * nor change it. The events are counted by the process of the user, in memory
 * that only these two share. So a user who takes over that process through a
 * flaw can forge the fields after "port", but not "seconds".
 *
 * The level is INFO, as that of "Accepted". With "SessionLog no" or "Hayate no"
 * there is no line. If sshd logs to syslog and systemd's journald is running,
 * the line goes to journald with its fields (journald.h). Otherwise the line
 * goes where sshd's other messages go: syslog, standard error or a file.
 */

#ifndef HAYATE_SESSIONLOG_HOOK_H
#define HAYATE_SESSIONLOG_HOOK_H

struct Authctxt;
struct ssh;

/*
 * For the monitor. sessionlog_share() creates the shared memory, or ends the
 * process if there is none; call it before the fork. With "SessionLog no" or
 * "Hayate no" it creates none, and all functions below do nothing.
 * sessionlog_watch() notes the connection and the time, and has the line
 * written at exit(); call it once, after the fork. "authctxt" must exist, and
 * the socket of the connection stay open, until the process ends.
 */
void	sessionlog_share(void);
void	sessionlog_watch(struct ssh *, const struct Authctxt *);

/*
 * For the process of the user. sessionlog_begin() starts counting
 * (stalls_begin()); call it once, before the loop, and after upstream and the
 * other hooks have installed the handlers of messages. It replaces those of
 * CHANNEL_OPEN and GLOBAL_REQUEST by handlers that note forwardings and call
 * the replaced ones.
 */
void	sessionlog_begin(struct ssh *);

/*
 * Call sessionlog_request() for each request on a session channel, but not if
 * the request is refused because data is unencrypted. "type" is its name in the
 * protocol, such as "x11-req"; requests that "what" does not list are ignored.
 * For a subsystem it does nothing: call sessionlog_subsystem() with the name,
 * or with "unknown" if no such subsystem is configured. The names are copied.
 */
void	sessionlog_request(const char *type);
void	sessionlog_subsystem(const char *name);

/*
 * Call it with 1 each time that unencrypted data begins. Call it with 0 only
 * the first time that unencrypted data is refused, because each call is
 * counted.
 */
void	sessionlog_cleartext(int is_granted);

/*
 * Call it when either process ends. The process of the user stores the totals,
 * and the monitor writes the line; each does so only once, so later calls do
 * nothing. If the process of the user ends without this call, it counts as
 * killed.
 */
void	sessionlog_end(struct ssh *);

#endif /* HAYATE_SESSIONLOG_HOOK_H */
