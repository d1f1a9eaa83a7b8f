/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * show-hook: one progress line for many files, in place of upstream's meter,
 * which knows one file at a time. meter.h says what is in it.
 *
 * The line is drawn where upstream draws its own: on standard output, if scp or
 * sftp shows progress, and while it is in the foreground of its terminal.
 *
 * Main thread only.
 */

#ifndef HAYATE_SHOW_HOOK_H
#define HAYATE_SHOW_HOOK_H

struct run;

/* The loop goes round: draws the line if it is time to. */
void	show_tick(struct run *);

/* Removes the line, because something is going to be printed. */
void	show_clear(struct run *);

/* One file alone is copied: its line is complete, and stays. */
void	show_finish(struct run *);

/* All is copied: draws the line once more, and ends it. */
void	show_end(struct run *);

/* How long the loop may wait before show_tick(), in ms; -1: no limit */
int	show_wait(void);

#endif /* HAYATE_SHOW_HOOK_H */
