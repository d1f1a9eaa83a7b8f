/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * memlimit: how much memory the control groups of this process allow it.
 *
 * A container may have far less memory than its machine. The kernel limits a
 * group together with all groups below it, so the lowest limit on the way up to
 * the root counts. A limit that cannot be read is ignored: a container may see
 * the names of groups that only exist outside, and a ChrootDirectory has no
 * /proc.
 *
 * No upstream header. Thread safe. Opens files, so a process under a sandbox
 * must not call it.
 *
 * Source: Linux, Documentation/admin-guide/cgroup-v2.rst (memory.max,
 * memory.high) and cgroup-v1/memory.rst (memory.limit_in_bytes).
 */

#ifndef HAYATE_MEMLIMIT_H
#define HAYATE_MEMLIMIT_H

#include <stdint.h>

/*
 * Returns the lowest limit in bytes of the groups of this process, of both
 * versions of control groups. Without a limit, without control groups (other
 * systems), or if none can be read it returns UINT64_MAX, or the number of
 * almost 2^63 that version 1 reports then. "root" is a directory that stands
 * for "/" (a test's copy of /proc and /sys); "" otherwise. Logs nothing.
 */
uint64_t memlimit_read(const char *root);

#endif /* HAYATE_MEMLIMIT_H */
