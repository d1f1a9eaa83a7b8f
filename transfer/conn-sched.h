/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * conn-sched: what each connection of a plan has to do, and the requests that
 * are under way on it.
 *
 * A file, or a link, takes the lane that has least to do, and keeps it. All
 * else takes lane 0. The window is shared by the lanes that are busy. What came
 * early and waits in memory counts as under way, but not of a file that several
 * lanes carry: there it is the others' due.
 *
 * No I/O, no clock, no upstream header.
 */

#ifndef HAYATE_CONN_SCHED_H
#define HAYATE_CONN_SCHED_H

#include <stdint.h>

#include "sched-action.h"

struct sched_conn;
struct sched_request;

/* What a request and its reply take beside their data, about, in bytes */
#define REQUEST_OVERHEAD	64

/*
 * A new request: returns 1 and the action, or -1 if out of memory.
 * sched_request_slot() leads to the request with the ID, or to NULL. After
 * sched_request_retire() it is answered, and no longer known.
 */
int sched_request_new(struct sched *, struct sched_entry *, unsigned int conn,
    enum sched_op, uint64_t off, uint32_t len, struct sched_action *);
struct sched_request **sched_request_slot(const struct sched *, uint32_t id);
void	sched_request_retire(struct sched *, struct sched_request **);

/* A job begins and ends, or moves to another lane. */
void	sched_conn_enter(struct sched *, struct sched_entry *);
void	sched_conn_leave(struct sched *, struct sched_entry *);
void sched_conn_move(struct sched *, struct sched_entry *, unsigned int conn);

/* So many bytes of it are not asked for or sent. */
void sched_conn_set_unsent(struct sched *, struct sched_entry *,
    uint64_t bytes);

/* The file has this size. */
void sched_conn_set_size(struct sched *, struct sched_entry *, uint64_t size);

/* What waits of the job has changed, or how many lanes carry it. */
void	sched_conn_count_buffered(struct sched *, struct sched_entry *);

/*
 * What a lane has to do, and what it may have under way beside the others, in
 * bytes; which has least to do for what it carries; how many bits are set.
 */
uint64_t sched_conn_work(const struct sched_conn *);
uint64_t sched_conn_weight(const struct sched *, unsigned int conn);
unsigned int sched_conn_least_busy(const struct sched *);
unsigned int sched_count_bits(unsigned int bits);

/* Returns the length of a file's next new READ or WRITE. */
uint64_t sched_conn_data_len(const struct sched *, const struct sched_entry *);

/*
 * Returns 1 if the lane moves data of the file up to the next boundary of
 * sched_set_writers() before others do.
 */
int sched_conn_continues_block(const struct sched *, const struct sched_entry *,
    unsigned int conn);

/* As sched_set_conns() */
void sched_conn_set_states(struct sched *, unsigned int up, unsigned int takes);

/*
 * A data request is answered, with "len" bytes. Before sched_request_retire().
 */
void sched_conn_reply_aged(struct sched *, const struct sched_request *,
    uint32_t len);

/*
 * Bytes that a lane may have under way; and this lane, if it moves this file. A
 * channel has at least what is on the path and as much that waits for the
 * window in ssh, so that none of it is lost while a reply returns.
 */
uint64_t sched_conn_share(const struct sched *);
uint64_t sched_conn_limit(const struct sched *, const struct sched_entry *,
    unsigned int conn);

/* A number below "n", or 0: where files are compared */
uint64_t sched_random(struct sched *, uint64_t n);

#endif /* HAYATE_CONN_SCHED_H */
