/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * stalls-hook: counts what ssh and sshd-session wait for (stall-stats.h).
 *
 * The loops of both poll for whatever they could do next. If they have to wait,
 * what they poll for is what holds them up. When sending, that is the socket if
 * there are packets to write, the peer's window if it is used up, or else the
 * source of the data; when receiving, the consumer of the data or the network.
 * The time of each poll() is added to one counter of receiving and, until all
 * input has ended and is sent, to one of sending. This costs two readings of
 * the clock. TCP_INFO is read at most ten times a second, and by each call of
 * stalls_read().
 *
 * build-aux/overlay.mk replaces the two functions that both loops call around
 * poll() by ours, and wtune_input() reports each channel. All run after
 * authentication and outside any sandbox. Nothing is counted before
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
 * Starts counting. "sampled", if not NULL, is called after poll(), at most ten
 * times a second, with the counters of that moment, even if the connection has
 * no TCP_INFO. A second call restarts STAT_TIME, keeps all other counters and
 * replaces "sampled".
 */
void	stalls_begin(void (*sampled)(struct ssh *, const struct stall_stats *));

/* Returns the counters of this moment; all 0 before stalls_begin(). */
struct stall_stats stalls_read(struct ssh *);

/*
 * Notes what a channel waits for, and raises STAT_OWN_WINDOW and
 * STAT_PEER_WINDOW to its windows; ignores a channel with a terminal. Call it
 * for each open channel while channel_prepare_poll() runs: notes made before
 * are lost.
 */
void	stalls_note_channel(const struct Channel *);

/* Call channel_prepare_poll() and channel_after_poll() and measure between. */
void	stalls_prepare_poll(struct ssh *, struct pollfd **, u_int *, u_int *,
    u_int, struct timespec *);
void	stalls_after_poll(struct ssh *, struct pollfd *, u_int);

#endif /* HAYATE_STALLS_HOOK_H */
