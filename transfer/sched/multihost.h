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
 * (OP_STAT_DEST_ON_HOST), over the main connection and over one to each other
 * host that was involved. If all see the same size and time, host 0 has what
 * the others wrote. A mismatch restarts the file.
 *
 * The file also restarts if a host that was involved is lost. That host may
 * have acknowledged data that was in its memory only. It may also resume later
 * and execute requests that were in flight when it was declared lost. If the
 * copy has made the target, the main connection removes it before the restart
 * (OP_REMOVE_OWN), and late requests change the removed file. A target that
 * existed before stays, with its mode and its hard links.
 *
 * If requests to any lost connection could still modify the file, the main
 * connection compares its size, and its mtime if that is preserved, with those
 * of the source when all else is done. A wrong mtime is set again (OP_SETSTAT)
 * and compared again. A wrong size restarts the file, once.
 *
 * No I/O, no clock, no upstream header.
 */

#ifndef HAYATE_MULTIHOST_H
#define HAYATE_MULTIHOST_H

#include "sched-action.h"

/*
 * Notes that a connection was lost with a request for the entry that its server
 * may execute at any later time; multihost_has_unconfirmed() then returns 1.
 */
void	multihost_note_unconfirmed(struct sched_entry *);
int	multihost_has_unconfirmed(const struct sched_entry *);

/* Returns 1 if another host than the first has written the entry. */
int	multihost_is_involved(const struct sched_entry *);

/*
 * multihost_drop() forgets all. multihost_restarted() keeps what struct
 * sched_hosts names, such as unconfirmed writes.
 */
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
 * If the next step of an entry is OP_END, but its target has to be compared
 * first, multihost_check_before_end() changes the step to OP_STAT_DEST_ON_HOST.
 * While that is the step, multihost_check_next() returns 1 and the request for
 * the next host, or -1 if out of memory. multihost_reply() takes the caller's
 * comparison: RESULT_OK; RESULT_EOF if only the time is wrong; RESULT_FAILED
 * for a mismatch, after which the entry restarts or fails.
 */
void	multihost_check_before_end(struct sched *, struct sched_entry *);
int	multihost_check_next(struct sched *, struct sched_entry *,
    struct sched_action *);
void multihost_reply(struct sched *, struct sched_entry *, enum sched_result);

/*
 * The connection was lost. Returns 1 if the entry was in STATE_CONFIRMING, and
 * nothing else has to be done for it; else 0.
 */
int	multihost_conn_lost(struct sched *, struct sched_entry *,
    unsigned int conn);

/*
 * The main connection, "conn", was lost while the entry was looked at: the new
 * one looks at it.
 */
void	multihost_main_lost(struct sched *, struct sched_entry *,
    unsigned int conn);

#endif /* HAYATE_MULTIHOST_H */
