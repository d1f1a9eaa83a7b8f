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
 * Called from patches/250-serverloop-clear.patch, 260-session-clear.patch.
 */

#ifndef CLEARSRV_HOOK_H
#define CLEARSRV_HOOK_H

struct ssh;
struct Authctxt;

/* The session of this user begins. "authctxt" must stay. */
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
