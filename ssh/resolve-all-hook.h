/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * resolve-all-hook: keeps all addresses of the host that ssh connects to, as
 * the hosts of "TransferHosts all".
 *
 * Sites give several transfer nodes one name. ssh looks that name up and
 * connects to one of its addresses. This module keeps the others. An additional
 * connection (spawn-hook.h) can be meant for one of these: its ssh is given the
 * same name, but looking it up finds only that address. ssh_config and the
 * files of known hosts go by the name, so they apply to every address.
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
 * the first HAYOPT_HOSTS_MAX + 1 (hayopt.h) different addresses in place of
 * those of the last name; a lookup that fails changes nothing. An additional
 * connection that is meant for one address keeps none: "*found" has only that
 * address, or the result is EAI_NONAME if the name does not have that address.
 * With AI_NUMERICHOST in the hints no address is kept, and "*found" has all.
 *
 * In an ssh whose only task is to find out whether the name has an address, any
 * success, also with AI_NUMERICHOST, ends the process with status 0
 * (extra_conn_resolved()), and the function does not return. "hints" must not
 * be NULL. The process ends if out of memory.
 */
int	resolve_all_getaddrinfo(const char *name, const char *service,
    const struct addrinfo *hints, struct addrinfo **found);

/*
 * Call it after the login. Returns the addresses of the last name other than
 * that of this connection, at most HAYOPT_HOSTS_MAX, in numeric form, in the
 * order of the lookup, separated by commas; or NULL if there are none, as
 * behind a proxy. The caller frees the string.
 */
char	*resolve_all_others(struct ssh *);

#endif /* HAYATE_RESOLVE_ALL_HOOK_H */
