/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * lifecycle-hook: the moments of a connection that sshd serves for a user, and
 * which modules hear of each.
 *
 *   begin     data in clear, the figures, the log, and IPQoS of a Match block
 *   request   data in clear may refuse it; the log notes it
 *   end       what is in clear ends; the log says what the connection was
 *
 * Called from patches/250-serverloop-authonly.patch and
 * 260-session-authonly.patch, in the process that serves the session of one
 * user, after authentication, where the Match blocks are merged.
 */

#ifndef HAYATE_LIFECYCLE_HOOK_H
#define HAYATE_LIFECYCLE_HOOK_H

struct ssh;
struct Authctxt;

/*
 * Upstream has installed the handlers of its messages. "authctxt" must exist
 * until the process ends.
 */
void	lifecycle_begin(struct ssh *, const struct Authctxt *);

/* A request on a session channel. Returns 1 if it has to fail. */
int	lifecycle_refuses_request(struct ssh *, const char *type);

/* The connection ends, in whatever way. Called once. */
void	lifecycle_end(struct ssh *);

#endif /* HAYATE_LIFECYCLE_HOOK_H */
