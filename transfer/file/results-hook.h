/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * results-hook: what the user, --report and --journal are told of each file of
 * a run. Texts come in walk order, as in stock; a line of the journal comes as
 * soon as the file is done.
 *
 * Main thread only.
 */

#ifndef HAYATE_RESULTS_HOOK_H
#define HAYATE_RESULTS_HOOK_H

struct file;
struct sched_action;
struct sched_entry;
struct transfer;

/* A file is done, but texts before its own may not be printed yet. */
void	results_journal(const struct transfer *, const struct sched_entry *,
    struct file *);

/* Prints and reports what is known of it. */
void	results_report(struct transfer *, struct sched_entry *, struct file *);

/* OP_PRINT: does so in walk order; the file is over, and freed. */
void	results_print(struct transfer *, struct file *,
    const struct sched_action *);

#endif /* HAYATE_RESULTS_HOOK_H */
