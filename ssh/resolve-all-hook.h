/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * resolve-all-hook: the addresses of the host that ssh connects to, as the
 * hosts of "TransferHosts all".
 *
 * Sites give several transfer nodes one name. ssh looks that name up and
 * connects to one of its addresses. The others are remembered here, and a
 * further ssh (spawn-hook.h) that is to go to one of them finds no other when
 * it looks the name up. So all that ssh_config and the files of known hosts say
 * for the name holds for each of its addresses.
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

/* As getaddrinfo(), which it calls. */
int	resolve_all_getaddrinfo(const char *name, const char *service,
    const struct addrinfo *hints, struct addrinfo **found);

/*
 * After the login: the addresses that the name has beside the one that this
 * connection goes to, at most HAYOPT_HOSTS_MAX, with commas between; NULL:
 * none. The caller frees it.
 */
char	*resolve_all_others(struct ssh *);

#endif /* HAYATE_RESOLVE_ALL_HOOK_H */
