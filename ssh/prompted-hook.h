/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * prompted-hook: whether the user had to type something for a login, and would
 * have to again: a password, an answer, a passphrase or a PIN.
 *
 * Such a login is not repeated for an additional connection: the server would
 * refuse it, and after some refusals it blocks the address and all who share
 * it.
 *
 * The methods "password" and "keyboard-interactive" count as soon as they are
 * tried, even if nothing is typed, as with a message to a telephone. A key
 * counts if the user typed something that was not shown and not empty. An ssh
 * to a jump host, and a helper for keys on a card, are processes of their own.
 * They find the pipe of the ssh that waits for them in the environment
 * (HAYATE_ASKED), open it through /proc, and write a byte.
 *
 * build-aux/overlay.mk gives upstream's read_passphrase() another name, so that
 * ours is called in its place, and lets upstream's sshconnect2.c call
 * prompted_put_cstring(). Linux only: elsewhere no ssh starts another one. Main
 * thread only.
 */

#ifndef HAYATE_PROMPTED_HOOK_H
#define HAYATE_PROMPTED_HOOK_H

/*
 * In ssh, before it connects: makes the pipe if standard input is a socket,
 * which tells an ssh that scp has started from one to a jump host. Without a
 * pipe, other processes do not count.
 */
void	prompted_begin(void);

/*
 * In ssh, at any time: returns 1 if the user has been needed so far; else 0.
 */
int	prompted_user(void);

#endif /* HAYATE_PROMPTED_HOOK_H */
