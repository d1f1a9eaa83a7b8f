/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * bottleneck-ssh-hook: ssh determines what limits the data that it moves.
 *
 * ssh counts its own stalls (stalls-hook.h). While data moves, it also requests
 * the statistics of a server that has them, at most twice a second in one
 * measurement (PROTOCOL, section 6), until the server refuses a request.
 *
 * If scp or sftp started this ssh, ssh puts the counters of both ends into
 * shared memory, and that program reports the bottleneck. It changes a tag
 * (ring.h) when a copy begins; ssh then starts a new measurement.
 *
 * Any other ssh reports the bottleneck itself when its session ends, with or
 * without a command. It reports nothing if the session has a terminal or is a
 * subsystem. A report also requires that one direction carried less than a
 * quarter of the bytes of the other (bottleneck_is_one_way()). The result is
 * one line of the log, at -v. The user sees the line without -v if all of these
 * are true: standard error is a terminal, the copy was slow
 * (bottleneck_is_notable()), and the bottleneck is neither of the programs that
 * supply and consume the data. At -v a line "path:" with RTT and loss precedes
 * the result, for hayate-path.
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
 * Call it once, before the loop, after upstream has opened the first session or
 * if it opens none. Starts the measurement, or does nothing where nothing is
 * counted.
 */
void	bottleneck_ssh_begin(struct ssh *);

/*
 * In place of upstream's channel_free_all() when the loop has ended: reports
 * the bottleneck if this ssh has to, and then, always, calls
 * early_requests_ssh_end() and channel_free_all().
 */
void	bottleneck_ssh_free_all(struct ssh *);

#endif /* HAYATE_BOTTLENECK_SSH_HOOK_H */
