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

/*
 * As getaddrinfo(3), which it calls; the caller frees "*found" as usual. Keeps
 * the first HAYOPT_HOSTS_MAX + 1 different addresses in place of those of the
 * last name. In an additional connection that is meant for one address it keeps
 * nothing, and "*found" has only that one, or the result is EAI_NONAME if it is
 * not among them. Does neither if AI_NUMERICHOST is set. Any success ends an
 * ssh whose only task was to find the name (extra_conn_resolved()). "hints"
 * must not be NULL.
 */
int	resolve_all_getaddrinfo(const char *name, const char *service,
    const struct addrinfo *hints, struct addrinfo **found);

/*
 * Call it after the login. Returns the addresses of the last name other than
 * that of this connection, at most HAYOPT_HOSTS_MAX, as numbers separated by
 * commas, or NULL if there are none, as behind a proxy. The caller frees the
 * string.
 */
char	*resolve_all_others(struct ssh *);

#endif /* HAYATE_RESOLVE_ALL_HOOK_H */
