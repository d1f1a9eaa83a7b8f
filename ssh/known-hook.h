/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * known-hook: a file of known hosts is read once in a login.
 *
 * Upstream looks for the keys of a host before the key exchange, for the order
 * of algorithms, and again when the host has shown its key. Names may be
 * hashed, each with a salt of its own, so that each line costs a hash. What was
 * found is kept, and given again if the file is the same.
 *
 * For upstream's sshconnect.c and sshconnect2.c, for which build-aux/overlay.mk
 * renames a call; in ssh. Main thread only.
 */

#ifndef HAYATE_KNOWN_HOOK_H
#define HAYATE_KNOWN_HOOK_H

#include <sys/types.h>

struct hostkeys;

/* As upstream's load_hostkeys(). */
void	known_load_hostkeys(struct hostkeys *, const char *host,
    const char *path, u_int note);

#endif /* HAYATE_KNOWN_HOOK_H */
