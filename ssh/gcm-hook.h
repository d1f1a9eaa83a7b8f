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
 * Changes a proposal of ssh, PROPOSAL_MAX allocated strings, of which it may
 * free and replace some. Call it only for a server that is HPN-SSH, by its
 * banner or the login cache. Checks the list and the processor itself.
 */
void	gcm_put_first(char **proposal);

#endif /* HAYATE_GCM_HOOK_H */
