/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * clearcli: the client's side of data in clear (cipher/clear.h): when it asks,
 * and what its user is told.
 *
 * Called from patches/240-clientloop-dispatch.patch and 245-ssh-clear.patch.
 */

#ifndef CLEARCLI_HOOK_H
#define CLEARCLI_HOOK_H

struct ssh;

/*
 * The session begins; "have_pty" if the first one is to have a terminal. Asks
 * if NoneSwitch and NoneEnabled say so, and returns when it was answered: one
 * key exchange, in which no data could move anyway. Whatever the answer is,
 * one line on stderr says so, and the session goes on.
 */
void	clearcli_start(struct ssh *, int have_pty);

/* Installs the handlers of a session's messages: clientloop.c's. */
extern void (*const clearcli_dispatch)(struct ssh *);

#endif /* CLEARCLI_HOOK_H */
