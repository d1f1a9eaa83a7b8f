/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * lifecycle-hook: the events in the life of a user's connection, and which
 * modules are called at each.
 *
 *   begin     permits unencrypted data, starts the stall counters and the
 *             session log, sets the IPQoS of Match blocks, and reads the memory
 *             limit of the user's control group (machine-hook.h)
 *   request   may be refused because data is unencrypted; otherwise the session
 *             log notes a shell, a command, X11 or an agent
 *   end       logs the end of unencrypted data, and completes the session log
 *
 * Called from patches/250-serverloop-authonly.patch and
 * 260-session-authonly.patch, in the process that serves the session of one
 * user, after authentication, where the Match blocks are merged. The end is
 * called in the monitor as well.
 */

#ifndef HAYATE_LIFECYCLE_HOOK_H
#define HAYATE_LIFECYCLE_HOOK_H

struct ssh;
struct Authctxt;

/*
 * Call it once, after upstream has installed the handlers of its messages, some
 * of which are replaced by ours, and before its loop. "authctxt" must exist
 * until the process ends. With "Hayate no" IPQoS stays as stock has set it.
 */
void	lifecycle_begin(struct ssh *, const struct Authctxt *);

/*
 * Call it for each request on a session channel, before upstream handles it.
 * "type" is the name of the request.
 *
 * Returns 1 if the request must fail, because it requires encryption and data
 * is unencrypted or may soon be. That is logged, but not shown in the session
 * log.
 *
 * Returns 0 if the request may proceed. If it requires encryption, the function
 * forbids unencrypted data until the connection ends; no key exchange is
 * needed, because data is encrypted at that moment. The session log shows a
 * shell, a command, X11 or an agent, even if upstream refuses the request
 * later. It ignores other types; a subsystem is noted by
 * sessionlog_subsystem().
 */
int	lifecycle_refuses_request(struct ssh *, const char *type);

/*
 * Call it in the process of the user and in the monitor when the connection
 * ends, in whatever way. In the former the function logs the end of unencrypted
 * data, if there is any, and stores the totals for the session log. In the
 * monitor, where lifecycle_begin() has not run, it writes the line of the
 * session log from these totals. More than one call does no harm.
 */
void	lifecycle_end(struct ssh *);

#endif /* HAYATE_LIFECYCLE_HOOK_H */
