/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * gcm-hook: proposes AES-GCM first to a server of HPN-SSH.
 *
 * If ChaCha20 or AES-CTR was chosen, that server rekeys when the session
 * begins, so that its threads can take over, and withholds its output until
 * then: two round trips more for each login. With AES-GCM it does not rekey.
 *
 * The client's order decides, so aes256-gcm moves from its place in the list to
 * the front if the user has not changed the list and the processor has
 * instructions for it. No cipher is added, and no key is shorter than that of
 * stock's first cipher.
 *
 * For ssh/guess-hook.c. Main thread only.
 */

#ifndef HAYATE_GCM_HOOK_H
#define HAYATE_GCM_HOOK_H

/*
 * Moves aes256-gcm to the front of both lists of ciphers in a proposal of ssh,
 * which is PROPOSAL_MAX allocated strings: frees and replaces these two, with a
 * debug line. Call it only for a server that is HPN-SSH, by its banner or the
 * login cache. Changes nothing if the list is not the default one or lacks
 * aes256-gcm, or if the processor lacks the instructions. Out of memory, it
 * changes the list from client to server alone, or neither.
 */
void	gcm_put_first(char **proposal);

#endif /* HAYATE_GCM_HOOK_H */
