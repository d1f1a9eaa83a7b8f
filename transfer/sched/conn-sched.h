/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * conn-sched: bytes and files of each connection, and the requests in flight.
 *
 * A file, or a link, is assigned to the connection with the least work, and
 * stays there. All else uses the main connection. The busy connections share
 * the window. Data of a file that arrived early and is buffered counts as in
 * flight on its connection, unless several connections transfer the file: then
 * another one is behind, and the connection is not charged.
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

/* An entry begins and ends, or moves to another connection. */
void	sched_conn_enter(struct sched *, struct sched_entry *);
void	sched_conn_leave(struct sched *, struct sched_entry *);
void sched_conn_move(struct sched *, struct sched_entry *, unsigned int conn);

/* So many bytes of it are not asked for or sent. */
void	sched_conn_set_unsent(struct sched *, struct sched_entry *,
    uint64_t bytes);

/* The file has this size. */
void sched_conn_set_size(struct sched *, struct sched_entry *, uint64_t size);

/* What waits of the entry has changed, or how many connections carry it. */
void	sched_conn_count_buffered(struct sched *, struct sched_entry *);

/*
 * What a connection has to do, and what it may have in flight beside the
 * others, in bytes; which has least to do for what it carries; how many bits
 * are set.
 */
uint64_t sched_conn_work(const struct sched_conn *);
uint64_t sched_conn_weight(const struct sched *, unsigned int conn);
unsigned int sched_conn_least_busy(const struct sched *);
unsigned int sched_count_bits(unsigned int bits);

/* Returns the length of a file's next new READ or WRITE. */
uint64_t sched_conn_data_len(const struct sched *, const struct sched_entry *);

/*
 * Returns 1 if the connection moves data of the file up to the next boundary of
 * struct sched_env, "align", before others do.
 */
int sched_conn_continues_block(const struct sched *, const struct sched_entry *,
    unsigned int conn);

/* Takes both of struct sched_env; see sched_update(). */
void sched_conn_set_states(struct sched *, unsigned int up, unsigned int takes);

/*
 * A data request is answered, with "len" bytes. Before sched_request_retire().
 */
void	sched_conn_reply_aged(struct sched *, const struct sched_request *,
    uint32_t len);

/*
 * Bytes that a connection may have in flight; and this connection, if it moves
 * this file. A channel has at least what is on the path and as much that waits
 * for the window in ssh, so that none of it is lost while a reply returns.
 */
uint64_t sched_conn_share(const struct sched *);
uint64_t sched_conn_limit(const struct sched *, const struct sched_entry *,
    unsigned int conn);

/* A number below "n", or 0: where files are compared */
uint64_t sched_random(struct sched *, uint64_t n);

#endif /* HAYATE_CONN_SCHED_H */
