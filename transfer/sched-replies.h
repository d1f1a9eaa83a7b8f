/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * sched-replies: what a reply changes, or local work that is done, and who is
 * told of it: the temporary file of the file (tempfile-sched.h), its check
 * (verify-sched.h), its further connections (stripe.h), or what goes on after a
 * loss (failover.h).
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
