/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * early-input-hook: for the scp or sftp that started this ssh, what it sends
 * goes out as soon as it can, and ssh ends when it has ended.
 *
 * INIT, and the requests that scp knows (opening-hook.h), go out behind the
 * command: behind the signature if the session is opened there, and otherwise
 * with the first window. The server must be one that takes an early session; it
 * has the command before the data, and thereby a window of 2 MiB, from which
 * they are subtracted when it is announced. What went out with a signature that
 * was refused goes out again.
 *
 * scp and sftp close their socket when they have the reply to all that they
 * have asked for. So ssh does not wait for the end of the SFTP server either.
 * It says that it disconnects, with exit status 0.
 *
 * Called by early-session-hook.c and serve-hook.c. Main thread only.
 */

#ifndef HAYATE_EARLY_INPUT_HOOK_H
#define HAYATE_EARLY_INPUT_HOOK_H

struct ssh;

/* The session was opened early, with its command: sends what is there. */
void	early_input_send(struct ssh *);

/* It was confirmed. */
void	early_input_confirmed(struct ssh *);

/* It is opened again, because the server did not take it. */
void	early_input_refused(struct ssh *);

/* The first session was opened, early or not. */
void	early_input_begin(struct ssh *);

#endif /* HAYATE_EARLY_INPUT_HOOK_H */
