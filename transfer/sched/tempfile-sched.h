/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * tempfile-sched: the files of a scheduler that may be put over several
 * connections.
 *
 * tempfile.h decides when the data of such a file appears under its name, and
 * which requests that takes (OP_TEMPFILE). They use the main connection, so
 * that owns the file. Some are sent before the file is opened, to find out how:
 * with SSH2_FXF_EXCL (OP_OPEN_EXCL), under its name or a temporary one, because
 * a new file and an existing one are handled differently, or as it stands.
 * Others are sent during the transfer, and the last ones after all helpers have
 * closed the file: they replace the normal SETSIZE, FSETSTAT and CLOSE at the
 * end of other files.
 *
 * Any other file that is uploaded may have a temporary file that only removes
 * what killed copies have left beside it. It asks while the data moves, and if
 * it has found something, before OP_END. It takes the owner from the handle of
 * the main connection, so a file that another connection owns asks nothing.
 *
 * No I/O, no clock, no upstream header.
 */

#ifndef HAYATE_TEMPFILE_SCHED_H
#define HAYATE_TEMPFILE_SCHED_H

#include <stdint.h>

#include "sched-action.h"

struct tempfile_conf;
struct sched_request;

/* Gives the entry a temporary file. Returns 0, or -1 if out of memory. */
int	tempfile_sched_add(struct sched *, struct sched_entry *,
    const struct tempfile_conf *);

/* Drops it. */
void	tempfile_sched_drop(struct sched *, struct sched_entry *);

/*
 * The next step of a file is OP_OPEN_EXCL or OP_END: returns 1 if its temporary
 * file has to ask before, and then makes that step. tempfile_sched_opened()
 * takes the reply to OP_OPEN_EXCL, and returns 1 unless it is open.
 */
int	tempfile_sched_precedes(struct sched *, struct sched_entry *);
int	tempfile_sched_opened(struct sched *, struct sched_entry *, int ok);

/* The next request of a temporary file: 1; 0: none now; -1: out of memory */
int	tempfile_sched_next(struct sched *, struct sched_action *);

/*
 * A WRITE failed. Returns 1 if that need not be reported: the staging file is
 * given up.
 */
int	tempfile_sched_write_failed(struct sched_entry *, uint64_t off);

/* The server refused a WRITE or a CLOSE of the entry, if it has either. */
void	tempfile_sched_note_write_error(struct sched_entry *);

/* Where a WRITE goes */
void	tempfile_sched_locate_write(const struct sched_entry *,
    struct sched_action *);

/* A reply to OP_TEMPFILE: returns 1 if nothing is to be said. */
int	tempfile_sched_reply(struct sched *, struct sched_entry *,
    const struct tempfile_request *, const struct sched_reply *);

#endif /* HAYATE_TEMPFILE_SCHED_H */
