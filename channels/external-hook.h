/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * external-hook: the packet whose data lies outside of it while it is sealed.
 *
 * Between gather-hook.h, which knows the packet layer, and the ciphers, which
 * do not and are in programs that have none. Each thread has its own packet;
 * only the main thread ever has one.
 */

#ifndef HAYATE_EXTERNAL_HOOK_H
#define HAYATE_EXTERNAL_HOOK_H

#include <sys/types.h>

#include "sshbuf-hook.h"

struct sshbuf;

/* This packet is about to be sent; NULL: none is any more. */
void	external_begin(struct sshbuf *);

/*
 * It was sent, or waits for new keys, and then it gets its data. If it was
 * sealed and nobody asked for the data, this ends the process.
 */
void	external_end(void);

/* Somebody else will read it: it gets its data. */
void	external_linearize(void);

/*
 * For a cipher that reads a packet from "p" on, its byte number "at": whether a
 * part of it lies outside. external_take() tells which, counted from "p", once;
 * length 0: none.
 */
int	external_has(const u_char *p, size_t at);
struct sshbuf_external external_take(const u_char *p, size_t at);

#endif /* HAYATE_EXTERNAL_HOOK_H */
