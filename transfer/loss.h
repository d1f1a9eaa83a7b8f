/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * loss: what becomes of the files whose connection is lost.
 *
 * The requests that were under way on the lane are forgotten, and its ranges
 * are dealt again. A file that had its home there moves to another lane. What
 * had not been opened yet begins with its first request. What was open is
 * opened once more (PLAN_REOPEN), as it stands, before its next request that
 * needs a handle. A file that is got has to be the same then (PLAN_SAME). One
 * that is put has to have what was acknowledged, or begins once more; it is
 * written again from the first byte that was not acknowledged, and gets its
 * size and attributes again. A handle that was only to be closed is closed by
 * the loss.
 *
 * What was sent over the lane may still be done, at any time: its server
 * sleeps, or its disk is slow. So nothing is sent there that does harm then.
 * A file is opened there as it stands, or as a new one. It is written over with
 * the same bytes, and cut at most to its size. What changes a file by its name
 * goes over lane 0. That leaves the file's time, which apart.h looks at.
 *
 * Lane 0 is never lost: with it the transfer ends.
 *
 * No I/O, no clock, no upstream header.
 */

#ifndef HAYATE_LOSS_H
#define HAYATE_LOSS_H

#include "action.h"

void	loss_of(struct plan *, unsigned int lane);

/*
 * The next step of a file needs a handle, which was lost: changes the step to
 * what comes first. Returns 1 if nothing has to be sent for it.
 */
int	loss_precedes(struct plan *, struct job *);

/*
 * A reply to PLAN_REOPEN, or to PLAN_SAME on the lane of the file. Returns 1 if
 * the file is sent anew, so that a failure is none.
 */
int	loss_reply(struct plan *, struct job *, enum plan_op,
    enum plan_result);

#endif /* HAYATE_LOSS_H */
