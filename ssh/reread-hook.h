/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * reread-hook: whether an ssh that is re-executed, or one for an additional
 * connection, reads the same configuration.
 *
 * That process reads the files that its arguments name again. A configuration
 * from a pipe, as with "vagrant ssh-config | ssh -F /dev/stdin host", is gone
 * by then, and the defaults would replace it: other ciphers, and host keys that
 * were revoked. After such a file was read, no other ssh is started.
 *
 * For upstream's readconf.c, for which build-aux/overlay.mk renames a call, and
 * spawn-hook.c. Main thread only.
 */

#ifndef HAYATE_REREAD_HOOK_H
#define HAYATE_REREAD_HOOK_H

#include <stdio.h>

/*
 * As fopen(3). If the opened file cannot be read twice, the function also
 * records that, and the record is never forgotten. Only regular files,
 * directories and the null device can be read twice. A file that cannot be
 * opened does not count.
 */
FILE	*reread_fopen(const char *path, const char *mode);

/*
 * Returns 1 if all files opened with reread_fopen() so far can be read again,
 * else 0. Files named in options do not count: see reread_file().
 */
int	reread_all(void);

/*
 * Returns 1 if this file can be read twice, or if stat(2) fails for any reason,
 * as for a file that does not exist; else 0. Records nothing.
 */
int	reread_file(const char *path);

#endif /* HAYATE_REREAD_HOOK_H */
