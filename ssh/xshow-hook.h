/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * xshow-hook: one progress line for many files, in place of upstream's meter,
 * which knows one file at a time. xmeter.h says what is in it.
 *
 * The line is drawn where upstream draws its own: on standard output, if scp or
 * sftp shows progress, and while it is in the foreground of its terminal.
 *
 * Called by xtree-hook.c and xmany-hook.c. Main thread only.
 */

#ifndef HAYATE_XSHOW_HOOK_H
#define HAYATE_XSHOW_HOOK_H

struct xtree;

/* The loop goes round: draws the line if it is time to. */
void	xshow_tick(struct xtree *);

/* Removes the line, because something is going to be printed. */
void	xshow_clear(struct xtree *);

/* All is copied: draws the line once more, and ends it. */
void	xshow_end(struct xtree *);

/* How long the loop may wait before xshow_tick(), in ms; -1: no limit */
int	xshow_wait(void);

#endif /* HAYATE_XSHOW_HOOK_H */
