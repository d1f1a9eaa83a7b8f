/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * stall-stats-hook: sshd tells a client what this session waits for (PROTOCOL,
 * section 6), so that the client can say what limits a download.
 *
 * Only where a user is logged in, only to a Hayate, and only of this one
 * connection. "TellLimits no" and "Hayate no" switch it off, and then nothing
 * is counted. It needs no cipher: nothing of what is told is a secret of the
 * user.
 *
 * Called by lifecycle-hook.c when the loop of a session begins.
 */

#ifndef HAYATE_STALL_STATS_HOOK_H
#define HAYATE_STALL_STATS_HOOK_H

struct ssh;

void	stall_stats_serve(struct ssh *);

#endif /* HAYATE_STALL_STATS_HOOK_H */
