/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * happy-eyes: in which order the addresses of a host are tried, and for how
 * long the connection attempts are waited for (RFC 8305, sections 4 and 5).
 *
 * A host may have an address that does not answer, often an IPv6 one. Stock
 * waits for it until ConnectTimeout, or until the kernel gives up after two
 * minutes. With HappyEyes the next address is tried after HappyDelay while the
 * first attempt goes on. As soon as an attempt fails, the next one starts. The
 * first connection wins.
 *
 *   PENDING ---- connection established ----> WON, all others are closed
 *      |
 *      +-------- refused, no route, ConnectTimeout ----> FAILED, closed
 *
 * This file has the decisions, in milliseconds; happy-eyes-hook.h makes the
 * connections. No state.
 */

#ifndef HAYATE_HAPPY_EYES_H
#define HAYATE_HAPPY_EYES_H

#include <stddef.h>
#include <stdint.h>

#define HAPPY_EYES_NEVER	INT64_MAX

/*
 * Writes to order[0..n-1] the indices of the addresses in the order in which
 * they are tried. family[i] is the address family of the i-th address that the
 * resolver returned. The first address stays the first, and then those of its
 * family and those of the other alternate, each in the order of the resolver.
 */
void	happy_eyes_order(const int *family, size_t n, size_t *order);

/*
 * Returns the ms from one attempt to the next for a HappyDelay: at least 10, as
 * RFC 8305 requires. 0 means the default, 250.
 */
int	happy_eyes_delay(uint64_t happy_delay);

/*
 * Returns the ms for which poll() waits: until the earliest of "next", when the
 * next attempt starts, and the n deadlines. A time that has passed gives 0.
 * Times are in ms, or HAPPY_EYES_NEVER; if all are, the result is -1.
 */
int	happy_eyes_wait(int64_t now, int64_t next, const int64_t *deadline,
    size_t n);

#endif /* HAYATE_HAPPY_EYES_H */
