/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * sched-replies: decides what follows a reply to a request, and what follows
 * local work that the caller has done. A table has a function for each kind of
 * request. The replies to a verification, a temporary file, a helper connection
 * and a reopened file are passed on to verify-sched.h, tempfile-sched.h,
 * stripe.h and failover.h.
 *
 * No I/O, no clock, no upstream header.
 */

#ifndef HAYATE_SCHED_REPLIES_H
#define HAYATE_SCHED_REPLIES_H

#include <stdint.h>

#include "sched-action.h"

struct sched_reply;

/* As sched_local_done() and sched_reply() */
void	sched_finish_local(struct sched *);
int	sched_take_reply(struct sched *, uint32_t id,
    const struct sched_reply *);

#endif /* HAYATE_SCHED_REPLIES_H */
