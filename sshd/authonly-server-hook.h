/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * authonly-server-hook: the server's side of data in clear (cipher/authonly.h).
 * It permits the mode, refuses what is private meanwhile, and logs both.
 *
 * It is used in the process that serves the session of one user, after
 * authentication, where the Match blocks are merged.
 *
 * It replaces the handlers of SSH2_MSG_CHANNEL_OPEN and SSH2_MSG_GLOBAL_REQUEST
 * with its own, which refuse forwardings while data is in clear, and otherwise
 * call the handlers that they replaced. A Hayate client never requests a
 * forwarding then: it restores encryption first.
 *
 * Called by lifecycle-hook.c.
 */

#ifndef HAYATE_AUTHONLY_SERVER_HOOK_H
#define HAYATE_AUTHONLY_SERVER_HOOK_H

struct ssh;
struct Authctxt;

/*
 * The session of this user begins. Upstream has installed the handlers of its
 * messages. "authctxt" must exist until the process ends.
 */
void	authonly_server_start(struct ssh *, const struct Authctxt *);

/*
 * A request on a session channel. Returns 1 if it is private while data is in
 * clear: the request has to fail. A private request that comes while data is
 * encrypted is allowed, and data stays encrypted.
 */
int	authonly_server_refuses_request(struct ssh *, const char *type);

/* The connection ends, in whatever way: logs the end of a mode in force. */
void	authonly_server_log_end(struct ssh *);

#endif /* HAYATE_AUTHONLY_SERVER_HOOK_H */
