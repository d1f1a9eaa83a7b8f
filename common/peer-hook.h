/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * peer-hook: tells the peer that we are Hayate, and learns whether it is.
 *
 * Called from patches/150-kex-ext-info.patch and from sshd/srvopt-hook.c.
 */

#ifndef HAYATE_PEER_HOOK_H
#define HAYATE_PEER_HOOK_H

#include <sys/types.h>

struct ssh;
struct sshbuf;

/*
 * Adds our name to the first SSH2_MSG_EXT_INFO, which upstream has composed, as
 * client or server. Does nothing with "Hayate no". It cannot fail: if out of
 * memory, the message stays as upstream composed it.
 */
void	peer_add_extension(struct ssh *, struct sshbuf *);

/*
 * sshd: a keyword of ours was read. The processes that this one starts take
 * "Hayate no" from it, so far as they read no configuration themselves.
 */
void	peer_export_options(void);

/* Returns 1 with "Hayate no", here or in the sshd that started this process. */
int	peer_is_disabled(void);

/*
 * What our banner calls this program: "whole", or with VersionDetails no the
 * "release" alone. version.h calls it in kex.c (build-aux/prep).
 */
const char *peer_banner_version(const char *release, const char *whole);

/*
 * Reads one extension of the peer's message. Returns 1 if it is ours, 0 if
 * upstream has to read it.
 */
int	peer_read_extension(struct ssh *, const char *name,
    const unsigned char *value, size_t len);

/*
 * Returns 1 if both sides are Hayate and have recognised each other. Returns 0
 * in a mux client, which has no key exchange; until the peer's first
 * SSH2_MSG_EXT_INFO has come; and with "Hayate no".
 */
int	peer_is_hayate(const struct ssh *);

/* Returns 1 if, in addition, the peer knows the modes of cipher/authonly.h. */
int	peer_knows_authonly(const struct ssh *);

/* Returns 1 if, in addition, the peer tells its figures (stall-stats.h). */
int	peer_knows_stall_stats(const struct ssh *);

/* Returns what "kind" says of the peer's banner, or 0 if there is none yet. */
int	peer_banner_matches(const struct ssh *,
    int (*kind)(const char *banner));

/*
 * Returns 1 if the peer is known to take, and to send, packets of more than
 * 32 KiB: a Hayate that we recognise, or an OpenSSH by its banner (peer.h).
 * HPN-SSH garbles such packets or ends the connection, and what others do has
 * not been seen. Returns 0 in a mux client, also a proxied one.
 */
int	peer_takes_large_packets(const struct ssh *);

#endif /* HAYATE_PEER_HOOK_H */
