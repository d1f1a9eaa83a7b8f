/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * xturn-hook: a file of a tree that is large enough to go over several channels
 * or connections.
 *
 * The other files of a tree go over one each. For a large file, which may come
 * alone or last, that would be as slow as one. So it waits until all before it
 * are done, nothing else is under way, and is then copied as a file that is
 * named alone: by sftp_upload() or sftp_download(), with their own progress
 * line. That costs a tree two or three round trips.
 *
 * Called by xitem-hook.c and xtree-hook.c. Main thread only.
 */

#ifndef HAYATE_XTURN_HOOK_H
#define HAYATE_XTURN_HOOK_H

#include <stdint.h>

struct xitem;
struct xs_job;
struct xtree;

/* Returns 1 if a file of this size is to be held; see xs_hold(). */
int	xturn_wants(const struct xtree *, uint64_t size);

/*
 * In XS_BEGIN of a file that was held. Returns 1 after it was copied, well or
 * not; 0: it has to be copied as all others.
 */
int	xturn_copy(struct xtree *, struct xitem *, struct xs_job *);

#endif /* HAYATE_XTURN_HOOK_H */
