/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * get-hook: the side of a tree that comes from the server.
 *
 * A name from the server becomes part of a local path. So one with a slash, and
 * "." and "..", are refused, as is a second entry of the same name: two entries
 * never write the same path. Links that lie here may lead two paths to one
 * file. Then the one that was opened later waits until the other is whole.
 */

#ifndef HAYATE_GET_HOOK_H
#define HAYATE_GET_HOOK_H

#include "file-hook.h"

extern const struct direction_ops get_ops;
extern const struct op_handler get_handlers[];

/*
 * A directory of the server begins. Returns 0, or -1 with a text if it may not
 * be entered.
 */
int	get_enter(struct transfer *, struct file *);

/* Adds what it lists. */
void	get_add(struct transfer *, struct file *dir, struct sched_entry *,
    const struct dir_entry *);

#endif /* HAYATE_GET_HOOK_H */
