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
 * replaces "sampled", also by NULL. Both calls copy MaxRate to STAT_MAX_RATE.
 */
void	stalls_begin(void (*sampled)(struct ssh *, const struct stall_stats *));

/*
 * Takes a sample, which counts in STAT_SAMPLES, and returns a copy of the
 * counters; all 0 before stalls_begin(). Once the connection is closed, returns
 * those of the last sample. Does not call "sampled".
 */
struct stall_stats stalls_read(struct ssh *);

/*
 * Notes for the next poll() whether the channel's peer window is used up, its
 * input is open, and its output holds data, and raises STAT_OWN_WINDOW and
 * STAT_PEER_WINDOW to its windows. Ignores a channel with a terminal, and does
 * nothing before stalls_begin(). Call it for each open channel while
 * channel_prepare_poll() runs: notes made before are lost.
 */
void	stalls_note_channel(const struct Channel *);

/*
 * In place of upstream's channel_prepare_poll() and channel_after_poll(), which
 * these functions call with their arguments, counting or not. The first clears
 * the notes and then decides what this poll() waits for; the second adds the
 * time between both, and may sample and call "sampled" before it handles the
 * channels.
 */
void	stalls_prepare_poll(struct ssh *, struct pollfd **, u_int *, u_int *,
    u_int, struct timespec *);
void	stalls_after_poll(struct ssh *, struct pollfd *, u_int);

#endif /* HAYATE_STALLS_HOOK_H */
