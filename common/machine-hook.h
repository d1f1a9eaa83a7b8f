/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * machine-hook: the options in force, with the defaults that follow from the
 * memory of this machine, or of the control group that this process is in.
 *
 * The memory is asked for when the configuration is read, before a chroot hides
 * it, and by a server again in the group of its user. Never call this from a
 * process under a sandbox: the system calls are not on upstream's list.
 */

#ifndef HAYATE_MACHINE_HOOK_H
#define HAYATE_MACHINE_HOOK_H

struct hayopt;

/* Asks for the memory again, and keeps the least that there was. */
void	machine_read_memory(void);

/* As hayopt_get() */
const struct hayopt *machine_options(void);

#endif /* HAYATE_MACHINE_HOOK_H */
