/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * stall-stats-hook: sshd sends a client its stall counters (PROTOCOL, section
 * 6), so that the client can find the bottleneck of a download.
 *
 * sshd answers only after login, only a Hayate client
 * (PEER_VERSION_STALL_STATS), and only about its own connection. "TellLimits
 * no" and "Hayate no" switch it off; upstream then refuses the request. The
 * counters are no secret of the user, so unencrypted data may contain them.
 * Main thread only.
 */

#ifndef HAYATE_STALL_STATS_HOOK_H
#define HAYATE_STALL_STATS_HOOK_H

struct ssh;

/*
 * Starts counting (stalls_begin()), and answers the global request
 * STALL_STATS_REQUEST from now on, if it wants a reply; a truncated one ends
 * the connection. Does nothing if that is switched off or the client is not
 * Hayate.
 *
 * Call it once, when the loop of a session begins, after
 * authonly_server_start(). That function's handler would refuse the request
 * while data is unencrypted, so ours takes its place, and passes all other
 * requests to it.
 */
void	stall_stats_serve(struct ssh *);

#endif /* HAYATE_STALL_STATS_HOOK_H */
