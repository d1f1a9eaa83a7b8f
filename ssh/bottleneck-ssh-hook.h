/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * bottleneck-ssh-hook: ssh determines what limits the data that it moves.
 *
 * ssh counts its own stalls (stalls-hook.h). While data moves, it requests the
 * statistics of a server that has them, at most twice a second (PROTOCOL,
 * section 6), until a request is refused. The scp or sftp that started ssh
 * receives both through shared memory and reports the bottleneck; when a copy
 * begins, scp sets a tag (ring.h), at which ssh starts a new measurement. An
 * ssh with a command reports at its end, unless the session has a terminal or
 * data went both ways: at -v, or at the normal level if the result is new
 * (bottleneck.h), is not the program at one end, and standard error is a
 * terminal. At -v a line "path:" precedes it, with RTT and loss, for
 * hayate-path.
 *
 * Nothing is counted with "Hayate no", in either process of a shared connection
 * (ControlMaster), and without a session.
 *
 * Main thread only.
 */

#ifndef HAYATE_BOTTLENECK_SSH_HOOK_H
#define HAYATE_BOTTLENECK_SSH_HOOK_H

struct ssh;

/*
 * Call it once, when the first session was opened, before the loop: starts the
 * measurement, or does nothing where nothing is counted.
 */
void	bottleneck_ssh_begin(struct ssh *);

/*
 * In place of upstream's channel_free_all() when the loop has ended: reports
 * the bottleneck if this ssh has to, and then, always, calls
 * early_requests_ssh_end() and channel_free_all().
 */
void	bottleneck_ssh_free_all(struct ssh *);

#endif /* HAYATE_BOTTLENECK_SSH_HOOK_H */
