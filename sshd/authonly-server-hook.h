/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * authonly-server-hook: the server's side of unencrypted data
 * (cipher/authonly.h). It permits the mode, refuses private requests while it
 * is in force, and logs both.
 *
 * It replaces the handlers of SSH2_MSG_CHANNEL_OPEN and SSH2_MSG_GLOBAL_REQUEST
 * by its own. While data is unencrypted, or may soon be, these refuse the types
 * that authonly_classify_channel() and authonly_classify_global() call private:
 * forwardings, and types that they do not know. For all other messages they
 * call the replaced handlers. A Hayate client never requests a forwarding then:
 * it restores encryption first.
 *
 * Called by lifecycle-hook.c, in the process that serves the session of one
 * user, after authentication. Main thread only.
 */

#ifndef HAYATE_AUTHONLY_SERVER_HOOK_H
#define HAYATE_AUTHONLY_SERVER_HOOK_H

struct ssh;
struct Authctxt;

/*
 * Starts the modes for this user (authonly_start()) and replaces the handlers.
 * Call it after upstream has installed its own. "authctxt" must exist until the
 * process ends.
 */
void	authonly_server_start(struct ssh *, const struct Authctxt *);

/*
 * Call it after authonly_server_start(), for each request on a session channel.
 * Returns 1 if the request has to fail, because it is private and data is
 * unencrypted or may soon be. A private request while data is encrypted is
 * allowed, and data stays encrypted then.
 */
int	authonly_server_refuses_request(struct ssh *, const char *type);

/* Call it when the connection ends: logs the end of a mode in force. */
void	authonly_server_log_end(struct ssh *);

#endif /* HAYATE_AUTHONLY_SERVER_HOOK_H */
