/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * reread-hook: whether an ssh that begins anew, or a further one, finds the
 * same configuration.
 *
 * It reads the files that its arguments name once more. What came from a pipe,
 * as with "vagrant ssh-config | ssh -F /dev/stdin host", is gone by then, and
 * the defaults would stand in its place: other ciphers, and host keys that were
 * revoked. So no ssh is started again once such a file was read.
 *
 * For upstream's readconf.c, for which build-aux/overlay.mk renames a call, and
 * spawn-hook.c. Main thread only.
 */

#ifndef HAYATE_REREAD_HOOK_H
#define HAYATE_REREAD_HOOK_H

#include <stdio.h>

/* As fopen(3), and notes what cannot be read twice. */
FILE	*reread_fopen(const char *path, const char *mode);

/* Whether all that was opened so can be read again. */
int	reread_all(void);

/* Whether this file can, if it is there. */
int	reread_file(const char *path);

#endif /* HAYATE_REREAD_HOOK_H */
