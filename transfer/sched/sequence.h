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
 * seq_after() returns the step that follows. The last requests of a file are
 * sent together if the server has announced its limit of open handles,
 * otherwise one by one.
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

/* Returns 1 if what follows the entry's next step is sent without its reply. */
int	seq_need_not_wait(const struct sched *, const struct sched_entry *);

/*
 * Returns the connection for the entry's next step: the owner, or the main
 * connection for a request that changes a file by its name. The server of a
 * lost connection could execute that late, when another file has the name.
 */
unsigned int seq_conn(const struct sched *, const struct sched_entry *);

/* Returns the new size or the offset of the file's next step, or 0. */
uint64_t seq_offset(const struct sched_entry *);

/*
 * Call it when something about the data of a file has changed. Puts the file
 * into the queue of its owner, where it keeps its place; into that of pending
 * extents, which come before all else; or, if no more data will be moved and
 * none is in flight, into STATE_FINISHING.
 */
void	seq_continue(struct sched *, struct sched_entry *);

/*
 * The owner sends nothing more of the entry. After the last reply, also to
 * helpers, OP_VERIFY, OP_RESTART or OP_END follows.
 */
void	seq_closed(struct sched *, struct sched_entry *);

/*
 * "len" bytes of the request were received or written. If they are fewer than
 * requested, the rest becomes pending, and later requests are shorter.
 */
void	seq_count_data(struct sched_entry *, const struct sched_request *,
    uint32_t len);

#endif /* HAYATE_SEQUENCE_H */
