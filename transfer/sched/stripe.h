/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * stripe: a large file that several connections carry.
 *
 * An idle connection helps with a large file of another one. It opens the file
 * as well (OP_HELPER_OPEN), and if that is the same file (OP_FSTAT_IDENTITY;
 * for a download also the same bytes at one place, OP_SAMPLE_OWNER and
 * OP_SAMPLE_HELPER), it transfers extents of it, but data of its own files
 * first. It helps until all of the file is assigned and acknowledged, and then
 * closes it (OP_HELPER_CLOSE). A connection helps with one file at a time; any
 * number of connections can help with one file.
 *
 * A connection on which the name refers to a different file is never asked for
 * this file again.
 *
 * No I/O, no clock, no upstream header.
 */

#ifndef HAYATE_STRIPE_H
#define HAYATE_STRIPE_H

#include "sched-action.h"

struct sched_conn;

/*
 * stripe_step() returns the next request of a helper, stripe_begin() the first
 * one of a new helper. Return 1 and the action; 0: none; -1: out of memory.
 */
int	stripe_step(struct sched *, struct sched_action *);
int	stripe_begin(struct sched *, struct sched_action *);

/* Returns the file with which the connection can help now, or NULL. */
struct sched_entry *stripe_helped_file(const struct sched *,
    const struct sched_conn *);

/* No more data of the file will be moved: its helpers close it. */
void	stripe_close(struct sched *, struct sched_entry *);

/*
 * A reply to OP_HELPER_OPEN, OP_FSTAT_IDENTITY or OP_HELPER_CLOSE on a
 * connection
 */
void	stripe_reply(struct sched *, struct sched_entry *, unsigned int conn,
    enum sched_op, enum sched_result);

/* A reply to OP_SAMPLE_OWNER or OP_SAMPLE_HELPER at that place */
void	stripe_sampled(struct sched *, struct sched_entry *, uint64_t off,
    enum sched_result);

/* The owner of the file is lost: comparisons with helpers begin again. */
void	stripe_repeat_identity(struct sched *, struct sched_entry *);

/* The connection helps no longer, even if requests of it are in flight. */
void	stripe_forget(struct sched *, unsigned int conn);

#endif /* HAYATE_STRIPE_H */
