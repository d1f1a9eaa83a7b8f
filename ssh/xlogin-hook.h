/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * xlogin-hook: ssh starts a further ssh, for one more connection to the same
 * server, as scp -j asks for.
 *
 * It has the arguments of this one, and before them those that keep it quiet:
 * it asks the user for nothing, neither at a terminal nor elsewhere, shares no
 * connection, and starts none of its own. A server that wants an answer from
 * the user refuses it, and it ends. Only scp says when the next one is started,
 * so at most one of them is not authenticated.
 *
 * Called by xserve-hook.c, in ssh. Main thread only.
 */

#ifndef HAYATE_XLOGIN_HOOK_H
#define HAYATE_XLOGIN_HOOK_H

/*
 * The socket becomes standard input and output of the new process; it remains
 * the caller's. Returns 0, or -1 if no process could be started.
 */
int	xlogin_start(int sock);

#endif /* HAYATE_XLOGIN_HOOK_H */
