/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * cross-hook: the side of a tree or list that is copied between two servers.
 *
 * The source is read as by a download, with get-hook.c's functions, so its
 * names are judged there: none leads out of the target. What differs is that
 * what a get does here is asked of the target. The bytes of a READ go from the
 * buffer of one connection into that of the other.
 */

#ifndef HAYATE_CROSS_HOOK_H
#define HAYATE_CROSS_HOOK_H

#include "file-hook.h"

extern const struct direction_ops cross_ops;

#endif /* HAYATE_CROSS_HOOK_H */
