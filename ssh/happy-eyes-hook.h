/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * Connects to several addresses of a host at a time, if HappyEyes is set
 * (happy-eyes.h).
 *
 * ssh_connect() goes through the list of addresses. For each it makes a socket,
 * with BindAddress, BindInterface and IPQoS, and calls timeout_connect(), which
 * stands for an attempt here: it returns after HappyDelay without a result, and
 * upstream closes its descriptor and goes on. The attempt continues in a
 * duplicate of that descriptor. The call for the last address waits for all
 * attempts. If one wins, its connection takes the place of the descriptor that
 * upstream passed in. Sockets cannot be made for all addresses, for example
 * with BindAddress, so the list has another entry at its end while attempts are
 * pending: its call only waits for them.
 *
 * Called by guess-hook.c around the functions of upstream. One connection per
 * process.
 */

#ifndef HAYATE_HAPPY_EYES_HOOK_H
#define HAYATE_HAPPY_EYES_HOOK_H

#include <sys/types.h>
#include <sys/socket.h>

struct addrinfo;

/*
 * Call it before ssh_connect(). If HappyEyes is set and the list has several
 * addresses, puts them in the order in which they are tried; the first entry
 * stays the first. "list" may be NULL, as with a proxy.
 */
void	happy_eyes_begin(struct addrinfo *list);

/*
 * Returns 1 between happy_eyes_begin() and happy_eyes_end() if the addresses
 * are tried as here, so that the two functions below take the place of
 * timeout_connect().
 */
int	happy_eyes_is_on(void);

/*
 * Starts the attempt to connect to an address of the list. Waits for nothing.
 * *timeout_ms, if above 0, is the time that this attempt may take.
 */
void	happy_eyes_start(int sock, const struct sockaddr *, socklen_t,
    const int *timeout_ms);

/*
 * Call it after happy_eyes_start() for the same socket. Returns 0 if any
 * attempt has established a connection: "sock" is that connection then, and all
 * others are closed. *timeout_ms, if above 0, becomes the time that is left to
 * it. Returns -1 with errno if the next address is to be tried: EINPROGRESS if
 * this attempt goes on, or its error. For the last address, returns -1 only if
 * all have failed.
 */
int	happy_eyes_wait_for(int sock, int *timeout_ms);

/*
 * Call it after ssh_connect(), with its result. If that is 0, writes the
 * address of the connection to "addr", of which upstream knows only the one
 * tried last.
 */
void	happy_eyes_end(int result, struct sockaddr_storage *addr);

#endif /* HAYATE_HAPPY_EYES_HOOK_H */
