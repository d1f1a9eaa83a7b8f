/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * landings: the files of a plan that may be put over several lanes.
 *
 * landing.h says by which rule the bytes of such a file appear under its name,
 * and what has to be asked for that, over lane 0, which never ends. So the file
 * has its home there. Before it is opened, while it moves, and after its
 * further lanes have parted with it, the requests of its landing are sent
 * (PLAN_LANDING). The first ones tell how it is opened: as a new one
 * (PLAN_OPEN_NEW), under its name or a hidden one, or as it stands. What they
 * ask for at the end takes the place of what other files have there.
 *
 * Any other file that is put may have a landing that only removes what killed
 * copies have left beside it. It asks while the data moves, and if it has found
 * something, before PLAN_END. It takes the owner from the handle of lane 0, so
 * a file that has another lane asks nothing.
 *
 * No I/O, no clock, no upstream header.
 */

#ifndef HAYATE_LANDINGS_H
#define HAYATE_LANDINGS_H

#include <stdint.h>

#include "action.h"

struct landing_conf;
struct plan_req;

/* As plan_lands() */
int	landings_add(struct plan *, struct job *, const struct landing_conf *);

/* As plan_sweeps() */
int	landings_sweep(struct plan *, struct job *);

/* Drops both. */
void	landings_drop(struct plan *, struct job *);

/*
 * The next step of a file is PLAN_OPEN_NEW or PLAN_END: returns 1 if its
 * landing has to ask before, and then makes that step. landings_open() takes
 * the reply to PLAN_OPEN_NEW, and returns 1 unless it is open.
 */
int	landings_precede(struct plan *, struct job *);
int	landings_open(struct plan *, struct job *, int ok);

/* What has sent PLAN_LANDING, of either kind */
struct landing *landings_asker(const struct job *);

/* The next request of a landing: 1; 0: none now; -1: out of memory */
int	landings_next(struct plan *, struct plan_action *);

/* A WRITE failed. Returns 1 if that need not be told. */
int	landings_lost(struct job *, uint64_t off);

/* Where a WRITE goes */
void	landings_place(const struct job *, struct plan_action *);

/* A reply to PLAN_LANDING: returns 1 if nothing is to be said. */
int	landings_reply(struct plan *, struct job *, const struct landing_ask *,
    int ok);

#endif /* HAYATE_LANDINGS_H */
