/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * login-cache-hook: the file with the entries of login-cache.h.
 *
 * The file is called hayate_logins and is in the directory of the first
 * UserKnownHostsFile. A file that is not regular, not of this user, or that
 * somebody else can read or write is not used. A new version is written to a
 * temporary file and renamed, so a reader sees all of the old or all of the new
 * one. If two processes write at once, the entry of one is lost. Without
 * UserKnownHostsFile, and if that is a device, there is no cache.
 *
 * In ssh, main thread only. Nothing here is fatal but a lack of memory.
 */

#ifndef HAYATE_LOGIN_CACHE_HOOK_H
#define HAYATE_LOGIN_CACHE_HOOK_H

#include "login-cache.h"

struct sshkey;

/*
 * Reads the entry of this server. If the file has none, the entry has its ID,
 * and zeros in all other fields. Returns 0, or -1 if there is no cache; the
 * entry is all zeros then.
 */
int	login_cache_load(const char *host, int port, const char *user,
    const struct sshkey *host_key, struct login_cache_entry *);

/*
 * As login_cache_load(), but for the entry of a host and port, before the host
 * key is known.
 */
int	login_cache_load_host(const char *host, int port,
    struct login_cache_entry *);

/*
 * Writes the hash of a public key or a text to LOGIN_CACHE_HASH + 1 bytes, or
 * "" if that fails. To be called after one of the functions above has returned
 * 0, which sets the salt.
 */
void	login_cache_hash_key(const struct sshkey *, char *hash);
void	login_cache_hash_text(const char *, char *hash);

/*
 * Writes an entry that was loaded, if it differs from that in the file. Does
 * nothing without an ID.
 */
void	login_cache_save(const struct login_cache_entry *);

#endif /* HAYATE_LOGIN_CACHE_HOOK_H */
