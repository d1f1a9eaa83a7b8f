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
 *             log notes it
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
 * Returns 1 if it must fail, because it requires encryption and data is
 * unencrypted or may soon be; that is logged, but not shown in the session log.
 * If it requires encryption and may proceed, data is encrypted already, and
 * stays so until the connection ends; no key exchange is started. Otherwise
 * returns 0; the session log shows the request even if upstream refuses it
 * later.
 */
int	lifecycle_refuses_request(struct ssh *, const char *type);

/*
 * Call it when the connection ends, in whatever way. Logs the end of
 * unencrypted data, if there is any, and stores the totals for the session log.
 * Call it in the monitor as well, where lifecycle_begin() has not run: it
 * writes the line of the session log there, from what the process of the user
 * has stored. More than one call does no harm.
 */
void	lifecycle_end(struct ssh *);

#endif /* HAYATE_LIFECYCLE_HOOK_H */
