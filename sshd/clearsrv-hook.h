/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * clearsrv: the server's side of data in clear (cipher/clear.h): who may, what
 * may not, and the log.
 *
 * It lives in the process that serves the session of one user, after
 * authentication, where the Match blocks are merged.
 *
 * It stands in front of the handlers of SSH2_MSG_CHANNEL_OPEN and
 * SSH2_MSG_GLOBAL_REQUEST, which clearsrv_start() finds in place, and refuses
 * forwardings while data is in clear. A client of ours never asks for one then:
 * it brings encryption back first.
 *
 * Called from patches/250-serverloop-clear.patch, 260-session-clear.patch.
 */

#ifndef CLEARSRV_HOOK_H
#define CLEARSRV_HOOK_H

struct ssh;
struct Authctxt;

/*
 * The session of this user begins, and the handlers of its messages are
 * installed. "authctxt" must stay.
 */
void	clearsrv_start(struct ssh *, const struct Authctxt *);

/*
 * A request on a session channel: 1 if it brings something private while data
 * is in clear, and must fail. If it does while data is encrypted, data stays
 * encrypted.
 */
int	clearsrv_refuses(struct ssh *, const char *type);

/* The connection ends, in whatever way: the last line of the log. */
void	clearsrv_end(struct ssh *);

#endif /* CLEARSRV_HOOK_H */
