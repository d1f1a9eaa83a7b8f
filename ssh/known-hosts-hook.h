/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * known-hosts-hook: a file of known hosts is read once in a login.
 *
 * Upstream looks for the keys of a host before the key exchange, for the order
 * of algorithms, again when the host has shown its key, and a third time, with
 * UpdateHostKeys, when the server has named its other keys. Names may be
 * hashed, each with a salt of its own, so that each line costs a hash. What was
 * found is kept, and given again if the file is the same.
 *
 * For upstream's sshconnect.c, sshconnect2.c and clientloop.c, for which
 * build-aux/overlay.mk renames a call; in ssh. Main thread only.
 */

#ifndef HAYATE_KNOWN_HOSTS_HOOK_H
#define HAYATE_KNOWN_HOSTS_HOOK_H

#include <sys/types.h>

struct hostkey_entry;
struct hostkey_foreach_line;
struct hostkeys;
struct sshkey;

/* As upstream's load_hostkeys(). */
void	known_hosts_load(struct hostkeys *, const char *host,
    const char *path, u_int note);

/* As upstream's hostkeys_foreach(). */
int	known_hosts_foreach(const char *path,
    int (*callback)(struct hostkey_foreach_line *, void *), void *ctx,
    const char *host, const char *ip, u_int wanted, u_int note);

/*
 * Whether the host may as well show the key of algorithm "alg" as that of
 * "preferred": both are plain keys and no signature uses SHA-1, the files read
 * so far name the first one, with 128 bits of security or more, and none of
 * them revokes a key or names an authority. Returns 0 as well if keys are known
 * or revoked in another place than these files.
 */
int	known_hosts_allow_alg(const char *alg, const char *preferred);

/* Whether these files name this very key. */
int	known_hosts_has_key(const struct sshkey *);

/* The first line of these files with a key of the same kind, or NULL. */
const struct hostkey_entry *known_hosts_other_key(const struct sshkey *);

#endif /* HAYATE_KNOWN_HOSTS_HOOK_H */
