/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * sequence: the order in which an entry sends its requests.
 *
 * sequence.c has a table for each kind of entry: steps, and the condition under
 * which each is taken. The next step of an entry is on the agenda of the
 * scheduler until it is taken. A file that transfers data is in the queue of
 * its connection instead; when all data is acknowledged, or no more will come,
 * seq_after() returns the step that follows. A server that has announced its
 * limit of handles gets the last requests of a file together, any other one
 * after the other.
 *
 * No I/O, no clock, no upstream header.
 */

#ifndef HAYATE_SEQUENCE_H
#define HAYATE_SEQUENCE_H

#include <stdint.h>

#include "sched-action.h"

struct sched_request;

/*
 * Return the first step of an entry, and the one that follows the step "op" of
 * its sequence. "op" has to be in it.
 */
enum sched_op seq_first(const struct sched *, const struct sched_entry *);
enum sched_op seq_after(const struct sched *, const struct sched_entry *,
    enum sched_op op);

/* Whether what follows the step is sent without its reply */
int	seq_need_not_wait(const struct sched *, const struct sched_entry *);

/*
 * The connection that the step goes over. What changes a file by its name goes
 * over the main connection: what a lost connection does late finds another file
 * under that name.
 */
unsigned int seq_conn(const struct sched *, const struct sched_entry *);

/* The size that the step sets, of a file, or where it reads */
uint64_t seq_offset(const struct sched_entry *);

/*
 * Data may be requested or is all there. A file keeps its place; what came
 * short is asked for again before all else.
 */
void	seq_continue(struct sched *, struct sched_entry *);

/* Nothing more is sent of the entry, but perhaps by other connections. */
void	seq_closed(struct sched *, struct sched_entry *);

/*
 * "len" bytes have arrived, or are written: less than was asked for, perhaps.
 */
void	seq_count_data(struct sched_entry *, const struct sched_request *,
    uint32_t len);

#endif /* HAYATE_SEQUENCE_H */
