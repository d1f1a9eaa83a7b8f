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
 * Grows or withholds the receive window of a channel: changes local_window_max
 * and local_consumed by the same amount. Call it before stock decides whether
 * to send SSH2_MSG_CHANNEL_WINDOW_ADJUST, so that the untouched code announces
 * the new window. The window is at most WindowMax, and at most 14 MiB for a
 * peer that is not Hayate; windows grow only as far as WindowMemoryMax allows
 * their sum.
 *
 * Does nothing for terminals, X11 and agent channels, and channels with a
 * window below 2 MiB, with "Hayate no" or "WindowTuning no", if nothing has
 * arrived since the last adjust, or out of memory, with a line at -v. Otherwise
 * logs changes at -vv and samples at -vvv, frees memory of the channel's
 * consumed output, and enlarges its pipe at the first backlog of more than 64
 * KiB.
 */
void	wtune_channel(struct ssh *, struct Channel *);

/*
 * Returns how many bytes of the window the peer may use before a window adjust
 * is due: three times the packet size that we announced for the channel, which
 * counts as 32 KiB if it is more; or a 16th of a window that is held because of
 * a queue (standing-queue.h), if that is less. The adjust is due even if our
 * reader has not consumed all of these bytes. Independently of this number,
 * stock also sends an adjust when half of the window is used.
 */
u_int	wtune_adjust_step(const struct Channel *);

/*
 * Logs a window adjust that is being sent, in stock's words, at -vv. If the
 * window of the channel is tuned, only the first one and the first after each
 * logged change of the window are logged at -vv, and all others at -vvv.
 */
void	wtune_log_adjust(const struct Channel *);

/*
 * Stops reading from the local side of a channel while a stock window (2 MiB)
 * of its data is queued and unsent; standard error counts apart from the rest.
 * The reason: a larger window of the peer is meant for the path, not for our
 * memory. Call it for each channel and poll(), after stock has decided what to
 * wait for: it only clears bits of io_want. Does nothing with "Hayate no".
 *
 * Also sets the options of the socket at the first call (tcpopt-hook.h),
 * reports the channel to stalls-hook.h, and limits the unsent bytes in the
 * kernel to 10 ms of the path's rate, from 128 KiB to 16 MiB. Logs once per
 * channel, at -v in ssh and LogLevel DEBUG1 in sshd, if the peer's window
 * limits what is sent.
 */
void	wtune_input(struct ssh *, struct Channel *);

/*
 * Call it when a channel is freed, before its number is used again: frees its
 * state, and its window no longer counts for WindowMemoryMax. Does nothing for
 * a channel that was never tuned.
 */
void	wtune_channel_free(struct Channel *);

#endif /* HAYATE_WTUNE_HOOK_H */
