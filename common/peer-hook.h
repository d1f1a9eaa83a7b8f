/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * peer-hook: tells the peer that we are Hayate, and learns whether it is.
 *
 * Called from patches/150-kex-ext-info.patch.
 */

#ifndef HAYATE_PEER_HOOK_H
#define HAYATE_PEER_HOOK_H

#include <sys/types.h>

struct ssh;
struct sshbuf;

/*
 * Adds our name to the composed body of the first SSH2_MSG_EXT_INFO, in
 * either role. Does nothing with "Hayate no". It cannot fail: without memory
 * the message stays as upstream composed it.
 */
void	peer_ext_info_compose(struct ssh *, struct sshbuf *);

/*
 * One extension that the peer named. Returns 1 if it is ours and dealt with,
 * 0 if upstream should look at it.
 */
int	peer_ext_info_input(struct ssh *, const char *name,
    const unsigned char *value, size_t len);

/*
 * Whether both ends are Hayate and know it of each other. Always 0 for a
 * mux client's view of a connection (it has no key exchange), before the
 * first key exchange is over, and while "Hayate no" is in force.
 */
int	peer_is_hayate(const struct ssh *);

/* Likewise, and the peer's version has the modes of cipher/authonly.h. */
int	peer_knows_authonly(const struct ssh *);

#endif /* HAYATE_PEER_HOOK_H */
