/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * stalls-hook: what ssh and sshd-session wait for, added up (stall-stats.h).
 *
 * The loops of both poll for what they could do. What they poll for when they
 * have to wait is what holds them up: the connection if there are packets to
 * send, the peer's window if it is used up, else who gives the data; and on the
 * other way who takes it. So the time of each poll() is added to one figure of
 * what is sent and one of what is received. That costs two readings of the
 * clock. Ten times a second at most the kernel's view is added.
 *
 * The two functions that both loops call around poll() are replaced by ours in
 * build-aux/overlay.mk, and wtune_input() passes on each channel. They run
 * after authentication and outside any sandbox. Nothing is counted until
 * stalls_begin(). Main thread only.
 */

#ifndef HAYATE_STALLS_HOOK_H
#define HAYATE_STALLS_HOOK_H

#include <sys/types.h>

#include "stall-stats.h"

struct Channel;
struct pollfd;
struct ssh;
struct timespec;

/*
 * From now on it counts. "sampled" is NULL, or is called after each look at the
 * kernel, with the figures of then.
 */
void	stalls_begin(void (*sampled)(struct ssh *, const struct stall_stats *));

/* Returns the figures of now; all are 0 if nothing is counted. */
struct stall_stats stalls_read(struct ssh *);

/* A channel says what it is going to wait for. */
void	stalls_note_channel(const struct Channel *);

/* As channel_prepare_poll() and channel_after_poll(), with these around them */
void	stalls_prepare_poll(struct ssh *, struct pollfd **, u_int *, u_int *,
    u_int, struct timespec *);
void	stalls_after_poll(struct ssh *, struct pollfd *, u_int);

#endif /* HAYATE_STALLS_HOOK_H */
