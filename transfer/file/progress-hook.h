/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * progress-hook: one progress line for many files, in place of upstream's
 * meter, which knows one file at a time. progress-text.h says what is in it.
 *
 * The line is drawn where upstream draws its own: on standard output, if scp or
 * sftp shows progress, and while it is in the foreground of its terminal.
 *
 * Main thread only.
 */

#ifndef HAYATE_PROGRESS_HOOK_H
#define HAYATE_PROGRESS_HOOK_H

struct transfer;

/* The loop goes round: draws the line if it is time to. */
void	progress_tick(struct transfer *);

/* Removes the line, because something is going to be printed. */
void	progress_clear(struct transfer *);

/* One file alone is copied: its line is complete, and stays. */
void	progress_finish(struct transfer *);

/* All is copied: draws the line again, and ends it. */
void	progress_end(struct transfer *);

/* How long the loop may wait before progress_tick(), in ms; -1: no limit */
int	progress_interval(void);

#endif /* HAYATE_PROGRESS_HOOK_H */
