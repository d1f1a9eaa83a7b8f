/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/* put-hook: the side of a tree that goes to the server. */

#ifndef HAYATE_PUT_HOOK_H
#define HAYATE_PUT_HOOK_H

#include "file-hook.h"

extern const struct direction_ops put_ops;

/*
 * A file is going to be put from "from" on: which of its bytes are not sent,
 * and how an old file is emptied.
 */
void	put_go_on(struct transfer *, struct file *, struct sched_entry *);

#endif /* HAYATE_PUT_HOOK_H */
