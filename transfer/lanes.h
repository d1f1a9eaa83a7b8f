/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * lanes: what each connection of a plan has to do, and the requests that are
 * under way on it.
 *
 * A file, or a link, takes the lane that has least to do, and keeps it. All
 * else takes lane 0. The window is shared by the lanes that are busy. What came
 * early and waits in memory counts as under way, but not of a file that several
 * lanes carry: there it is the others' due.
 *
 * No I/O, no clock, no upstream header.
 */

#ifndef HAYATE_LANES_H
#define HAYATE_LANES_H

#include <stdint.h>

#include "action.h"

struct lane;
struct plan_req;

/* What a request and its reply take beside their data, about, in bytes */
#define LANES_OVERHEAD	64

/*
 * A new request: returns 1 and the action, or -1 if out of memory.
 * lanes_place() leads to the request with the ID, or to NULL. After
 * lanes_retire() it is answered, and no longer known.
 */
int	lanes_request(struct plan *, struct job *, unsigned int lane,
    enum plan_op, uint64_t off, uint32_t len, struct plan_action *);
struct plan_req **lanes_place(const struct plan *, uint32_t id);
void	lanes_retire(struct plan *, struct plan_req **);

/* A job begins and ends, or moves to another lane. */
void	lanes_enter(struct plan *, struct job *);
void	lanes_leave(struct plan *, struct job *);
void	lanes_move(struct plan *, struct job *, unsigned int lane);

/* So many bytes of it are not asked for or sent. */
void	lanes_set_ahead(struct plan *, struct job *, uint64_t bytes);

/* The file has this size. */
void	lanes_set_size(struct plan *, struct job *, uint64_t size);

/* What waits of the job has changed, or how many lanes carry it. */
void	lanes_count_kept(struct plan *, struct job *);

/*
 * What a lane has to do, and what it may have under way beside the others, in
 * bytes; which has least to do for what it carries; how many bits are set.
 */
uint64_t lanes_work(const struct lane *);
uint64_t lanes_weight(const struct plan *, unsigned int lane);
unsigned int lanes_idlest(const struct plan *);
unsigned int lanes_count(unsigned int bits);

/* Returns the length of a file's next new READ or WRITE. */
uint64_t lanes_data_len(const struct plan *, const struct job *);

/*
 * Returns 1 if the lane moves data of the file up to the next boundary of
 * plan_set_shared() before others do.
 */
int	lanes_goes_on(const struct plan *, const struct job *,
    unsigned int lane);

/* As plan_set_lanes() */
void	lanes_set_up(struct plan *, unsigned int up, unsigned int takes);

/* A data request is answered, with "len" bytes. Before lanes_retire(). */
void	lanes_aged(struct plan *, const struct plan_req *, uint32_t len);

/*
 * Bytes that a lane may have under way; and this lane, if it moves this file. A
 * channel has at least what is on the path and as much that waits for the
 * window in ssh, so that none of it is lost while a reply returns.
 */
uint64_t lanes_share(const struct plan *);
uint64_t lanes_most(const struct plan *, const struct job *,
    unsigned int lane);

/* A number below "n", or 0: where files are compared */
uint64_t lanes_random(struct plan *, uint64_t n);

#endif /* HAYATE_LANES_H */
