/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * prompted-hook: whether a login needed something of the user that nobody gives
 * a second time: a password, an answer, or a passphrase or PIN that was typed
 * in.
 *
 * Such a login is not made again for scp -j: it would be refused, the server
 * counts what it refuses, and soon shuts out the address and all behind it.
 *
 * The methods "password" and "keyboard-interactive" always need the user, even
 * where nothing is typed, as with a message to a telephone. That such a method
 * was tried counts. A key needs the user if something was typed unseen that was
 * not empty. A jump host is logged in to by an ssh of its own, which writes a
 * byte into a pipe of the ssh that waits for it; so does a helper of keys on a
 * card. They find the pipe in the environment and open it through /proc.
 *
 * build-aux/overlay.mk gives upstream's read_passphrase() another name, so that
 * ours is called in its place, and lets upstream's sshconnect2.c call
 * prompted_put_cstring(). Linux only: elsewhere there is no further login.
 */

#ifndef HAYATE_PROMPTED_HOOK_H
#define HAYATE_PROMPTED_HOOK_H

/*
 * In ssh, before it connects: makes the pipe if scp may have started this. A
 * jump host's ssh has no socket as its standard input.
 */
void	prompted_begin(void);

/* In ssh, after the login: returns 1 if the user was needed. */
int	prompted_user(void);

#endif /* HAYATE_PROMPTED_HOOK_H */
