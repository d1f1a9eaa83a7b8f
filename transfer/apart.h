/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * apart: files that go over lanes to other hosts than lane 0.
 *
 * What the first host sees is what counts. What such a lane cannot open goes
 * home: it begins once more, over lane 0. A file that is got is looked at right
 * after it is open (PLAN_SAME). One that is put is looked at when all else is
 * done (PLAN_SEEN), over lane 0 and each other host that had a part in it: what
 * the others wrote is where the first host sees it if it sees the same there.
 * What differs goes home. So does what a lost host had a part in: it may have
 * acknowledged what it had in memory only. It may wake up as well, and go on
 * with the file that it has open. So a file that is ours is removed before it
 * begins once more (PLAN_RENEW), over lane 0: what is sent anew is in another
 * one. A file that was there before stays, with its mode and its names.
 *
 * What any lost lane may still change is looked at in the same way when it is
 * done: its size has to be that of the source, and its time what was set. If it
 * is not the time, it is set (PLAN_SETSTAT) and looked at once more.
 *
 * No I/O, no clock, no upstream header.
 */

#ifndef HAYATE_APART_H
#define HAYATE_APART_H

#include "action.h"

/* Returns 1 if the file goes over a lane to another host. */
int	apart_is(const struct plan *, const struct job *);

/* The other hosts do not see it as the first does, which it goes to now. */
void	apart_go_home(struct plan *, struct job *);

/*
 * PLAN_END is the next step of a job. If it has to be looked at before that,
 * the step becomes PLAN_SEEN, and apart_look() returns 1 and the next of these
 * requests, or -1 if out of memory. The result of one is PLAN_EOF if only the
 * time differs.
 */
void	apart_precedes_end(struct plan *, struct job *);
int	apart_look(struct plan *, struct job *, struct plan_action *);
void	apart_reply(struct plan *, struct job *, enum plan_result);

/*
 * The lane was lost. Returns 1 if nothing else has to be done for the job: it
 * was looked at.
 */
int	apart_lost(struct plan *, struct job *, unsigned int lane);

#endif /* HAYATE_APART_H */
