/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * directions-hook: the three directions of a copy.
 *
 * put-hook.c uploads. get-hook.c downloads: a name from the server becomes part
 * of a local path, so one with a slash, and "." and "..", are refused, as is a
 * second entry of the same name: two entries never write the same path. Links
 * that lie here may lead two paths to one file. Then the one that was opened
 * later waits until the other is whole.
 *
 * cross-hook.c copies between two servers. The source is read as by a download,
 * with get-hook.c's functions, so its names are judged there: none leads out of
 * the target. What a download does here is asked of the target. The bytes of a
 * READ go from the buffer of one connection into that of the other.
 */

#ifndef HAYATE_DIRECTIONS_HOOK_H
#define HAYATE_DIRECTIONS_HOOK_H

#include "file-hook.h"

extern const struct direction_ops put_ops, get_ops, cross_ops;
extern const struct op_handler get_handlers[];

/*
 * A file is going to be uploaded from start_off on: which of its bytes are not
 * sent, and how an old file is truncated.
 */
void	put_go_on(struct transfer *, struct file *, struct sched_entry *);

/*
 * A directory of the server begins. Returns 0, or -1 with a text if it may not
 * be entered.
 */
int	get_enter(struct transfer *, struct file *);

/* Adds the next child of a directory of the server. */
void	get_add(struct transfer *, struct file *dir, struct sched_entry *,
    const struct dir_entry *);

#endif /* HAYATE_DIRECTIONS_HOOK_H */
