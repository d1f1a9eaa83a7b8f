/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * wtune-hook: where upstream's channels meet the window tuner.
 *
 * Called from patches/110-channels-window.patch and 120-channels-input.patch,
 * once per poll loop and open channel, in the processes that move channel
 * data: ssh's client_loop and sshd-session's server_loop2. Both run after
 * authentication and outside any sandbox. Main thread only.
 */

#ifndef HAYATE_WTUNE_HOOK_H
#define HAYATE_WTUNE_HOOK_H

struct ssh;
struct Channel;

/*
 * Moves the window. Call it before stock decides whether to send
 * SSH2_MSG_CHANNEL_WINDOW_ADJUST, so that the untouched code announces the
 * new window. Does nothing for terminals, X11 and agent channels, with
 * "Hayate no", with "WindowTuning no", or without memory.
 */
void	wtune_channel(struct ssh *, struct Channel *);

/*
 * Writes the line of a window adjust, in stock's words: at -vv the first one
 * and one for each change of the window that the tuner logs, others at -vvv.
 */
void	wtune_log_adjust(const struct Channel *);

/*
 * Stops reading from the local side of a channel that holds a stock window of
 * unsent data: a larger window of the peer is for the path, not for our
 * memory. Call it after stock decided what to wait for. Says once per
 * channel, at -v, that the peer's window limits what is sent. The first call
 * also sets the options of the socket (tcpopt-hook.h).
 */
void	wtune_input(struct ssh *, struct Channel *);

/* Forgets a channel that is being freed. */
void	wtune_channel_free(struct Channel *);

#endif /* HAYATE_WTUNE_HOOK_H */
