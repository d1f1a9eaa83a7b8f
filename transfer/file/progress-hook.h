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

/* Call in each round of the copy's loop: draws the line if it is time to. */
void	progress_tick(struct transfer *);

/* Removes the line, if it is drawn, before something else is printed. */
void	progress_clear(struct transfer *);

/*
 * Ends upstream's meter of a file that is copied alone, if it was shown: before
 * the file is verified, or from progress_end().
 */
void	progress_finish(struct transfer *);

/* The copy ends: the last state of the line stays. */
void	progress_end(struct transfer *);

/* How long the loop may wait before progress_tick(), in ms; -1: no limit */
int	progress_interval(void);

#endif /* HAYATE_PROGRESS_HOOK_H */
