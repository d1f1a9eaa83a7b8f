/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * wtune-hook: applies the window tuner (wtune.h) to upstream's channels.
 *
 * Called from patches/110-channels-window.patch and 120-channels-input.patch,
 * once per poll loop and open channel, wtune_channel() also when data was
 * written through (bulk-hook.h), in the processes that move channel data: ssh's
 * client_loop and sshd-session's server_loop2. Both run after authentication
 * and outside any sandbox. Main thread only.
 */

#ifndef HAYATE_WTUNE_HOOK_H
#define HAYATE_WTUNE_HOOK_H

struct ssh;
struct Channel;

/*
 * Grows or withholds the receive window of a channel. Call it before stock
 * decides whether to send SSH2_MSG_CHANNEL_WINDOW_ADJUST, so that the untouched
 * code announces the new window. Does nothing for terminals, X11 and agent
 * channels, and channels with a window below 2 MiB, with "Hayate no" or
 * "WindowTuning no", or out of memory. Also frees memory of the output of the
 * channel, and enlarges its pipe at a backlog of more than 64 KiB.
 */
void	wtune_channel(struct ssh *, struct Channel *);

/*
 * Logs a window adjust that is being sent, in stock's words, at -vv. If the
 * window of the channel is tuned, only the first one and the first after each
 * logged change of the window are logged at -vv, and all others at -vvv.
 */
void	wtune_log_adjust(const struct Channel *);

/*
 * Stops reading from the local side of a channel that has a stock window (2
 * MiB) of unsent data queued: a larger window of the peer is meant for the
 * path, not for our memory. Call it for each channel and poll(), after stock
 * has decided what to wait for. Does nothing with "Hayate no".
 *
 * Also reports the channel to stalls-hook.h, limits the unsent bytes in the
 * kernel, logs once per channel at -v if the peer's window limits what is sent,
 * and sets the options of the socket at the first call (tcpopt-hook.h).
 */
void	wtune_input(struct ssh *, struct Channel *);

/* Call it when a channel is freed: frees its state. */
void	wtune_channel_free(struct Channel *);

#endif /* HAYATE_WTUNE_HOOK_H */
