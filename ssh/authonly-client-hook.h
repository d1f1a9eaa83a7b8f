/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * authonly-client: the client's side of data in clear (cipher/authonly.h): when it asks,
 * and what its user is told.
 *
 * Called from patches/240-clientloop-dispatch.patch and 245-ssh-authonly.patch.
 */

#ifndef HAYATE_AUTHONLY_CLIENT_HOOK_H
#define HAYATE_AUTHONLY_CLIENT_HOOK_H

struct ssh;

/*
 * The session begins; "have_pty" if the first one is to have a terminal,
 * "detaches" if that one comes back as a client of this process. Asks if
 * NoneSwitch and NoneEnabled say so, and returns when it was answered, see
 * authonly_ask(); no data could move meanwhile. Whatever the answer is, one line
 * on stderr says so, and the session goes on.
 */
void	authonly_client_start(struct ssh *, int have_pty, int detaches);

/*
 * For authonly-mux-hook.c: whether this process asked for its connection; the line
 * that says why data stays encrypted, unless this process has said what becomes
 * of it; whether it has.
 */
int	authonly_client_asked(void);
void	authonly_client_stays(const char *reason);
int	authonly_client_told(void);

/* Installs the handlers of a session's messages: clientloop.c's. */
extern void (*const authonly_client_dispatch)(struct ssh *);

#endif /* HAYATE_AUTHONLY_CLIENT_HOOK_H */
