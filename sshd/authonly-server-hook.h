/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * authonly-server: the server's side of data in clear (cipher/authonly.h): who may, what
 * may not, and the log.
 *
 * It lives in the process that serves the session of one user, after
 * authentication, where the Match blocks are merged.
 *
 * It stands in front of the handlers of SSH2_MSG_CHANNEL_OPEN and
 * SSH2_MSG_GLOBAL_REQUEST, which authonly_server_start() finds in place, and refuses
 * forwardings while data is in clear. A client of ours never asks for one then:
 * it brings encryption back first.
 *
 * Called from patches/250-serverloop-authonly.patch, 260-session-authonly.patch.
 */

#ifndef HAYATE_AUTHONLY_SERVER_HOOK_H
#define HAYATE_AUTHONLY_SERVER_HOOK_H

struct ssh;
struct Authctxt;

/*
 * The session of this user begins, and the handlers of its messages are
 * installed. "authctxt" must stay.
 */
void	authonly_server_start(struct ssh *, const struct Authctxt *);

/*
 * A request on a session channel: 1 if it brings something private while data
 * is in clear, and must fail. If it does while data is encrypted, data stays
 * encrypted.
 */
int	authonly_server_refuses(struct ssh *, const char *type);

/* The connection ends, in whatever way: the last line of the log. */
void	authonly_server_end(struct ssh *);

#endif /* HAYATE_AUTHONLY_SERVER_HOOK_H */
