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

/*
 * OP_END: writes the line of the journal, unless the caller of the copy reports
 * the file, or another file is being reported.
 */
void	results_journal(const struct transfer *, const struct sched_entry *,
    struct file *);

/*
 * Prints the texts of a file and reports its state. Called for each remaining
 * file if the process ends early.
 */
void	results_report(struct transfer *, struct sched_entry *, struct file *);

/* OP_PRINT, which comes in walk order: as above, and frees the file. */
void	results_print(struct transfer *, struct file *,
    const struct sched_action *);

#endif /* HAYATE_RESULTS_HOOK_H */
