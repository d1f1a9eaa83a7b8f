/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * authonly-server-hook: the server's side of unencrypted data
 * (cipher/authonly.h). The module permits the modes, and refuses private
 * requests while a mode is in force. At LogLevel INFO it logs the beginning and
 * the end of unencrypted data, with bytes and seconds; each refused message;
 * and the first refusal of a mode on a connection, with the reason.
 *
 * The module replaces the handlers of SSH2_MSG_CHANNEL_OPEN and
 * SSH2_MSG_GLOBAL_REQUEST by its own. While data is unencrypted, or may soon
 * be, these refuse the types that authonly_classify_channel() and
 * authonly_classify_global() call private: forwardings, and types that they do
 * not know. The client gets SSH2_MSG_CHANNEL_OPEN_FAILURE (administratively
 * prohibited) or, if it wants a reply, SSH2_MSG_REQUEST_FAILURE, and the
 * connection goes on. For all other messages our handlers call the replaced
 * ones. Once a forwarding was permitted, data stays encrypted until the
 * connection ends, even if the forwarding ends before: its channel or listener
 * calls authonly_encrypt_before_channel(). A Hayate client never requests a
 * forwarding while data is unencrypted: it restores encryption first.
 *
 * Data may soon be unencrypted while a key exchange is in progress in which our
 * proposal names a mode (authonly_in_force_or_pending()).
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
 * No mode begins before the client asks for it. Call it once, after upstream
 * has installed its own handlers, also with "Hayate no" or "NoneEnabled no":
 * each mode is refused then. "authctxt" must exist until the process ends.
 */
void	authonly_server_start(struct ssh *, const struct Authctxt *);

/*
 * Call it after authonly_server_start(), for each request on a session channel.
 * Returns 1, with a line in the log, if the request has to fail, because it is
 * private and data is unencrypted or may soon be. Returns 0 if the request is
 * allowed; if it is private, data then stays encrypted until the connection
 * ends. Types that authonly_classify_request() does not know are private. Sends
 * nothing; the caller replies.
 */
int	authonly_server_refuses_request(struct ssh *, const char *type);

/*
 * Call it when the connection ends: logs the end of a mode in force, once. Does
 * nothing if there is none, or before authonly_server_start().
 */
void	authonly_server_log_end(struct ssh *);

#endif /* HAYATE_AUTHONLY_SERVER_HOOK_H */
