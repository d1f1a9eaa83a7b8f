/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * replies: what a reply changes, or local work that is done, and who is told of
 * it: the landing of the file (landings.h), its check (checks.h), its further
 * lanes (wide.h), or what goes on after a loss (loss.h).
 *
 * No I/O, no clock, no upstream header.
 */

#ifndef HAYATE_REPLIES_H
#define HAYATE_REPLIES_H

#include <stdint.h>

#include "action.h"

/* As plan_worked() and plan_reply() */
void	replies_worked(struct plan *);
int	replies_take(struct plan *, uint32_t id, enum plan_result,
    uint32_t len);

#endif /* HAYATE_REPLIES_H */
