/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * failover: what becomes of the files whose connection is lost.
 *
 * The requests that were in flight on the connection are forgotten, and its
 * extents are assigned again. A file that the connection owned moves to another
 * one. If it had not been opened yet, it begins with its first request. If it
 * was open, it is opened again (OP_REOPEN) without truncation before the next
 * request that needs a handle. A download has to be the same file then
 * (OP_FSTAT_IDENTITY, and OP_SAMPLE_REOPENED for its data). An upload has to
 * have all the bytes that were acknowledged; if not, it restarts. The extents
 * that were not acknowledged are sent again, and so are its size and
 * attributes. A handle that was only to be closed needs nothing: the loss has
 * closed it.
 *
 * Requests in flight on a lost connection may still be executed at any later
 * time (suspended server, slow disk), so every request must be harmless when
 * executed late. A file is opened there without truncation, or as a new one. It
 * is overwritten with the same bytes, and truncated at most to its size.
 * Requests that change a file by its name use the main connection. What remains
 * is compared when all else is done: the size, and the mtime if it is preserved
 * (multihost.h).
 *
 * The main connection is the only one that truncates a file as it opens it, or
 * changes a file by its name; directories and temporary files use it as well.
 * If it is lost, another one becomes the main connection. Its requests for a
 * directory, or for the end of another connection's file, are sent again. A
 * file moves as from any other connection, and an upload to the new main
 * connection; but one with a temporary file, or with a truncation in flight,
 * restarts, and the caller compares the target as below.
 *
 * If all connections are lost, so is the transfer, unless the caller makes a
 * new one (SCHED_CONNS_ALL). Then nothing is left that another connection could
 * take over: each file that has begun restarts, and the caller compares the
 * target, which may have any part of the file. A directory or a link is asked
 * for again.
 *
 * No I/O, no clock, no upstream header.
 */

#ifndef HAYATE_FAILOVER_H
#define HAYATE_FAILOVER_H

#include "sched-action.h"

void	failover_conn_lost(struct sched *, unsigned int conn,
    unsigned int new_main);
void	failover_all_lost(struct sched *);

/*
 * If the next step of a file needs a handle that is lost, the step becomes
 * OP_REOPEN. Returns 1 if the step is dropped, because the loss has closed the
 * handle or no connection can open it again; else 0.
 */
int	failover_precedes(struct sched *, struct sched_entry *);

/*
 * Takes a reply to OP_REOPEN or OP_SAMPLE_REOPENED, or to OP_FSTAT_IDENTITY on
 * the file's connection. Returns 1 if the file restarts, so that no error is to
 * be reported; else 0.
 */
int	failover_reply(struct sched *, struct sched_entry *, enum sched_op,
    enum sched_result);

#endif /* HAYATE_FAILOVER_H */
