/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * multihost: files that go over connections to other hosts than that of the
 * main connection.
 *
 * Host 0 is authoritative. If another host cannot open the file, the transfer
 * restarts over the main connection. A download is checked right after it is
 * open (OP_FSTAT_IDENTITY). An upload is checked when all else is done
 * (OP_STAT_DEST_ON_HOST), over the main connection and one to each other host
 * that was involved: what the others wrote is where host 0 sees it if all see
 * the same file. A mismatch restarts the file.
 *
 * The file also restarts if a host that was involved is lost. That host may
 * have acknowledged data that was in its memory only. It may also resume later
 * and execute requests that were in flight when it was declared lost. So a
 * target that nobody else made is removed over the main connection before the
 * restart (OP_REMOVE_OWN), and late requests change the removed file. A target
 * that existed before stays, with its mode and its hard links.
 *
 * If requests to any lost connection could still modify the file, its size and
 * mtime are verified in the same way once the transfer is complete. A wrong
 * mtime is set again (OP_SETSTAT), and verified again.
 *
 * No I/O, no clock, no upstream header.
 */

#ifndef HAYATE_MULTIHOST_H
#define HAYATE_MULTIHOST_H

#include "sched-action.h"

/*
 * A connection of the entry was lost with a request that its server may execute
 * at any later time.
 */
void	multihost_note_unconfirmed(struct sched_entry *);
int	multihost_has_unconfirmed(const struct sched_entry *);

/* Returns 1 if another host than the first has written the entry. */
int	multihost_is_involved(const struct sched_entry *);

/* Forgets all, or what a restart has to forget. */
void	multihost_drop(struct sched_entry *);
void	multihost_restarted(struct sched_entry *);

/* Returns 1 if another host than that of the main connection owns the file. */
int	multihost_is_other(const struct sched *, const struct sched_entry *);

/*
 * Another host sees a different file: restarts the transfer over connections to
 * the first host only.
 */
void	multihost_restart_on_first(struct sched *, struct sched_entry *);

/*
 * If OP_END is the next step of an entry that has to be looked at before that,
 * the step becomes OP_STAT_DEST_ON_HOST, and multihost_check_next() returns 1
 * and the next of these requests, or -1 if out of memory. The result of one is
 * RESULT_EOF if only the time differs.
 */
void	multihost_check_before_end(struct sched *, struct sched_entry *);
int	multihost_check_next(struct sched *, struct sched_entry *,
    struct sched_action *);
void multihost_reply(struct sched *, struct sched_entry *, enum sched_result);

/*
 * The connection was lost. Returns 1 if nothing else has to be done for the
 * entry: it was looked at.
 */
int	multihost_conn_lost(struct sched *, struct sched_entry *,
    unsigned int conn);

#endif /* HAYATE_MULTIHOST_H */
