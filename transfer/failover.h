/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * failover: what becomes of the files whose connection is lost.
 *
 * The requests that were under way on the lane are forgotten, and its ranges
 * are dealt again. A file that had its home there moves to another lane. What
 * had not been opened yet begins with its first request. What was open is
 * opened once more (OP_REOPEN), as it stands, before its next request that
 * needs a handle. A file that is got has to be the same then
 * (OP_FSTAT_IDENTITY). One that is put has to have what was acknowledged, or
 * begins once more; it is written again from the first byte that was not
 * acknowledged, and gets its size and attributes again. A handle that was only
 * to be closed is closed by the loss.
 *
 * What was sent over the lane may still be done, at any time: its server
 * sleeps, or its disk is slow. So nothing is sent there that does harm then.
 * A file is opened there as it stands, or as a new one. It is written over with
 * the same bytes, and cut at most to its size. What changes a file by its name
 * goes over lane 0. That leaves the file's time, which multihost.h looks at.
 *
 * Lane 0 is never lost: with it the transfer ends.
 *
 * No I/O, no clock, no upstream header.
 */

#ifndef HAYATE_FAILOVER_H
#define HAYATE_FAILOVER_H

#include "sched-action.h"

void	failover_conn_lost(struct sched *, unsigned int conn);

/*
 * The next step of a file needs a handle, which was lost: changes the step to
 * what comes first. Returns 1 if nothing has to be sent for it.
 */
int	failover_precedes(struct sched *, struct sched_entry *);

/*
 * A reply to OP_REOPEN, or to OP_FSTAT_IDENTITY on the lane of the file.
 * Returns 1 if the file is sent anew, so that a failure is none.
 */
int	failover_reply(struct sched *, struct sched_entry *, enum sched_op,
    enum sched_result);

#endif /* HAYATE_FAILOVER_H */
