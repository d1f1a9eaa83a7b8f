/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * stall-stats-hook: sshd sends a client its stall counters (PROTOCOL, section
 * 6), so that the client can find the bottleneck of a download.
 *
 * It answers only after login, only a Hayate client, and only about its own
 * connection. "TellLimits no" and "Hayate no" switch it off. The counters are
 * no secret of the user, so unencrypted data may contain them.
 */

#ifndef HAYATE_STALL_STATS_HOOK_H
#define HAYATE_STALL_STATS_HOOK_H

struct ssh;

/*
 * Starts counting, and answers the global request STALL_STATS_REQUEST from now
 * on; does nothing if that is switched off or the client is not Hayate. Call it
 * when the loop of a session begins, after authonly_server_start(): it replaces
 * that function's handler, which refuses the request while data is in clear.
 */
void	stall_stats_serve(struct ssh *);

#endif /* HAYATE_STALL_STATS_HOOK_H */
