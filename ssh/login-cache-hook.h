/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * login-cache-hook: the file of the entries of login-cache.h.
 *
 * It is called hayate_logins, stands beside the first UserKnownHostsFile, and
 * is used only if it is a regular file of the user that nobody else may read
 * or write. It is written beside itself and renamed, so it is whole or was not
 * changed. Two that write at once: one of them has learnt in vain. Without
 * UserKnownHostsFile, and where that is a device, nothing is kept.
 */

#ifndef HAYATE_LOGIN_CACHE_HOOK_H
#define HAYATE_LOGIN_CACHE_HOOK_H

#include "login-cache.h"

struct sshkey;

/*
 * Gets what is known of this server; a name without an entry gets an empty one.
 * Returns 0, or -1 if nothing can be kept.
 */
int	login_cache_load(const char *host, int port, const char *user,
    const struct sshkey *host_key, struct login_cache_entry *);

/* The same of a host and port, for what is known before its key is. */
int	login_cache_load_host(const char *host, int port,
    struct login_cache_entry *);

/*
 * The hash of a user's key in this file, LOGIN_CACHE_HASH digits; "" if it
 * fails.
 */
void	login_cache_hash_key(const struct sshkey *, char *hash);

/* The hash of a text, likewise. */
void	login_cache_hash_text(const char *, char *hash);

/* Keeps an entry that one of them got, if it has changed. */
void	login_cache_save(const struct login_cache_entry *);

#endif /* HAYATE_LOGIN_CACHE_HOOK_H */
