/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * outside-hook: the packet whose data lies outside of it while it is sealed.
 *
 * Between gather-hook.h, which knows the packet layer, and the ciphers, which
 * do not and are in programs that have none. Each thread has its own packet;
 * only the main thread ever has one.
 */

#ifndef HAYATE_OUTSIDE_HOOK_H
#define HAYATE_OUTSIDE_HOOK_H

#include <sys/types.h>

#include "sshbuf-hook.h"

struct sshbuf;

/* This packet is about to be sent; NULL: none is any more. */
void	outside_begin(struct sshbuf *);

/*
 * It was sent, or waits for new keys, and then it gets its data. If it was
 * sealed and nobody asked for the data, this ends the process.
 */
void	outside_end(void);

/* Somebody else will read it: it gets its data. */
void	outside_join(void);

/*
 * For a cipher that reads a packet from "p" on, its byte number "at": whether a
 * part of it lies outside. outside_take() tells which, counted from "p", once;
 * length 0: none.
 */
int	outside_has(const u_char *p, size_t at);
struct sshbuf_outside outside_take(const u_char *p, size_t at);

#endif /* HAYATE_OUTSIDE_HOOK_H */
