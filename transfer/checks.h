/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * checks: the steps of a file of a plan that is checked, before its copy and
 * after it.
 *
 * The caller says in PLAN_CHECK what is asked next (judge.h). What it asks goes
 * over the lane of the file. So hundreds of files are checked at once; but of
 * one lane the server has only so much to hash that an interrupt, or the data
 * of another file, need not wait long for it. What was read back comes in
 * any order, and is counted as other data is.
 *
 * A file that is checked holds no handle and has no data ahead. When it is to
 * be copied, it waits until others have little data ahead, as a file does that
 * has not begun.
 *
 * No I/O, no clock, no upstream header.
 */

#ifndef HAYATE_CHECKS_H
#define HAYATE_CHECKS_H

#include <stdint.h>

#include "action.h"

struct plan_req;

/*
 * In PLAN_BEGIN of a file, after its size was set: PLAN_CHECK comes before its
 * first request, and once more after its last one if all was copied. There the
 * caller calls checks_ask(), checks_back() or checks_later(), or none of them:
 * then the copy is next, and after it the end. With plan_fail() or
 * checks_complete() nothing is copied.
 */
void	checks_begin(struct plan *, struct job *);

/* One request is next. PLAN_CHECK comes after its reply. */
void	checks_ask(struct plan *, struct job *, enum plan_op, uint64_t off,
    uint32_t len);

/*
 * The server's file is opened, and "len" bytes from "off" on are read, in any
 * order, until checks_enough() is called in a reply. PLAN_CHECK comes when it
 * is closed, and checks_came() says how many bytes came without a gap.
 */
void	checks_back(struct plan *, struct job *, uint64_t off, uint64_t len);
void	checks_enough(struct job *);
uint64_t checks_came(const struct job *);

/*
 * PLAN_CHECK comes again after what is more urgent. It can be called when a
 * request is sent as well: both go on together.
 */
void	checks_later(struct plan *, struct job *);

/* Returns 1, once, if a lane was lost with what was asked: ask it again. */
int	checks_ask_is_lost(struct job *);

/* The copy begins at "off", not at 0; or nothing is copied. */
void	checks_begin_at(struct job *, uint64_t off);
void	checks_complete(struct job *);

/* For the plan itself */

/*
 * Return 1 and the next request for hashes, the copy of a file that was
 * checked, or the next slice of local work; or 0, or -1: out of memory.
 */
int	checks_next_hash(struct plan *, struct plan_action *);
struct job *checks_next_copy(struct plan *);
int	checks_next_later(struct plan *, struct plan_action *);

/* PLAN_SEE, which its first data follows at once */
int	checks_see(struct plan *, struct job *, struct plan_action *);

/*
 * The lane of a file is lost. Returns 1 if the file was checked: PLAN_CHECK
 * comes, and what was asked is asked again.
 */
int	checks_lost(struct plan *, struct job *);

/* PLAN_CHECK was done. */
void	checks_worked(struct plan *, struct job *);

/* A reply to what was asked has come. Returns as plan_reply(). */
int	checks_reply(struct plan *, struct plan_req **, enum plan_result,
    uint32_t len);

/* The user interrupted: what waits to be asked or done locally is not. */
void	checks_interrupt(struct plan *);

#endif /* HAYATE_CHECKS_H */
