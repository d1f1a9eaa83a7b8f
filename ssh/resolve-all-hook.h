/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * resolve-all-hook: keeps all addresses of the host that ssh connects to, as
 * the hosts of "TransferHosts all".
 *
 * Sites give several transfer nodes one name. ssh looks that name up and
 * connects to one of its addresses. This module keeps the others. The ssh of an
 * additional connection (spawn-hook.h) that is meant for one of them gets only
 * that one when it looks the name up, so ssh_config and the files of known
 * hosts apply to each address by the name.
 *
 * Behind a proxy ssh looks up nothing, and there are no other addresses.
 *
 * build-aux/overlay.mk lets upstream's ssh.c call resolve_all_getaddrinfo().
 * Main thread only.
 */

#ifndef HAYATE_RESOLVE_ALL_HOOK_H
#define HAYATE_RESOLVE_ALL_HOOK_H

struct addrinfo;
struct ssh;

/* As getaddrinfo(3), which it calls; keeps the result, or reduces it to one. */
int	resolve_all_getaddrinfo(const char *name, const char *service,
    const struct addrinfo *hints, struct addrinfo **found);

/*
 * Call it after the login. Returns the addresses of the name other than that of
 * this connection, at most HAYOPT_HOSTS_MAX, separated by commas, or NULL if
 * there are none. The caller frees the string.
 */
char	*resolve_all_others(struct ssh *);

#endif /* HAYATE_RESOLVE_ALL_HOOK_H */
