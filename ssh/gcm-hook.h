/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * gcm-hook: a server of HPN-SSH is asked for AES-GCM first.
 *
 * If ChaCha20 or AES-CTR was chosen, it exchanges keys again when the session
 * begins, so that threads can take over, and holds its output back meanwhile:
 * two round trips more for each login. With AES-GCM it does not.
 *
 * The client's order decides. So the one of 256 bits goes from its place in
 * the list to the front, where the user has not changed the list and the
 * processor has instructions for it. Nothing is added, and no key is shorter
 * than that of stock's first cipher.
 *
 * For ssh/guess-hook.c. Main thread only.
 */

#ifndef HAYATE_GCM_HOOK_H
#define HAYATE_GCM_HOOK_H

/* Changes a proposal of ssh, PROPOSAL_MAX strings that it may free. */
void	gcm_put_first(char **proposal);

#endif /* HAYATE_GCM_HOOK_H */
