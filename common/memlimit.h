/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * memlimit: how much memory the control groups of this process leave it.
 *
 * A container may have far less memory than its machine. The kernel bounds a
 * group and all groups below it, so the least bound on the way up counts. What
 * cannot be read bounds nothing: a container may see the names of groups that
 * only exist outside, and a ChrootDirectory has no /proc.
 *
 * No upstream header. Thread safe. It opens files, so a process under a sandbox
 * must not call it.
 *
 * Source: Linux, Documentation/admin-guide/cgroup-v2.rst (memory.max,
 * memory.high) and cgroup-v1/memory.rst (memory.limit_in_bytes).
 */

#ifndef HAYATE_MEMLIMIT_H
#define HAYATE_MEMLIMIT_H

#include <stdint.h>

/* Bytes, or UINT64_MAX. "root" stands before /proc and /sys; it is "". */
uint64_t memlimit_read(const char *root);

#endif /* HAYATE_MEMLIMIT_H */
