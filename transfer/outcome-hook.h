/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * outcome-hook: what the user, --report and --journal are told of each file of
 * a run. Texts come in walk order, as in stock; a line of the journal comes as
 * soon as the file is done.
 *
 * Main thread only.
 */

#ifndef HAYATE_OUTCOME_HOOK_H
#define HAYATE_OUTCOME_HOOK_H

struct file;
struct job;
struct run;

/* A file is done, but texts before its own may not be printed yet. */
void	outcome_note(const struct run *, const struct job *, struct file *);

/* Prints and reports what is known of it. */
void	outcome_tell(struct run *, struct job *, struct file *);

/* Does so in walk order; it is over, and freed. */
void	outcome_print(struct run *, struct job *, struct file *);

#endif /* HAYATE_OUTCOME_HOOK_H */
