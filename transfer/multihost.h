/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * multihost: files that go over lanes to other hosts than lane 0.
 *
 * What the first host sees is what counts. What such a lane cannot open goes
 * home: it begins once more, over lane 0. A file that is got is looked at right
 * after it is open (OP_FSTAT_IDENTITY). One that is put is looked at when all
 * else is done (OP_STAT_DEST_ON_HOST), over lane 0 and each other host that had
 * a part in it: what the others wrote is where the first host sees it if it
 * sees the same there. What differs goes home. So does what a lost host had a
 * part in: it may have acknowledged what it had in memory only. It may wake up
 * as well, and go on with the file that it has open. So a file that is ours is
 * removed before it begins once more (OP_REMOVE_OWN), over lane 0: what is sent
 * anew is in another one. A file that was there before stays, with its mode and
 * its names.
 *
 * What any lost lane may still change is looked at in the same way when it is
 * done: its size has to be that of the source, and its time what was set. If it
 * is not the time, it is set (OP_SETSTAT) and looked at once more.
 *
 * No I/O, no clock, no upstream header.
 */

#ifndef HAYATE_MULTIHOST_H
#define HAYATE_MULTIHOST_H

#include "sched-action.h"

/* Returns 1 if the file goes over a lane to another host. */
int	multihost_is_other(const struct sched *, const struct sched_entry *);

/* The other hosts do not see it as the first does, which it goes to now. */
void	multihost_restart_on_first(struct sched *, struct sched_entry *);

/*
 * OP_END is the next step of a job. If it has to be looked at before that, the
 * step becomes OP_STAT_DEST_ON_HOST, and multihost_check_next() returns 1 and
 * the next of these requests, or -1 if out of memory. The result of one is
 * RESULT_EOF if only the time differs.
 */
void	multihost_check_before_end(struct sched *, struct sched_entry *);
int multihost_check_next(struct sched *, struct sched_entry *,
    struct sched_action *);
void multihost_reply(struct sched *, struct sched_entry *, enum sched_result);

/*
 * The lane was lost. Returns 1 if nothing else has to be done for the job: it
 * was looked at.
 */
int multihost_conn_lost(struct sched *, struct sched_entry *,
    unsigned int conn);

#endif /* HAYATE_MULTIHOST_H */
