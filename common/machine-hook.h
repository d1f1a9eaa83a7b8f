/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * machine-hook: the options in force, with the defaults that follow from the
 * memory of this machine, or of the control group of this process.
 *
 * The memory is read when the configuration is parsed, before a chroot hides
 * /proc, and again in sshd once the process is in the control group of its
 * user. Never call this from a process under a sandbox: the system calls are
 * not on upstream's list. Main thread only.
 */

#ifndef HAYATE_MACHINE_HOOK_H
#define HAYATE_MACHINE_HOOK_H

struct hayopt;

/*
 * Reads the sizes of the physical memory and of the control groups' limits
 * (memlimit.h), and sets the defaults of WindowMax and WindowMemoryMax by the
 * smallest value that was ever read; configured values stay. If the system does
 * not tell its physical memory, the defaults become the smallest ones.
 */
void	machine_read_memory(void);

/*
 * As hayopt_get(), for callers that need window_max or window_memory_max. Calls
 * machine_read_memory() if that was never called.
 */
const struct hayopt *machine_options(void);

#endif /* HAYATE_MACHINE_HOOK_H */
