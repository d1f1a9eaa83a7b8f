/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * bottleneck-ssh-hook: ssh finds out what limits the data that it moves.
 *
 * It counts its own waits (stalls-hook.h). While data moves it asks a server
 * that knows of it for its own, twice a second at most (PROTOCOL, section 6).
 * The scp or sftp that started it gets both by the memory that they share, and
 * says what they mean; it sets a mark when a copy begins, which begins a new
 * span here. An ssh with a command says so itself at its end: at -v, or if it
 * is news (bottleneck.h), standard error is a terminal and -q is not given.
 *
 * Nothing is counted with "Hayate no", in a process that uses the connection of
 * another (ControlMaster), and without a session. What goes over a terminal is
 * no copy.
 *
 * Main thread only.
 */

#ifndef HAYATE_BOTTLENECK_SSH_HOOK_H
#define HAYATE_BOTTLENECK_SSH_HOOK_H

struct ssh;

/* The first session was opened. */
void	bottleneck_ssh_begin(struct ssh *);

/* As channel_free_all(), when the loop has ended */
void	bottleneck_ssh_free_all(struct ssh *);

#endif /* HAYATE_BOTTLENECK_SSH_HOOK_H */
