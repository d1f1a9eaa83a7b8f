/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * known-hosts-hook: reads each file of known hosts only once in a login.
 *
 * Upstream looks for the keys of a host before the key exchange, for the order
 * of algorithms, again when the host has shown its key, and a third time, with
 * UpdateHostKeys, when the server has named its other keys. Each line may cost
 * a hash, because a hashed name has a salt of its own. The entries found are
 * kept until the process ends, by file and name of the host, and returned again
 * if the file has not changed: inode, size and times are the same.
 *
 * A process connects to one host. So "the kept entries" below are those of all
 * calls of known_hosts_load(), whatever "host" was (a name or an address), also
 * if the file has changed since.
 *
 * For upstream's sshconnect.c, sshconnect2.c and clientloop.c, for which
 * build-aux/overlay.mk renames a call; in ssh. The process ends if out of
 * memory. Main thread only.
 */

#ifndef HAYATE_KNOWN_HOSTS_HOOK_H
#define HAYATE_KNOWN_HOSTS_HOOK_H

#include <sys/types.h>

struct hostkey_entry;
struct hostkey_foreach_line;
struct hostkeys;
struct sshkey;

/*
 * As upstream's load_hostkeys(). If the entries are kept already, the file is
 * not read: copies of them, with "note", are added to the caller's list, and a
 * line at -vvv says so. The entries of a file that is not regular or not
 * readable are never kept, nor are any with "Hayate no".
 */
void	known_hosts_load(struct hostkeys *, const char *host,
    const char *path, u_int note);

/*
 * As upstream's hostkeys_foreach(), with its results. With UpdateHostKeys, and
 * if "ip" is NULL, a file that was loaded before for this host, and has not
 * changed, is read from memory. A line from there that does not name the host
 * has "!*" in place of its names, and a comment line is empty.
 */
int	known_hosts_foreach(const char *path,
    int (*callback)(struct hostkey_foreach_line *, void *), void *ctx,
    const char *host, const char *ip, u_int wanted, u_int note);

/*
 * Returns 1 if ssh may ask the host for its key of algorithm "alg", although it
 * would rather have that of "preferred"; else 0, as with "Hayate no" or before
 * any file was loaded. This requires all of these:
 *
 * - Both are algorithms of plain RSA, ECDSA or Ed25519 keys, and "alg" does not
 *   sign with SHA-1.
 * - The kept entries have a key for "alg", with 128 bits of security or more,
 *   and not a single one is a revoked key or an authority.
 * - Keys can be known or revoked nowhere else: all files of known hosts that
 *   exist were regular and readable, and KnownHostsCommand, VerifyHostKeyDNS,
 *   RevokedHostKeys and CheckHostIP are not in use.
 */
int	known_hosts_allow_alg(const char *alg, const char *preferred);

/*
 * Returns 1 if a kept entry has this key, and is neither a revoked key nor an
 * authority; else 0.
 */
int	known_hosts_has_key(const struct sshkey *);

/*
 * Returns a kept entry with a key of this type and curve, possibly this very
 * key, that is neither a revoked key nor an authority; NULL if there is none.
 * Of several, returns the first one in the file that was read last. The entry
 * belongs to this module and stays valid until the process ends.
 */
const struct hostkey_entry *known_hosts_other_key(const struct sshkey *);

#endif /* HAYATE_KNOWN_HOSTS_HOOK_H */
